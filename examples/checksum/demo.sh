#!/bin/sh
# demo.sh PREFIX BIN DIR: checksums every file below DIR with a Culex worker and compares the sums
# with sha256sum's. Culex is installed in PREFIX; the example is built in BIN, as a user would.
# CULEX_URL chooses another store than an SQLite file in a temporary folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1
bin=$2
dir=$(cd "$3" && pwd)

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -f "$bin/build.ninja" ] || meson setup "$bin" "$here" >"$bin.log" 2>&1 || { cat "$bin.log" >&2; exit 1; }
ninja -C "$bin" >"$bin.log" 2>&1 || { cat "$bin.log" >&2; exit 1; }

scratch=$(mktemp -d)
progress=
cleanup() {
    [ -z "$progress" ] || kill "$progress" 2>/dev/null || true
    rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
export CULEX_URL="${CULEX_URL:-sqlite:$scratch/demo.db}"

# The same list of files for both sides. Build folders change while we look, so they are left out.
find "$dir" \( -name .git -o -name 'build' -o -name 'build-*' \) -prune -o -type f -print0 >"$scratch/files"

echo "demo: one run per file of $dir, store $CULEX_URL"
total=$("$bin/enqueue" <"$scratch/files")
echo "demo: $total runs enqueued; starting a worker"
"$bin/report" --progress &
progress=$!
"$bin/worker" --drain --log-level warn 2>"$scratch/worker.log" ||
    { cat "$scratch/worker.log" >&2; echo "demo: the worker failed" >&2; exit 1; }
wait "$progress" || { cat "$scratch/worker.log" >&2; echo "demo: some runs failed" >&2; exit 1; }
progress=

"$bin/report" --times
"$bin/report" | sort >"$scratch/culex.sums"
xargs -0 -r sha256sum <"$scratch/files" | sort >"$scratch/expected.sums"
if cmp -s "$scratch/culex.sums" "$scratch/expected.sums"; then
    echo "demo: $(wc -l <"$scratch/culex.sums") checksums, all equal to sha256sum's"
else
    diff "$scratch/expected.sums" "$scratch/culex.sums" | head -n 20 >&2
    echo "demo: the checksums differ from sha256sum's" >&2
    exit 1
fi
