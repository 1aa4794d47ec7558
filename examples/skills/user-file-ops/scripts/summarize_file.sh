#!/usr/bin/env bash
# Writes name, counts and a numbered preview of one text file.
set -euo pipefail

if [ "$#" -ne 2 ] || [ -z "$1" ] || [ -z "$2" ]; then
  echo "usage: summarize_file.sh INPUT OUTPUT" >&2
  exit 2
fi

input=$1
output=$2

if [ ! -f "$input" ] || [ ! -r "$input" ]; then
  echo "summarize_file.sh: cannot read file: $input" >&2
  exit 1
fi

# awk counts a last line without a newline, which wc -l does not.
lines=$(LC_ALL=C awk 'END { print NR }' < "$input")
words=$(wc -w < "$input")
bytes=$(wc -c < "$input")

mkdir -p -- "$(dirname -- "$output")"
{
  printf 'File: %s\n' "$(basename -- "$input")"
  printf 'Lines: %d\n' "$lines"
  printf 'Words: %d\n' "$words"
  printf 'Bytes: %d\n' "$bytes"
  printf '\nFirst non-empty lines:\n'
  LC_ALL=C awk '
    /[^ \t\r]/ { sub(/\r$/, ""); printf "%d: %s\n", ++shown, $0; if (shown == 20) exit }
  ' < "$input"
} > "$output"

echo "wrote $output"
