"""What the check cells of the exercises run: one module an exercise, named like it."""
