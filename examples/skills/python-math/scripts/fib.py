#!/usr/bin/env python3
"""Prints the first N Fibonacci numbers, one a line."""

import re
import sys

LARGEST = 10_000


def fibonacci(count):
    """Yields the first `count` Fibonacci numbers, beginning with 0."""
    current, following = 0, 1
    for _ in range(count):
        yield current
        current, following = following, current + following


def main(arguments):
    if len(arguments) != 1 or not re.fullmatch(r"[0-9]{1,5}", arguments[0], re.ASCII) or int(arguments[0]) > LARGEST:
        print(f"usage: fib.py N (a whole number from 0 to {LARGEST})", file=sys.stderr)
        return 2
    for number in fibonacci(int(arguments[0])):
        print(number)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
