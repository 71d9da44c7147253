#!/bin/sh
# build.sh OUT - generates and compiles into the folder OUT. culexc leaves a file alone that would
# not change, so what depends on it need not be compiled again.
set -eu
out=$1
cc=${CC:-cc}
culexc=${CULEXC:-}
[ -n "$culexc" ] || eval "culexc=$(pkg-config --variable=culexc culex)" # a space in it is escaped
flags="-std=c11 -Wall -Wextra -Werror -fPIC -I'$out' $(pkg-config --cflags culex)"
libs=$(pkg-config --libs culex)

mkdir -p "$out"
"$culexc" gen -I jobs --out "$out" jobs/mail.job jobs/money.job jobs/note.job

# compile NAME SOURCE HEADER...: $out/NAME.o, if the source or a header in $out is newer.
compile() {
    object=$out/$1.o
    source=$2
    shift 2
    for header; do
        shift
        set -- "$@" "$out/$header"
    done
    [ -e "$object" ] && [ -z "$(find "$source" "$@" -newer "$object")" ] ||
        eval "$cc $flags -c -o \"\$object\" \"\$source\""
}
# link NAME OBJECT...: likewise; a name that ends in .so is a shared object.
link() {
    target=$out/$1
    case $1 in *.so) kind=-shared ;; *) kind= ;; esac
    shift
    [ -e "$target" ] && [ -z "$(find "$@" -newer "$target")" ] ||
        eval "$cc $kind -o \"\$target\" \"\$@\" $libs -ldl"
}

charge="mail_job.h money_job.h"
compile mail_job "$out/mail_job.c" $charge
compile money_job "$out/money_job.c" money_job.h
compile note_job "$out/note_job.c" note_job.h
compile plugin plugin.c $charge
compile host host.c
for program in enqueue worker; do
    compile $program $program.c $charge note_job.h
    link $program "$out/$program.o" "$out/mail_job.o" "$out/money_job.o" "$out/note_job.o"
done
link plugin_a.so "$out/plugin.o" "$out/mail_job.o" "$out/money_job.o"
link plugin_b.so "$out/plugin.o" "$out/mail_job.o" "$out/money_job.o"
link host "$out/host.o"
