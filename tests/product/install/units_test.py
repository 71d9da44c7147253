"""The units are such that systemd reads them without a word, and their user is one that it makes.

usage: units_test.py REPOSITORY BUILD

What is not shown: services that run by them, see tools/package.sh. process/manager.py is the manager of
a real worker.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from installed import expect, fail, prefix_copy, run


def verified(unit, text):
    """What systemd says of it. The program and the user are whoever's, and it looks whether they are there."""
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.M)
    unit.write_text(text.replace("User=culex", "User=daemon"))
    return subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False).stdout


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        share = prefix_copy(pathlib.Path(sys.argv[2]), folder / "prefix") / "share/culex/systemd"
        console = (share / "culex-console.service").read_text()
        expect("the console's program", True, f"ExecStart={sys.argv[2]}/prefix/bin/culex-console " in console)
        expect("what systemd says of its unit", "", verified(folder / "culex-console.service", console))
        unit = folder / "culex-worker@measure.service"
        text = (share / "culex-worker@.service").read_text()
        expect("what systemd says of the worker's unit", "", verified(unit, text))
        if "WatchdogSecs" not in verified(unit, text.replace("WatchdogSec", "WatchdogSecs")):
            fail("systemd sees no misspelt option: this test sees nothing")
        if os.geteuid() == 0:
            root = folder / "root"
            (root / "etc").mkdir(parents=True)
            run("systemd-sysusers", f"--root={root}", share / "culex.sysusers")
            users = [line.split(":")[0] for line in (root / "etc/passwd").read_text().splitlines()]
            expect("the user that is made", True, "culex" in users)


if __name__ == "__main__":
    main()
