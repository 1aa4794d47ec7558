#!/usr/bin/env bash
#
# Finds or starts what the demo and the tests need: a Redis, a Docker engine, images, Compose.
#
#   scripts/services.sh [--install] --env FILE [redis] [s3] [docker] [compose]
#                       [images | runner-image worker-image redis-image]
#   scripts/services.sh stop --env FILE
#
# What it found goes to FILE as KEY=VALUE lines (read a line at a time, not sourced); what it does
# goes to stderr in sentences. The order for each is: one that answers; one on PATH; with --install
# (or CI=true) the distribution's package; else a sentence that says what to install. Without
# --install and outside CI it installs no system package and starts no daemon. A Redis of its own
# is no daemon: it listens on 127.0.0.1 only and ends with the process that called this script.
#
# FILE may hold:
#   REDIS_URL                     the Redis to use
#   SKILLMILL_EXECUTOR            docker or local
#   SKILLMILL_EXECUTOR_WHY        why, in one sentence
#   DOCKER_HOST, DOCKER_GID       where the engine is, if not at the usual socket; who owns the socket
#   TESTCONTAINERS_RYUK_DISABLED  true where its helper image cannot be pulled
#   SKILLMILL_TEST_S3             swift where the tests can start an S3 server
#   SERVICES_COMPOSE              "docker compose" or "docker-compose"
#   SERVICES_REDIS_{PID,PORT,DIR} a Redis that `stop` has to end
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VERSION=0.1.0
SUITE=bookworm
BASE_IMAGE=debian:bookworm-slim
NODE_IMAGE=node:20-bookworm-slim
REDIS_IMAGE=redis:7-bookworm
RUNNER_IMAGE=skillmill/runner:$VERSION
WORKER_IMAGE=skillmill/worker:$VERSION
STAND_IN_LABEL=skillmill.stand-in
INPUTS_LABEL=skillmill.inputs
CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt
DOCKERD_LOG=/var/log/skillmill-dockerd.log
CALLER=$PPID

COMMAND=start
INSTALL=false
ENV_FILE=''
WANTED=''
SCRATCH=''
SCRATCH_NEEDS_ROOT=false
POLICY_FILE=''
APT_UPDATED=false
REGISTRY=untried
WHY=''

# --- talking ---------------------------------------------------------------------------------

