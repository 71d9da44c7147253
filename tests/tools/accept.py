"""Writes anew what tests compare with: `ninja accept`. Then read the diff.

accept.py {-- TEST ARGUMENT...}...     each is run with --accept behind its arguments

Needs the compiler alone, so that it can be called while goldens that are out of date keep the
programs of other tests from compiling.
"""
import itertools
import pathlib
import subprocess
import sys


def commands(words):
    for is_end, command in itertools.groupby(words, lambda word: word == "--"):
        if not is_end:
            yield list(command)


def is_written(command):
    name = " ".join(pathlib.Path(word).name for word in command)
    done = subprocess.run([sys.executable, "-B", *command, "--accept"], check=False)
    print(f"{name}: {'written' if done.returncode == 0 else 'FAILED'}", flush=True)
    return done.returncode == 0


# All of them, whatever fails.
sys.exit(0 if all([is_written(command) for command in commands(sys.argv[1:])]) else 1)
