#!/usr/bin/env bash
#
# What `npm test` runs: everything, with the services that it needs found or started.
#
#   npm test -- [--install] [arguments for vitest]
#
# SKILLMILL_TEST_REPORT=FILE also writes vitest's JSON report there.
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

scripts/services.sh ${install[@]+"${install[@]}"} --env "$env_file" redis s3 docker compose images
while IFS='=' read -r name value; do export "$name=$value"; done <"$env_file"

# The end-to-end tests start the built command line.
npm run --silent build

if [[ -n ${SKILLMILL_TEST_REPORT:-} ]]; then
  arguments+=(--reporter=default --reporter=json "--outputFile.json=$SKILLMILL_TEST_REPORT")
fi
npx --no-install vitest run ${arguments[@]+"${arguments[@]}"}
