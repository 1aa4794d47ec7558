#!/usr/bin/env bash
# Sorts the lines of a file and drops doubles.
set -euo pipefail

if [ "$#" -ne 2 ]; then
  echo "usage: unique_lines.sh INPUT OUTPUT" >&2
  exit 2
fi
if [ ! -f "$1" ] || [ ! -r "$1" ]; then
  echo "unique_lines.sh: cannot read file: $1" >&2
  exit 1
fi

mkdir -p -- "$(dirname -- "$2")"
before=$(LC_ALL=C awk 'END { print NR }' < "$1")
LC_ALL=C sort -u -o "$2" < "$1"
after=$(LC_ALL=C awk 'END { print NR }' < "$2")
echo "$before lines in, $after lines out: $2"
