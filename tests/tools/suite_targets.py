"""Names what a suite of tests is made of: suite_targets.py BUILD SUITE

One ninja target of the build folder on each line: the programs and libraries that Meson's tests of
that suite depend on. So a build that runs one suite compiles only that.
"""
import json
import os
import pathlib
import sys


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1]).resolve()
    tests, targets = (json.loads((build / "meson-info" / f"intro-{what}.json").read_text()) for what in ("tests", "targets"))
    files = {target["id"]: target["filename"] for target in targets}
    wanted = {name for test in tests if sys.argv[2] in (suite.split(":")[-1] for suite in test["suite"])
              for target in test["depends"] for name in files[target]}
    if not wanted:
        print(f"suite_targets.py: no test of a suite '{sys.argv[2]}'", file=sys.stderr)
        return 1
    print("\n".join(sorted(os.path.relpath(name, build) for name in wanted)))
    return 0


sys.exit(main())
