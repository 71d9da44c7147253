"""Names what tests are made of: test_targets.py BUILD [OPTION OF meson test]...

One ninja target of the build folder on each line: the programs and libraries that the tests depend
on which `meson test` runs with these options. So a build that runs some tests compiles only that.
"""
import json
import os
import pathlib
import subprocess
import sys


def chosen(build: pathlib.Path, options: list[str]) -> set[str]:
    """The tests as `meson test --list` tells them: PROJECT:SUITE+SUITE / NAME."""
    told = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--list", *options],
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return {line.split(" / ", 1)[1] for line in told.splitlines() if " / " in line}


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1]).resolve()
    tests, targets = (json.loads((build / "meson-info" / f"intro-{what}.json").read_text()) for what in ("tests", "targets"))
    files = {target["id"]: target["filename"] for target in targets}
    names = chosen(build, sys.argv[2:])
    wanted = {name for test in tests if test["name"] in names for target in test["depends"] for name in files[target]}
    if not wanted:
        print(f"test_targets.py: no test for: {' '.join(sys.argv[2:])}; './dev test --list' prints all names", file=sys.stderr)
        return 1
    print("\n".join(sorted(os.path.relpath(name, build) for name in wanted)))
    return 0


sys.exit(main())
