#!/usr/bin/env bash
#
# What `npm run demo` runs: one turn, from the message to the file that a skill's script wrote.
#
#   npm run demo -- [--install]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

install=()
arguments=()
for argument in "$@"; do
  if [[ $argument == --install ]]; then install=(--install); else arguments+=("$argument"); fi
done

env_file=$(mktemp "${TMPDIR:-/tmp}/skillmill-env.XXXXXX")
stop_services() {
  scripts/services.sh stop --env "$env_file"
  rm -f "$env_file"
}
trap stop_services EXIT

scripts/services.sh ${install[@]+"${install[@]}"} --env "$env_file" redis docker runner-image
while IFS='=' read -r name value; do export "$name=$value"; done <"$env_file"

# `npm ci` has built the command line; only somebody who changed it since waits for it here.
if [[ ! -f dist/skillmill.js || -n $(find src -newer dist/skillmill.js -print -quit) ]]; then
  npm run --silent build
fi
node examples/demo.js ${arguments[@]+"${arguments[@]}"}
