#!/usr/bin/env bash
# Packs a folder under its own name as a gzipped tar archive.
set -euo pipefail

if [ "$#" -ne 2 ]; then
  echo "usage: pack_folder.sh FOLDER OUTPUT.tar.gz" >&2
  exit 2
fi
if [ ! -d "$1" ]; then
  echo "pack_folder.sh: not a folder: $1" >&2
  exit 1
fi

folder=$(cd -- "$1" && pwd -P)
mkdir -p -- "$(dirname -- "$2")"
output=$(cd -- "$(dirname -- "$2")" && pwd -P)/$(basename -- "$2")
case "$output" in
  "$folder"/*)
    echo "pack_folder.sh: the archive must not lie inside the folder" >&2
    exit 1
    ;;
esac

tar --create --gzip --file "$output" --directory "$(dirname -- "$folder")" -- "$(basename -- "$folder")"
echo "packed $1 as $2"
