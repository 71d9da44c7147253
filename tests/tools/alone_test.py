"""Holds the environment that the tests run in to what tests/tools/alone.sh gives them."""
import os
import shutil
import sys

GIVEN = {"PATH", "HOME", "XDG_RUNTIME_DIR", "LANG", "PYTHONDONTWRITEBYTECODE"}
PASSED_ON = {"TMPDIR", "MALLOC_PERTURB_", "MESON_TEST_ITERATION", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}


def main() -> int:
    faults = []
    if not GIVEN <= set(os.environ) <= GIVEN | PASSED_ON:
        faults.append(f"variables of the caller: {sorted(set(os.environ) - GIVEN - PASSED_ON)}, "
                      f"missing: {sorted(GIVEN - set(os.environ))}")
    strange = [place for place in os.environ["PATH"].split(":") if place not in ("/usr/sbin", "/usr/bin", "/sbin", "/bin")]
    if strange:
        faults.append(f"folders of this machine in PATH: {strange}")
    if shutil.which("culexc"):
        faults.append(f"a compiler that is not this tree's can be found: {shutil.which('culexc')}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
