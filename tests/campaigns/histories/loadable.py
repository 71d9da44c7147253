"""Exits with 0 when what a compiler makes can be loaded here.

usage: loadable.py COMPILER
tcc does not say that its code needs no executable stack, and glibc 2.41 refuses what does not.
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as name:
    source, module = pathlib.Path(name) / "x.c", pathlib.Path(name) / "x.so"
    source.write_text("int x = 1;\n")
    subprocess.run([sys.argv[1], "-shared", "-o", module, source], check=True)
    ctypes.CDLL(str(module))
