#!/bin/sh
# Runs a test in an environment of its own: alone.sh HOME COMMAND...
# Only what every machine has may be found by a test, so that it passes everywhere or nowhere: the
# system's own folders in PATH, an empty HOME, a XDG_RUNTIME_DIR of the tests alone, and of the caller's variables those that tell a test
# runner or a sanitizer what to do.
set -eu
home=$1
shift
mkdir -p "$home"
runtime=$home.run
mkdir -p -m 700 "$runtime"
for name in TMPDIR MALLOC_PERTURB_ MESON_TEST_ITERATION ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
    eval "value=\${$name-}"
    [ -z "$value" ] || set -- "$name=$value" "$@"
done
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "HOME=$home" "XDG_RUNTIME_DIR=$runtime" LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 "$@"
