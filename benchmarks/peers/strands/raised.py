"""strands-agents with Python's recursion limit out of the way."""

import sys

from run import prepare
from workload import main

if __name__ == "__main__":
    sys.setrecursionlimit(10**6)
    main("strands-agents, recursion limit raised", "strands-agents", "steps, tokens", prepare)
