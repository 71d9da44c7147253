#!/bin/sh
# The installed compiler needs python3 and no package of it, works wherever it was put, and
# leaves files alone that would not change.
. "$(dirname "$0")/lib.sh"
prefix_install
cp -R "$prefix" "$scratch/my prefix"
mkdir "$scratch/my project"
cd "$scratch/my project"
cp "$repository/examples/hello/hello.job" .

# Without site-packages, so without any Jinja2 of this machine.
printf '#!/bin/sh\nexec python3 -I -S "$@"\n' >'bare python'
chmod +x 'bare python'
export CULEX_PYTHON="$PWD/bare python"
! "$CULEX_PYTHON" -c 'import jinja2' 2>/dev/null || fail 'this Python has Jinja2 even without site-packages'
unset CULEX_DATADIR

generate() { "$scratch/my prefix/bin/culexc" gen --out 'made here' --depfile 'made here/hello.d' hello.job; }
renderer_files() { (cd "$scratch/my prefix/share" && find . | sort); }

renderer_before=$(renderer_files)
generate
expect 'files' 'hello.d hello_job.c hello_job.h' "$(ls 'made here' | paste -sd' ' -)"
cp -R 'made here' first
touch -d '2001-01-01 00:00:00' 'made here'/*
generate
diff -r first 'made here' || fail 'the second run made something else'
for file in 'made here'/*; do
    expect "time of $file" "$(date -d '2001-01-01 00:00:00' +%s)" "$(stat -c %Y "$file")"
done
expect 'files beside the renderer' "$renderer_before" "$(renderer_files)"
