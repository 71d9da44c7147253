"""A folder of schemas to run culexc in, for the tests beside this file."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()
GOOD = "package {0}; job {0} {{ params {{ string to; }} }}\n"
BAD = "job b { queue 5; }\n"


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name).resolve()

    def write(self, name, text):
        (self.work / name).parent.mkdir(parents=True, exist_ok=True)
        (self.work / name).write_text(text, encoding="utf-8")

    def culexc(self, *words, cwd=".", **options):
        done = subprocess.run([CULEXC, *words], cwd=self.work / cwd, capture_output=True, timeout=20,
                              check=False, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def named(self, *words, **options):
        """Files that something is said about, in the order in which it is."""
        shown = "".join(self.culexc(*words, "--message-format=short", **options)[1:])
        files = [line.split(":")[0] for line in shown.splitlines() if not line.startswith("culexc:")]
        return list(dict.fromkeys(files))
