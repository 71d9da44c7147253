#!/bin/sh
# In a user's project: editing an imported schema regenerates once, and only then.
. "$(dirname "$0")/lib.sh"
prefix_install
mkdir -p "$scratch/project/shared"
cd "$scratch/project"
cat >mail.job <<'END'
import "money.job";
job charge { params { money price; } }
END
echo 'struct money { int64 minor; }' >shared/money.job
cat >meson.build <<'END'
project('regenerate', 'c', default_options: ['c_std=c11'])
culex = dependency('culex')
jobs = custom_target(
  input: 'mail.job',
  output: ['@BASENAME@_job.c', '@BASENAME@_job.h'],
  depfile: '@BASENAME@_job.d',
  command: [find_program(culex.get_variable('culexc')), 'gen',
    '-I', meson.current_source_dir() / 'shared', '--out', '@OUTDIR@', '--depfile', '@DEPFILE@', '@INPUT@'])
money = custom_target(
  input: 'shared/money.job',
  output: ['@BASENAME@_job.c', '@BASENAME@_job.h'],
  depfile: '@BASENAME@_job.d',
  command: [find_program(culex.get_variable('culexc')), 'gen', '--out', '@OUTDIR@', '--depfile', '@DEPFILE@', '@INPUT@'])
static_library('jobs', jobs, money, dependencies: culex)
END

# A line for each time that the renderer runs.
cat >counting_python <<END
#!/bin/sh
echo run >>"$scratch/runs"
exec python3 -I -S "\$@"
END
chmod +x counting_python
export CULEX_PYTHON="$PWD/counting_python"
unset CULEX_DATADIR

meson setup "$scratch/out" --werror >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail 'meson setup'; }

# build_expect WHAT RUNS: builds, and expects that many runs of the renderer.
build_expect() {
    : >"$scratch/runs"
    ninja -C "$scratch/out" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "$1"; }
    expect "$1" "$2" "$(wc -l <"$scratch/runs")"
}

# Both schemas read shared/money.job, so each of them counts.
build_expect 'first build' 2
build_expect 'nothing changed' 0
echo 'struct money { int64 minor; string currency; }' >shared/money.job
build_expect 'the import was edited' 2
grep -q currency "$scratch/out/money_job.h" || fail 'the edit did not arrive'
build_expect 'nothing changed since the edit' 0
touch shared/money.job
build_expect 'the import was touched' 0
! grep -q 'Compiling' "$scratch/log" || fail 'files that did not change were compiled again'
build_expect 'nothing changed since the touch' 0
echo '// a comment' >>mail.job
build_expect 'a comment was added' 0
echo 'job refund { params { money price; } }' >>mail.job
build_expect 'the importing schema was edited' 1
