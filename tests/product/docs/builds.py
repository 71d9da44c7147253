"""The README's build files, each beside the first example: built, and run.

usage: builds.py REPOSITORY BUILD
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "install"))
from first_job import blocks  # noqa: E402
from installed import environment, expect, hello_copy, prefix_copy, run  # noqa: E402

PROJECT = {"meson": "project('hello', 'c')\n",
           "cmake": "cmake_minimum_required(VERSION 3.21)\nproject(hello LANGUAGES C)\n", "make": ""}
FILE = {"meson": "meson.build", "cmake": "CMakeLists.txt", "make": "Makefile"}
BUILD = {"meson": "meson setup out; ninja -C out", "cmake": "cmake -B out; cmake --build out",
         "make": "make -j8; mkdir out; mv enqueue worker out"}


def main() -> None:
    repository, build = map(pathlib.Path, sys.argv[1:])
    readme = (repository / "README.md").read_text()
    with tempfile.TemporaryDirectory() as scratch:
        env = environment(prefix_copy(build, pathlib.Path(scratch) / "prefix"))
        for kind, head in PROJECT.items():
            folder = pathlib.Path(scratch) / kind
            hello_copy(repository, folder)
            (text,) = blocks(readme, kind)
            (folder / FILE[kind]).write_text(head + text)
            run("sh", "-euc", BUILD[kind], cwd=folder, env=env)
            run("out/enqueue", cwd=folder, env=env)
            expect(kind, "Hello, world!\n",
                   run("out/worker", "--drain", "--log-level=error", cwd=folder, env=env))
    print(f"the README's build files work: {', '.join(PROJECT)}")


main()
