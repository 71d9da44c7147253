"""A project of each build system: what is built, what is built again, and that it runs.

usage: sample_test.py KIND REPOSITORY BUILD
"""
import collections
import json
import pathlib
import shutil
import sys
import tempfile

from project import Project, culex_copy
from installed import environment, expect, fail, path_without, prefix_copy, run

MONEY = "struct money { int64 minor; string currency = \"EUR\"; }\n"
# What includes money_job.h, where each target compiles its own copy or all share one.
OWN = {"mail_job.c": 3, "money_job.c": 3, "plugin.c": 2, "worker.c": 1, "enqueue.c": 1}
SHARED = {name: 1 for name in OWN}


class Kind:
    """renders: of a first build, after an edit of the import, and when nothing changed."""

    def __init__(self, files: str, renders: tuple, compiled: dict, setup: list, build: list,
                 places: dict, culex_folder: str = "", recompiles_alike: bool = False) -> None:
        self.files, self.renders, self.compiled = files, renders, compiled
        self.setup, self.build, self.places = setup, build, places
        self.culex_folder, self.recompiles_alike = culex_folder, recompiles_alike


IN_OUT = {name: name for name in ("enqueue", "worker", "host", "plugin_a.so", "plugin_b.so")}
NINJA = ["ninja", "-j8", "-C", "{out}"]
MESON = ["meson", "setup", "--werror", "{out}"]
CMAKE = ["cmake", "-S", ".", "-B", "{out}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"]
KINDS = {
    "meson": Kind("meson", (3, 2, 0), OWN, MESON, NINJA, IN_OUT),
    "meson_subproject": Kind("meson", (3, 2, 0), OWN, MESON + ["--force-fallback-for=culex"], NINJA, IN_OUT, "subprojects/culex"),
    "cmake_ninja": Kind("cmake", (7, 6, 0), OWN, CMAKE + ["-G", "Ninja"], NINJA, IN_OUT),
    "cmake_make": Kind("cmake", (7, 6, 0), OWN, CMAKE + ["-G", "Unix Makefiles"],
                       ["make", "-j8", "-C", "{out}"], IN_OUT, recompiles_alike=True),
    "cmake_subdirectory": Kind("cmake", (7, 6, 0), OWN,
                               CMAKE + ["-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
                               NINJA, IN_OUT, "third_party/culex"),
    "make": Kind("make", (3, 2, 0), SHARED, ["true"], ["make", "-j8", "OUT=../out"], IN_OUT,
                 recompiles_alike=True),
    # A script asks the compiler every time, with all files, who then renders what changed.
    "shell": Kind("shell", (1, 1, 0), SHARED, ["true"], ["sh", "build.sh", "{out}"], IN_OUT),
}


def counts(renders: int, compiled: dict = {}) -> collections.Counter:
    return collections.Counter({"render": renders, **compiled}) + collections.Counter()


def built(project: Project, kind: Kind) -> None:
    first, edited, idle = kind.renders
    words = [word.format(out=project.out) for word in kind.build]
    project.run(*[word.format(out=project.out) for word in kind.setup])
    before = project.snapshot()
    expect("renders of the first build", first, project.counted(*words)["render"])
    expect("a second build", counts(idle), project.counted(*words))
    expect("the source tree", before, project.snapshot())

    project.edit("jobs/money.job", MONEY)
    expect("an edited import", counts(edited, kind.compiled), project.counted(*words))
    if b"currency" not in next(project.out.rglob("money_job.h")).read_bytes():
        fail("the edit did not arrive")
    expect("a build after that", counts(idle), project.counted(*words))

    project.edit("jobs/money.job", MONEY + "// Every amount.\n")
    alike = kind.compiled if kind.recompiles_alike else {}
    expect("an edit that changes no C", counts(0, alike), project.counted(*words))
    expect("a build after that", counts(idle), project.counted(*words))


def rendered_by(project: Project, folder: pathlib.Path) -> None:
    used = {line for line in project.renderers.read_text().splitlines() if line.endswith(".py")}
    expect("renderers", {folder.resolve()}, {pathlib.Path(path).parent.resolve() for path in used})


def used(project: Project, kind: Kind) -> None:
    """Every program does its work, and two shared objects with one schema do not meet."""
    place = {name: str(project.out / path) for name, path in kind.places.items()}
    plugins = [place["plugin_a.so"], place["plugin_b.so"]]
    for plugin in plugins:
        exported = [line.split()[-1] for line in
                    run("nm", "-D", "--defined-only", plugin).splitlines()]
        if "plugin_enqueue" not in exported:
            fail(f"{plugin} exports {exported}")
        expect("generated symbols that a shared object exports", [],
               [name for name in exported if "charge" in name or "money" in name])
    project.run(place["enqueue"])
    project.run(place["host"], *plugins)
    expect("runs", ["charge plugin 1", "charge plugin 1", "charge program 250", "note hello"],
           sorted(project.run(place["worker"], "--drain").splitlines()))


def sources(commands: pathlib.Path, root: pathlib.Path) -> list:
    """What a build compiles of culexc and libculex, but for files that are made on the way."""
    files = {pathlib.Path(row["directory"], row["file"]).resolve()
             for row in json.loads(commands.read_text())}
    paths = {str(path.relative_to(root)) for path in files if path.is_relative_to(root)}
    return sorted(path for path in paths if path.startswith(("codegen/", "runtime/"))
                  and not path.startswith(("runtime/tools/", "runtime/producer/")))


def same_sources(repository: pathlib.Path, build: pathlib.Path, project: Project) -> None:
    """CMake finds its sources; Meson lists them."""
    listed = sources(build / "compile_commands.json", repository)
    if len(listed) < 50:
        fail(f"Meson lists {len(listed)} sources")
    expect("sources of CMake, compared with Meson's", listed,
           sources(project.out / "compile_commands.json", project.source / "third_party/culex"))


def main() -> None:
    name, repository, build = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    kind = KINDS[name]
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = scratch / "my prefix"
        if not kind.culex_folder:
            prefix_copy(build, prefix)
        env = environment(prefix)
        # Without culexc in PATH every build system has to know where it is.
        env["PATH"] = path_without("culexc", scratch / "path")
        # An installed renderer needs no package; one in its source folder has no Jinja2 of its own.
        python = sys.executable if kind.culex_folder else "python3 -I -S"
        project = Project(scratch / "one", "my project", env, kind.files, python)
        if kind.culex_folder:
            culex_copy(repository, project.source / kind.culex_folder)
            if kind.files == "meson":
                shutil.copy(repository / "integration/culex.wrap", project.source / "subprojects")
        project.protect()
        built(project, kind)
        used(project, kind)
        culex = project.source / kind.culex_folder / "codegen/render"
        rendered_by(project, culex if kind.culex_folder else prefix / "share/culex/render")
        if name == "cmake_subdirectory":
            same_sources(repository, build, project)
        if not kind.culex_folder:
            other = Project(scratch / "two", "elsewhere", env, kind.files)
            other.edit("jobs/money.job", MONEY + "// Every amount.\n")
            other.run(*[word.format(out=other.out) for word in kind.setup])
            other.run(*[word.format(out=other.out) for word in kind.build])
            expect("generated files", sorted(project.generated()), sorted(other.generated()))
            expect("made in another folder", project.generated(), other.generated())
    print(f"{name}: one edit is built once, two builds are alike, and all of it runs")


if __name__ == "__main__":
    main()
