"""`culexc init`: each kind of project builds and runs by the commands of its README, nothing is
overwritten, and what is no name is refused.

usage: init_test.py REPOSITORY BUILD
"""
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

from installed import environment, expect, fail, prefix_copy, run

HOSTILE = ["", "-x", "2fast", "a b", "a'b", 'a"b', "a/b", "../up", ".", "a\nb", "\x1b[31mred",
           "caf\u00e9", "@NAME@", "$(id)", "a;b", "x" * 65]

CHECKS = {"meson": "meson test", "cmake": "ctest", "make": "make check"}
PASSED = {"meson": "1/1 hello OK", "cmake": "100% tests passed", "make": "Hello, Ann!"}


def names(folder: pathlib.Path) -> list:
    return sorted(path.name for path in folder.iterdir())


def built_and_run(scratch: pathlib.Path, env: dict, kind: str) -> None:
    """To the letter of the README; the worker's log lines go elsewhere."""
    folder = scratch / f"first-{kind}_2"
    run("culexc", "init", "--build", kind, folder.name, cwd=scratch, env=env)
    files = {path.name: path.read_text() for path in folder.iterdir()}
    expect(f"left to fill in for {kind}", [],
           [name for name, text in files.items() if re.search(r"@(NAME|COMMANDS)@", text)])
    commands = re.findall(r"^    (.*)$", files["README.md"], re.M)
    env = dict(env, CULEX_LOG_LEVEL="error")
    printed = run("sh", "-euc", "\n".join(commands), cwd=folder, env=env)
    expect(kind, "Hello, Ann!", printed.splitlines()[-1])
    check = next(text for text in re.findall(r"`([^`]*)`", files["README.md"]) if text.startswith(CHECKS[kind]))
    tested = run("sh", "-euc", check, cwd=folder, env=env)
    expect(f"test of {kind}", True, PASSED[kind] in tested)
    ignored = (folder / ".gitignore").read_text().split()
    left = [name for name in names(folder) if name not in files
            and not any(pathlib.PurePath("/" + name).match(pattern.rstrip("/")) for pattern in ignored)]
    expect(f"made by {kind} and not ignored", [], left)
    expect(f"changed by the build of {kind}", files,
           {name: (folder / name).read_text() for name in files})


def holds_without_asserts(scratch: pathlib.Path, env: dict) -> None:
    """In a Release build of CMake, where NDEBUG makes nothing of assert(), the test does all of its work."""
    folder = scratch / "released"
    run("culexc", "init", "--build", "cmake", folder.name, cwd=scratch, env=env)
    run("sh", "-euc", "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build", cwd=folder, env=env)
    tested = run("ctest", "--test-dir", "build", "--verbose", cwd=folder, env=dict(env, CULEX_LOG_LEVEL="error"))
    expect("test of a Release build", True, PASSED["cmake"] in tested and "Hello, Ann!" in tested)


def refused(scratch: pathlib.Path, env: dict) -> None:
    before = names(scratch)
    for name in HOSTILE:
        said = run("culexc", "init", "--", name, cwd=scratch, env=env, status=2)
        if "this name cannot be that of a project" not in said or "\x1b" in said:
            fail(f"{name!r}: {said}")
    said = run("culexc", "init", "--build", "scons", "x", cwd=scratch, env=env, status=2)
    expect("another build system", True, "meson, cmake or make" in said)
    run("culexc", "init", "a", "b", "c", cwd=scratch, env=env, status=2)
    run("culexc", "init", "a", "", cwd=scratch, env=env, status=2)
    run("culexc", "init", "a", "no/such/folder", cwd=scratch, env=env, status=3)
    expect("written by what was refused", before, names(scratch))


def nothing_overwritten(scratch: pathlib.Path, env: dict) -> None:
    folder = scratch / "taken"
    folder.mkdir()
    for name, make in {"worker.c": lambda path: path.write_text("mine"),
                       "README.md": lambda path: path.symlink_to("nowhere"),
                       ".gitignore": lambda path: path.mkdir()}.items():
        make(folder / name)
        said = run("culexc", "init", "taken", cwd=scratch, env=env, status=3)
        expect("what is said", f"culexc: cannot write 'taken/{name}': it exists already; nothing was written\n", said)
        expect("files", [name], names(folder))
        path = folder / name
        path.rmdir() if path.is_dir() else path.unlink()
    # A build file of another kind is in nobody's way.
    (folder / "Makefile").write_text("mine")
    run("culexc", "init", "--build", "meson", "taken", cwd=scratch, env=env)
    expect("the other build file", "mine", (folder / "Makefile").read_text())


def here(scratch: pathlib.Path, env: dict) -> None:
    folder = scratch / "here"
    folder.mkdir()
    run("culexc", "init", cwd=folder, env=env)
    expect("name of the current folder", True,
           "project('here'" in (folder / "meson.build").read_text())
    odd = scratch / "not a name"
    odd.mkdir()
    said = run("culexc", "init", cwd=odd, env=env, status=2)
    expect("of a folder with spaces", True, "the current folder's name" in said)
    run("culexc", "init", "fine", ".", cwd=odd, env=env)
    expect("name of its own", True, "project('fine'" in (odd / "meson.build").read_text())


def limit_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))


def all_or_nothing(scratch: pathlib.Path, env: dict) -> None:
    """A file that cannot be written takes those along that could."""
    for existing in (False, True):
        folder = scratch / f"full{existing}"
        if existing:
            folder.mkdir()
        done = subprocess.run(["culexc", "init", folder.name], cwd=scratch, env=env, text=True,
                              capture_output=True, check=False, preexec_fn=limit_files)
        expect("status when the disk is full", 3, done.returncode)
        expect("what is said", True, "File too large; nothing was written" in done.stderr)
        expect("folder is left", existing, folder.exists())
        expect("files are left", [], names(folder) if existing else [])


def main() -> None:
    build = pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        env = environment(prefix_copy(build, scratch / "prefix"))
        for kind in ("meson", "cmake", "make"):
            built_and_run(scratch, env, kind)
        holds_without_asserts(scratch, env)
        refused(scratch, env)
        nothing_overwritten(scratch, env)
        here(scratch, env)
        all_or_nothing(scratch, env)
    print("new projects build and run as their README says; nothing is overwritten")


if __name__ == "__main__":
    main()
