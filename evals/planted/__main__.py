"""Planted faults put through the checks: `python -m evals.planted` prints the table; exit code 1 below a target."""

from __future__ import annotations

import sys

from evals.planted.make import make
from evals.planted.measure import check, misses, shortfalls, table
from knowledge.encoders import load_encoder


def main() -> int:
    """Print the table and, with `--misses`, what went wrong."""
    outcomes = check(make(), load_encoder())
    print(table(outcomes))
    if "--misses" in sys.argv[1:]:
        print("\n".join(misses(outcomes)))
    return 1 if shortfalls(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
