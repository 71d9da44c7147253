"""A copy of the installed tree, for tests that use it as another project would.

`meson install` is not atomic and tests run side by side, so each works on a copy of its own; that
the copy works shows at the same time that an installed tree may be moved.
"""
import os
import pathlib
import shutil
import subprocess
import sys


def fail(text: str) -> None:
    sys.exit(f"FAILED: {text}")


def run(*command, cwd=None, env=None, status: int = 0) -> str:
    """What the command printed; it must end with `status`."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, timeout=900, stdin=subprocess.DEVNULL)
    if done.returncode != status:
        fail(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def difference(wanted, got) -> str:
    """What only one of two lists, or sets, has. Both as they are where that is nothing, or where they
    are something else."""
    if isinstance(wanted, (list, set)) and isinstance(got, (list, set)):
        missing = [item for item in wanted if item not in got]
        extra = [item for item in got if item not in wanted]
        if missing or extra:
            return f"missing {missing!r}, not wanted {extra!r}"
    return f"wanted {wanted!r}, got {got!r}"


def expect(what: str, wanted, got) -> None:
    if wanted != got:
        fail(f"{what}: {difference(wanted, got)}")


def prefix_copy(build: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    staged = run("sh", build / "tests/lib/stage.sh").strip()
    run("flock", build / "install.lock", "cp", "-a", staged, target)
    return target


def environment(prefix: pathlib.Path) -> dict:
    """Nothing but the copy is found, and no setting of the caller gets in."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("CULEX", "PKG_CONFIG", "CMAKE", "MAKE"))
           and name not in ("CFLAGS", "CPPFLAGS", "LDFLAGS", "CC", "DESTDIR")}
    env["PATH"] = f"{prefix}/bin:{env['PATH']}"
    env["PKG_CONFIG_PATH"] = f"{prefix}/lib/pkgconfig"
    env["CMAKE_PREFIX_PATH"] = str(prefix)
    env["LD_LIBRARY_PATH"] = f"{prefix}/lib"
    return env


def path_without(name: str, folder: pathlib.Path) -> str:
    """The caller's PATH as if no program `name` were installed; `folder` takes what stands beside
    one that is."""
    places = []
    for number, place in enumerate(os.environ["PATH"].split(os.pathsep)):
        if shutil.which(name, path=place) is None:
            places.append(place)
            continue
        others = folder / str(number)
        others.mkdir(parents=True)
        for program in pathlib.Path(place).iterdir():
            if program.name != name:
                (others / program.name).symlink_to(program)
        places.append(str(others))
    return os.pathsep.join(places)


def hello_copy(repository: pathlib.Path, folder: pathlib.Path) -> None:
    folder.mkdir()
    for name in ("hello.job", "enqueue.c", "worker.c"):
        shutil.copy(repository / "examples/hello" / name, folder)
