#!/bin/sh
# Every header compiles alone: public ones as strict C11 and C++11, private ones as C11.
# usage: check_headers.sh REPOSITORY BUILD
set -eu
cd "$1"
build=$2
codegen=$(printf -- '-I%s ' codegen/*/)
strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror'
alone() { # alone COMPILER STANDARD LANGUAGE HEADER
    printf '#include "%s"\nint culex_alone(void);\n' "$4" >"$scratch/alone.$3"
    # shellcheck disable=SC2086
    "$1" "-std=$2" $strict -D_GNU_SOURCE -Iruntime/include -Iruntime $codegen -Iops -I. \
        "-I$build/runtime" $(pkg-config --cflags hiredis sqlite3) \
        -fsyntax-only "$scratch/alone.$3"
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0
for header in runtime/include/*.h runtime/include/culex/*.h; do
    alone gcc c11 c "$header"
    alone g++ c++11 cc "$header"
    if command -v clang >/dev/null 2>&1; then
        alone clang c2x c "$header"
        alone clang++ c++11 cc "$header"
    fi
    count=$((count + 1))
done
for header in $(find runtime codegen ops -name '*.h' ! -path '*/include/*'); do
    alone gcc c11 c "$header"
    count=$((count + 1))
done
[ "$count" -gt 10 ]
echo "$count headers compile alone"
