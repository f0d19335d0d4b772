"""What only the course needs: charts, labs, checkpoints, exercise checks, building the notebooks."""
