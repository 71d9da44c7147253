"""The sample project, put together for one build system in a folder of its own.

Its folders have a space in their names. Every run of the renderer and of the C compiler is counted.
"""
import collections
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "install"))
from installed import environment, prefix_copy, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("CMakeLists.txt", "meson.build", "meson_options.txt", "codegen", "runtime", "ops", "integration",
         "man", "editors", "examples")


def script(path: pathlib.Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def culex_copy(repository: pathlib.Path, folder: pathlib.Path) -> None:
    """Culex as a folder of another project: what is needed to build it, and no more."""
    for name in PARTS:
        if (repository / name).is_dir():
            shutil.copytree(repository / name, folder / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(repository / name, folder / name)


class Project:
    """One copy of the sample; `out` is where it is built."""

    def __init__(self, scratch: pathlib.Path, folder: str, env: dict, build_files: str,
                 python: str = "python3 -I -S", compiler: str = "cc") -> None:
        self.source = scratch / folder
        # The one place where make cannot have a space.
        self.out = scratch / ("out" if build_files == "make" else "my out")
        self.log = scratch / "log"
        self.renderers = scratch / "renderers"
        scratch.mkdir(parents=True, exist_ok=True)
        shutil.copytree(HERE / "app", self.source)
        shutil.copytree(HERE / build_files, self.source, dirs_exist_ok=True)
        self.env = dict(env, CULEX_URL=f"sqlite:{scratch}/jobs.db", CULEX_LOG_LEVEL="error")
        self.env["CULEX_PYTHON"] = script(
            scratch / "counting_python",
            f'#!/bin/sh\necho render >>"{self.log}"\n'
            f'for word; do echo "$word"; done >>"{self.renderers}"\nexec {python} "$@"\n')
        self.env["CC"] = script(
            scratch / "counting_cc",
            '#!/bin/sh\nfor word; do case $word in *.c) echo "${word##*/}" '
            f'>>"{self.log}" ;; esac; done\nexec {compiler} "$@"\n')

    def run(self, *command, **more) -> str:
        return run(*command, cwd=self.source, env=self.env, **more)

    def counted(self, *command) -> collections.Counter:
        """What was rendered ("render") and compiled (file names) by the command."""
        self.log.write_text("")
        self.run(*command)
        return collections.Counter(self.log.read_text().split())

    def edit(self, name: str, text: str) -> None:
        path = self.source / name
        path.chmod(0o644)
        path.write_text(text)
        path.chmod(0o444)

    def protect(self) -> None:
        """Nobody may write to the source tree. Root may anyway, so snapshot() has to agree too."""
        for path in [self.source, *self.source.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o222)

    def snapshot(self) -> dict:
        return {str(path.relative_to(self.source)): (path.stat().st_mtime_ns, path.stat().st_mode)
                for path in [self.source, *self.source.rglob("*")]}

    def generated(self) -> dict:
        return {str(path.relative_to(self.out)): path.read_bytes()
                for path in sorted(self.out.rglob("*_job.[ch]"))}
