# lib.sh - common part of the example tests; sourced with $1 = repository, $2 = build folder,
# $3 = store, of those tests that need one: sqlite or redis. Builds the example as a user's
# project would: against the installed library, through pkg-config, with warnings as errors.
set -eu
repository=$1
build=$2
store=${3:-}
scratch=$(mktemp -d)
server=
background=

cleanup() {
    # All that was started and has not ended; of a pipe the server is not what jobs tells.
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    jobs -p >"$scratch/jobs"
    while read -r each; do
        kill "$each" 2>/dev/null || true
    done <"$scratch/jobs"
    rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() { echo "FAILED: $*" >&2; exit 1; }

# expect WHAT WANTED GOT
expect() { [ "$2" = "$3" ] || fail "$1: wanted '$2', got '$3'"; }

# wait_until SECONDS COMMAND...: polls a condition with a deadline.
wait_until() {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || fail "never true: $*"
        sleep 0.05
    done
}

prefix_install() { # into $prefix
    prefix=$(sh "$build/tests/lib/stage.sh")
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    export LD_LIBRARY_PATH="$prefix/lib"
}

example_build() { # example_build NAME: leaves the programs in $scratch/bin, its own test passed
    prefix_install
    meson setup "$scratch/bin" "$repository/examples/$1" --werror >"$scratch/log" 2>&1 &&
        ninja -C "$scratch/bin" >>"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "build of $1"; }
    meson test -C "$scratch/bin" --print-errorlogs >"$scratch/log" 2>&1 ||
        { cat "$scratch/log" >&2; fail "test of $1"; }
}

store_start() {
    if [ "$store" = sqlite ]; then
        CULEX_URL="sqlite:$scratch/jobs.db"
    else
        command -v redis-server >/dev/null || { echo 'skipped: no redis-server'; exit 77; }
        redis-server --port 0 --unixsocket "$scratch/redis.sock" --save '' --dir "$scratch" \
            >"$scratch/redis.log" 2>&1 &
        server=$!
        wait_until 10 redis-cli -s "$scratch/redis.sock" ping # the file is there before somebody listens
        CULEX_URL="redis+unix://$scratch/redis.sock"
    fi
    export CULEX_URL
}
