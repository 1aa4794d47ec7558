#!/usr/bin/env bash
# Lists the largest files below a folder, largest first.
set -euo pipefail

folder=${1:-}
count=${2:-10}
if [ -z "$folder" ] || ! [[ $count =~ ^[1-9][0-9]{0,4}$ ]]; then
  echo "usage: find_large.sh FOLDER [COUNT]" >&2
  exit 2
fi
if [ ! -d "$folder" ]; then
  echo "find_large.sh: not a folder: $folder" >&2
  exit 1
fi

# awk reads to the end, so that sort is never cut off by a closed pipe.
find "$folder" -type f -printf '%s\t%P\n' | LC_ALL=C sort -k1,1nr -k2 | awk -v count="$count" 'NR <= count'