say() { printf 'services: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

put() { printf '%s=%s\n' "$1" "$2" >>"$ENV_FILE"; }

wants() { [[ " $WANTED " == *" $1 "* ]]; }

in_ci() { [[ ${CI:-} == true || ${CI:-} == 1 ]]; }

may_install() { [[ $INSTALL == true ]] || in_ci; }

has() { command -v "$1" >/dev/null 2>&1; }

# macOS has no timeout(1), and a slow answer is better there than none.
bounded() {
  if has timeout; then timeout "$@"; else shift && "$@"; fi
}

# Runs a long command with its output in a file, because only a failure is worth reading.
logged() {
  local log
  log=$(mktemp "$SCRATCH/log.XXXXXX")
  "$@" >"$log" 2>&1 && return
  tail -n 30 "$log" >&2
  return 1
}

# --- root and packages -----------------------------------------------------------------------

can_be_root() { [[ $(id -u) == 0 ]] || { has sudo && sudo -n true 2>/dev/null; }; }

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

can_apt() { has apt-get && can_be_root; }

apt_update() {
  [[ $APT_UPDATED == false ]] || return 0
  logged as_root apt-get update || return 1
  APT_UPDATED=true
}

# A package's own service must not start: a Redis on 6379 that nobody asked for would outlive us.
forbid_service_starts() {
  [[ ! -e /usr/sbin/policy-rc.d ]] || return 0
  POLICY_FILE=/usr/sbin/policy-rc.d
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$POLICY_FILE" >/dev/null
  as_root chmod 755 "$POLICY_FILE"
}

allow_service_starts() {
  [[ -n $POLICY_FILE ]] || return 0
  as_root rm -f "$POLICY_FILE"
  POLICY_FILE=''
}

apt_install() {
  local status=0
  can_apt || return 1
  say "installing $* with apt-get."
  apt_update || return 1
  forbid_service_starts || return 1
  logged as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "$@" || status=1
  allow_service_starts
  return "$status"
}

in_apt() { apt-cache show "$1" >/dev/null 2>&1; }

# --- Redis -----------------------------------------------------------------------------------

# Speaks PING itself: redis-cli need not be here when Redis is elsewhere.
redis_answers() {
  # shellcheck disable=SC2016  # the inner bash expands them
  bounded 3 bash -c '
    exec 3<>"/dev/tcp/$0/$1" || exit 1
    [[ $2 == rediss ]] && exit 0
    printf "PING\r\n" >&3
    read -r -t 2 reply <&3
    [[ $reply == +PONG* || $reply == -NOAUTH* || $reply == -LOADING* ]]
  ' "$1" "$2" "${3:-redis}" 2>/dev/null
}

redis_url_answers() {
  local url=$1 scheme address host port=6379
  scheme=${url%%://*}
  address=${url#*://}
  address=${address%%[/?]*}
  address=${address##*@}
  host=$address
  if [[ $address =~ ^(.*):([0-9]+)$ ]]; then
    host=${BASH_REMATCH[1]}
    port=${BASH_REMATCH[2]}
  fi
  host=${host#[}
  redis_answers "${host%]}" "$port" "$scheme"
}

free_port() {
  local port
  for _ in {1..50}; do
    port=$((17000 + RANDOM % 10000))
    redis_answers 127.0.0.1 "$port" rediss || { echo "$port" && return; }
  done
  return 1
}

wait_for_redis() {
  local pid=$1 port=$2
  for _ in {1..50}; do
    kill -0 "$pid" 2>/dev/null || return 1
    ! redis_answers 127.0.0.1 "$port" || return 0
    sleep 0.1
  done
  return 1
}

# The process's own words decide whether a recorded pid is still our Redis: pids are used again.
is_our_redis() {
  local pid=$1 port=$2 words
  if [[ -r /proc/$pid/cmdline ]]; then
    words=$(tr '\0' ' ' <"/proc/$pid/cmdline")
  else
    words=$(ps -p "$pid" -o args= 2>/dev/null || true)
  fi
  [[ $words == *redis-server*:"$port "* || $words == *redis-server*"--port $port "* ]]
}

end_redis() {
  local pid=$1 port=$2 dir=$3
  if is_our_redis "$pid" "$port"; then
    kill "$pid" 2>/dev/null || true
    for _ in {1..50}; do
      is_our_redis "$pid" "$port" || break
      sleep 0.1
    done
    ! is_our_redis "$pid" "$port" || kill -9 "$pid" 2>/dev/null || true
  fi
  [[ $(basename "$dir") != skillmill-redis.* ]] || rm -rf "$dir"
}

# A caller that is killed cannot say `stop`, so the Redis watches its caller.
end_redis_with_caller() {
  local pid=$1 port=$2 dir=$3
  (
    trap - EXIT
    trap '' INT HUP
    while kill -0 "$CALLER" 2>/dev/null && is_our_redis "$pid" "$port"; do sleep 1; done
    end_redis "$pid" "$port" "$dir"
  ) </dev/null >/dev/null 2>&1 &
}

# Its own session, because Ctrl-C must reach it only after those who still write to it.
start_private_redis() {
  local dir port pid detach=()
  ! has setsid || detach=(setsid)
  dir=$(mktemp -d "${TMPDIR:-/tmp}/skillmill-redis.XXXXXX")
  for _ in {1..5}; do
    port=$(free_port) || break
    ${detach[@]+"${detach[@]}"} redis-server --bind 127.0.0.1 --port "$port" --dir "$dir" --save '' \
      --appendonly yes --maxmemory-policy noeviction \
      </dev/null >"$dir/redis.log" 2>&1 &
    pid=$!
    wait_for_redis "$pid" "$port" || continue
    put REDIS_URL "redis://127.0.0.1:$port"
    put SERVICES_REDIS_PID "$pid"
    put SERVICES_REDIS_PORT "$port"
    put SERVICES_REDIS_DIR "$dir"
    end_redis_with_caller "$pid" "$port" "$dir"
    say "started a private Redis on 127.0.0.1:$port."
    return
  done
  tail -n 20 "$dir/redis.log" >&2 || true
  rm -rf "$dir"
  fail 'redis-server is on PATH but did not start; its last words are above.'
}

ensure_redis() {
  local url=${REDIS_URL:-redis://127.0.0.1:6379}
  if redis_url_answers "$url"; then
    put REDIS_URL "$url"
    say "using the Redis that answers at ${url##*@}."
    return
  fi
  [[ -z ${REDIS_URL:-} ]] || say "REDIS_URL is set, but nothing answers at ${url##*@}."
  if ! has redis-server && may_install; then
    apt_install redis-server || say 'could not install redis-server.'
  fi
  has redis-server || fail "No Redis at ${url##*@} and no redis-server on PATH: start one and set" \
    'REDIS_URL, or install redis-server; --install would do that on Debian or Ubuntu, as root or' \
    'with password-less sudo.'
  start_private_redis
}

# --- S3 ----------------------------------------------------------------------------------------

# The tests start OpenStack Swift with its S3 layer themselves, one of their own each.
ensure_s3() {
  if ! has swift-proxy-server && may_install; then
    apt_install swift-proxy swift-account swift-container swift-object || say 'could not install Swift.'
  fi
  if has swift-proxy-server; then
    put SKILLMILL_TEST_S3 swift
    return
  fi
  ! in_ci || fail 'CI needs an S3 server: Swift could not be installed.'
  say 'no S3 server: tests against S3 are left out. Install swift-proxy, swift-account,' \
    'swift-container and swift-object (--install does).'
}

# --- the Docker engine -----------------------------------------------------------------------

engine_version() { bounded 10 docker version --format '{{.Server.Version}}' 2>/dev/null; }

docker_answers() { has docker && [[ -n $(engine_version) ]]; }

# Says what is wrong in the engine's own case, since "install Docker" helps nobody who has it.
docker_problem() {
  if [[ -n ${DOCKER_HOST:-} ]] && has docker; then
    echo 'DOCKER_HOST is set, but no Docker engine answers there'
  elif [[ -S /var/run/docker.sock && ! -w /var/run/docker.sock ]]; then
    echo 'a Docker engine is here, but this user may not use its socket (join the group docker)'
  elif has dockerd && has docker; then
    echo 'Docker is installed, but its engine does not run (start dockerd, or say --install)'
  else
    echo 'no Docker engine answers (install Docker; on Debian or Ubuntu --install does that)'
  fi
}

install_docker() {
  apt_update || return 1
  local packages=(docker.io)
  # From Debian 13 on the client is a package of its own, and only recommended.
  ! in_apt docker-cli || packages+=(docker-cli)
  apt_install "${packages[@]}"
}

# The socket goes to the caller's group, because a new membership of "docker" needs a new login.
start_dockerd() {
  if [[ -d /run/systemd/system ]]; then
    as_root systemctl start docker
    return
  fi
  say "starting dockerd; it logs to $DOCKERD_LOG and stays when this ends."
  # shellcheck disable=SC2016  # the inner sh expands them
  as_root sh -c 'setsid nohup dockerd --group "$1" </dev/null >>"$0" 2>&1 &' \
    "$DOCKERD_LOG" "$(id -g)"
}

wait_for_docker() {
  for _ in {1..60}; do
    ! docker_answers || return 0
    sleep 1
  done
  as_root tail -n 20 "$DOCKERD_LOG" >&2 || true
  return 1
}

start_docker() {
  [[ -z ${DOCKER_HOST:-} ]] || return 1
  [[ ! -S /var/run/docker.sock || -w /var/run/docker.sock ]] || return 1
  can_be_root || return 1
  if ! has docker || ! has dockerd; then install_docker || return 1; fi
  ! docker_answers || return 0
  start_dockerd && wait_for_docker
}

# The client may know an engine by its context, of which a library that opens the socket knows nothing.
put_docker_address() {
  local host=${DOCKER_HOST:-}
  [[ -n $host ]] || host=$(docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null || true)
  [[ -z $host || $host == unix:///var/run/docker.sock ]] || put DOCKER_HOST "$host"
  [[ ! -S /var/run/docker.sock ]] || put DOCKER_GID "$(stat -Lc %g /var/run/docker.sock 2>/dev/null || echo 0)"
}

use_docker() {
  put SKILLMILL_EXECUTOR docker
  put SKILLMILL_EXECUTOR_WHY "$1"
  put_docker_address
  say "commands run in Docker: $1."
}

# In CI a missing engine is a failure, never a skip.
use_local() {
  ! in_ci || fail "CI needs a Docker engine and its images: $1."
  put SKILLMILL_EXECUTOR local
  put SKILLMILL_EXECUTOR_WHY "$1"
  say "commands run with the local executor, without isolation: $1."
}

have_docker() {
  docker_answers && return
  WHY=$(docker_problem)
  may_install || return 1
  start_docker && return
  WHY="$(docker_problem), and --install could not mend that"
  return 1
}

ensure_docker() {
  if [[ ${SKILLMILL_EXECUTOR:-} == local ]] && ! in_ci; then
    use_local 'SKILLMILL_EXECUTOR=local is set'
  elif ! have_docker; then
    use_local "$WHY"
  elif ! ensure_images; then
    use_local "$WHY"
  else
    use_docker "Docker Engine $(engine_version) answers"
    ! ryuk_is_out_of_reach || put TESTCONTAINERS_RYUK_DISABLED true
    ! wants compose || ensure_compose
  fi
}

ensure_compose() {
  if docker compose version >/dev/null 2>&1; then
    put SERVICES_COMPOSE 'docker compose'
  elif has docker-compose || { may_install && apt_install docker-compose; }; then
    put SERVICES_COMPOSE docker-compose
  else
    say 'Compose is missing: install the Docker Compose plugin or docker-compose (--install does).'
    ! in_ci || exit 1
  fi
}

# --- images ----------------------------------------------------------------------------------

have_image() { docker image inspect "$1" >/dev/null 2>&1; }

label_of() { docker image inspect --format "{{index .Config.Labels \"$2\"}}" "$1" 2>/dev/null || true; }

# One failure speaks for the registry: the engine gives up a dead one after 15 s, we do not ask again.
pull() {
  [[ $REGISTRY != unreachable ]] || return 1
  say "pulling $1."
  if bounded 180 docker pull --quiet "$1" >/dev/null 2>&1; then
    REGISTRY=reachable
    return
  fi
  REGISTRY=unreachable
  say 'no registry can be reached: the base images are made here, from Debian packages.'
  return 1
}

# Testcontainers pulls its helper Ryuk by itself; where the bases are stand-ins, it could not.
ryuk_is_out_of_reach() {
  local image
  [[ -z ${TESTCONTAINERS_RYUK_DISABLED:-} ]] || return 1
  [[ -z $(docker image ls --quiet testcontainers/ryuk) ]] || return 1
  [[ $REGISTRY != unreachable ]] || return 0
  for image in "$BASE_IMAGE" "$REDIS_IMAGE"; do
    [[ $(label_of "$image" "$STAND_IN_LABEL") != true ]] || return 0
  done
  return 1
}

ensure_base() {
  have_image "$1" && return
  pull "$1" && return
  say "making $1."
  WHY="$1 can be neither pulled nor made"
  "$2"
}

build_image() {
  local tag=$1
  shift
  local started=$SECONDS
  logged docker build --tag "$tag" "$@" || return 1
  say "built $tag in $((SECONDS - started)) s."
}

# The machine's own mirror is the one that works on this machine; another distribution's has no bookworm.
debian_mirror() {
  local id
  id=$(sed -n "s/^ID=//p" /etc/os-release 2>/dev/null || true)
  if [[ $id == debian ]] && apt_uris | grep -v security | head -n 1 | grep .; then return; fi
  echo http://deb.debian.org/debian
}

apt_uris() {
  local files=()
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [[ ! -f $file ]] || files+=("$file")
  done
  ((${#files[@]} > 0)) || return 0
  awk '/^[[:space:]]*#/ { next }
       /^(deb[[:space:]]|URIs:)/ { for (i = 2; i <= NF; i++) if ($i ~ /^(https?|file):/) print $i }' "${files[@]}"
}

copy_certificates() {
  [[ -f $CA_BUNDLE ]] || return 0
  as_root mkdir -p "$1$(dirname "$CA_BUNDLE")" "$1/usr/local/share/ca-certificates"
  as_root cp -L "$CA_BUNDLE" "$1$CA_BUNDLE"
  ! ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1 ||
    as_root cp -L /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/"
}

# apt inside `docker build` must go the way that apt goes on this machine: mirror, proxy, certificates.
copy_apt_settings() {
  local root=$1 security
  apt-config dump --format '%F "%v";%n' Acquire | grep -E '^Acquire::(https?|Check|Retries|ForceIP)' |
    as_root tee "$root/etc/apt/apt.conf.d/90machine" >/dev/null || true
  security=$(apt_uris | grep security | head -n 1) || return 0
  echo "deb $security $SUITE-security main" | as_root tee -a "$root/etc/apt/sources.list" >/dev/null
}

slim_down() {
  as_root find "$1/usr/share/doc" "$1/usr/share/man" "$1/usr/share/info" "$1/usr/share/locale" \
    "$1/var/cache/apt" "$1/var/lib/apt/lists" "$1/var/log" -mindepth 1 -delete 2>/dev/null || true
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$1/usr/sbin/policy-rc.d" >/dev/null
  as_root chmod 755 "$1/usr/sbin/policy-rc.d"
}

apt_proxy() {
  local proxy=''
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  [[ -z $proxy || $proxy == DIRECT ]] || echo "http_proxy=$proxy"
}

run_debootstrap() {
  local root=$1 settings=()
  read -r -a settings < <(apt_proxy) || true
  SCRATCH_NEEDS_ROOT=true
  logged as_root env ${settings[@]+"${settings[@]}"} \
    debootstrap --variant=minbase "$SUITE" "$root" "$(debian_mirror)"
}

import_root() {
  as_root tar -C "$1" --one-file-system -c . | docker import --change 'CMD ["bash"]' \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    --change "LABEL $STAND_IN_LABEL=true" - "$BASE_IMAGE" >/dev/null
}

make_base() {
  local root=$SCRATCH/root started=$SECONDS
  can_be_root || { WHY="$BASE_IMAGE cannot be pulled, and making it needs root" && return 1; }
  if ! has debootstrap && may_install; then
    apt_update || true
    apt_install debootstrap debian-archive-keyring || true
  fi
  has debootstrap || {
    WHY="$BASE_IMAGE cannot be pulled, and debootstrap is not installed to make it (--install does)"
    return 1
  }
  { run_debootstrap "$root" && copy_apt_settings "$root" && copy_certificates "$root"; } || return 1
  slim_down "$root"
  import_root "$root" || return 1
  say "made $BASE_IMAGE in $((SECONDS - started)) s."
}

# The stand-in's npm asks where this machine's npm asks, and trusts what this machine trusts.
copy_node() {
  local target=$1 prefix
  prefix=$(node -p 'require("path").dirname(require("path").dirname(fs.realpathSync(process.execPath)))')
  [[ -d $prefix/lib/node_modules/npm ]] || return 1
  mkdir -p "$target/bin" "$target/lib/node_modules" "$target/etc"
  cp "$prefix/bin/node" "$target/bin/node"
  cp -R "$prefix/lib/node_modules/npm" "$target/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$target/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$target/bin/npx"
  printf 'registry=%s\n' "$(npm config get registry)" >"$target/etc/npmrc"
  [[ ! -f $CA_BUNDLE ]] || printf 'cafile=%s\n' "$CA_BUNDLE" >>"$target/etc/npmrc"
}

make_node() {
  local context=$SCRATCH/node
  mkdir -p "$context/root/usr/local"
  ensure_base "$BASE_IMAGE" make_base || return 1
  copy_node "$context/root/usr/local" || { WHY="npm is not beside node, so $NODE_IMAGE cannot be made" && return 1; }
  copy_certificates "$context/root"
  cat >"$context/Dockerfile" <<DOCKERFILE
FROM $BASE_IMAGE
COPY root/ /
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
RUN node --version && npm --version
$([[ ! -f $CA_BUNDLE ]] || echo "ENV NODE_EXTRA_CA_CERTS=$CA_BUNDLE")
LABEL $STAND_IN_LABEL=true
CMD ["node"]
DOCKERFILE
  build_image "$NODE_IMAGE" "$context"
}

# Like the official image: options alone mean redis-server, and a container's Redis listens to all.
make_redis() {
  local context=$SCRATCH/redis
  mkdir -p "$context"
  ensure_base "$BASE_IMAGE" make_base || return 1
  cat >"$context/docker-entrypoint.sh" <<'ENTRYPOINT'
#!/bin/sh
set -e
case "${1:-}" in -* | *.conf) set -- redis-server "$@" ;; esac
if [ "$1" = redis-server ]; then
  set -- "$@" --protected-mode no
  if [ "$(id -u)" = 0 ]; then
    find . \! -user redis -exec chown redis '{}' +
    set -- setpriv --reuid redis --regid redis --clear-groups "$@"
  fi
fi
exec "$@"
ENTRYPOINT
  chmod 755 "$context/docker-entrypoint.sh"
  cat >"$context/Dockerfile" <<DOCKERFILE
FROM $BASE_IMAGE
RUN apt-get update && apt-get install -y --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/*
COPY docker-entrypoint.sh /usr/local/bin/
RUN mkdir -p /data && chown redis:redis /data
VOLUME /data
WORKDIR /data
EXPOSE 6379
LABEL $STAND_IN_LABEL=true
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
DOCKERFILE
  build_image "$REDIS_IMAGE" "$context"
}

sha256() {
  if has sha256sum; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

# What an image is made of, its base included, so that it is built again when that changes and only then.
hash_inputs() {
  local base=$1
  shift
  (
    cd "$ROOT"
    docker image inspect --format '{{.Id}}' "$base"
    find "$@" -type f | LC_ALL=C sort | while IFS= read -r file; do sha256 "$file"; done
  ) | sha256 | cut -c 1-64
}

# npm inside the build asks the registry that npm asks here, and the proxy arguments are Docker's own.
build_arguments() {
  local registry name
  registry=$(npm config get registry 2>/dev/null || true)
  [[ -z $registry ]] || printf '%s\n' --build-arg "NPM_CONFIG_REGISTRY=$registry"
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [[ -z ${!name:-} ]] || printf '%s\n' --build-arg "$name"
  done
}

ensure_built() {
  local tag=$1 inputs=$2 arguments=() line
  shift 2
  [[ $(label_of "$tag" "$INPUTS_LABEL") != "$inputs" ]] || return 0
  say "building $tag."
  while IFS= read -r line; do arguments+=("$line"); done < <(build_arguments)
  build_image "$tag" --label "$INPUTS_LABEL=$inputs" ${arguments[@]+"${arguments[@]}"} "$@" ||
    { WHY="$tag could not be built" && return 1; }
}

ensure_runner_image() {
  ensure_base "$BASE_IMAGE" make_base || return 1
  ensure_built "$RUNNER_IMAGE" "$(hash_inputs "$BASE_IMAGE" docker/runner)" "$ROOT/docker/runner"
}

ensure_worker_image() {
  local inputs
  ensure_base "$NODE_IMAGE" make_node || return 1
  inputs=$(cd "$ROOT" && hash_inputs "$NODE_IMAGE" docker/worker .dockerignore package*.json tsconfig*.json src)
  ensure_built "$WORKER_IMAGE" "$inputs" --file "$ROOT/docker/worker/Dockerfile" "$ROOT"
}

ensure_images() {
  ! wants redis-image || ensure_base "$REDIS_IMAGE" make_redis || return 1
  ! wants runner-image || ensure_runner_image || return 1
  ! wants worker-image || ensure_worker_image || return 1
}

# --- the two commands ------------------------------------------------------------------------

read_arguments() {
  while (($# > 0)); do
    case $1 in
      --install) INSTALL=true ;;
      --env) ENV_FILE=${2:-} && shift ;;
      stop) COMMAND=stop ;;
      images) WANTED+=' docker runner-image worker-image redis-image' ;;
      runner-image | worker-image | redis-image | compose) WANTED+=" docker $1" ;;
      redis | s3 | docker) WANTED+=" $1" ;;
      *) say "unknown argument: $1" && exit 2 ;;
    esac
    shift
  done
  [[ -n $ENV_FILE ]] || { say 'say where to write: --env FILE' && exit 2; }
}

clean_up() {
  allow_service_starts
  if [[ -z $SCRATCH ]]; then
    return
  elif [[ $SCRATCH_NEEDS_ROOT == true ]]; then
    as_root rm -rf --one-file-system "$SCRATCH"
  else
    rm -rf "$SCRATCH"
  fi
}

start() {
  trap clean_up EXIT
  # /var/tmp, because debootstrap refuses a file system mounted nodev, as /tmp often is.
  SCRATCH=$(mktemp -d /var/tmp/skillmill-services.XXXXXX)
  (umask 077 && : >"$ENV_FILE")
  ! wants redis || ensure_redis
  ! wants s3 || ensure_s3
  ! wants docker || ensure_docker
}

value_of() { sed -n "s/^$1=//p" "$ENV_FILE"; }

stop() {
  local pid
  [[ -f $ENV_FILE ]] || return 0
  pid=$(value_of SERVICES_REDIS_PID)
  [[ -n $pid ]] || return 0
  end_redis "$pid" "$(value_of SERVICES_REDIS_PORT)" "$(value_of SERVICES_REDIS_DIR)"
}

read_arguments "$@"
"$COMMAND"
