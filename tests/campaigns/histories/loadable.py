"""Makes modules that can be loaded. As a program: exits with 0 when those of a compiler can be here.

usage: loadable.py COMPILER...
tcc does not say that its code needs no executable stack, and glibc 2.41 loads nothing that does not:
so ld makes the module, and is told to say it.
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile


def build(compiler, source):
    part, module = source.with_suffix(".o"), source.with_suffix(".so")
    for command in ([*compiler, "-c", "-fPIC", "-o", part, source],
                    ["ld", "-shared", "-z", "noexecstack", "-o", module, part]):
        subprocess.run(command, check=True, timeout=300)
    return module


def main():
    with tempfile.TemporaryDirectory() as name:
        source = pathlib.Path(name) / "x.c"
        source.write_text("int x = 1;\n")
        ctypes.CDLL(str(build(sys.argv[1:], source)))


if __name__ == "__main__":
    main()
