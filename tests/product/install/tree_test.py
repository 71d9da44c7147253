"""What `meson install` leaves: libraries, their symbols, and a tree that may be moved.

usage: tree_test.py REPOSITORY BUILD
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from installed import environment, expect, fail, hello_copy, prefix_copy, run


def declared(prefix: pathlib.Path) -> set:
    """The functions and variables that the public headers mark with CULEX_API."""
    text = "".join(path.read_text() for path in (prefix / "include").rglob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = set()
    for match in re.finditer(r"^CULEX_API\b([^;{]*)", text, re.M):
        names.add(re.search(r"\b(culex_\w+)\s*(?:\(|\[|$)", match.group(1).strip()).group(1))
    return names


def symbols_check(prefix: pathlib.Path, version: str) -> None:
    shared = prefix / "lib/libculex.so"
    exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", shared).splitlines()}
    if len(exported) < 40:
        fail(f"only {len(exported)} symbols are exported")
    expect("exported but in no public header", set(), exported - declared(prefix))
    expect("in a public header but not exported", set(), declared(prefix) - exported)
    dynamic = run("readelf", "-d", shared)
    expect("soname", ["libculex.so.0"], re.findall(r"SONAME.*\[(.*)\]", dynamic))
    expect("links", ["libculex.so.0", f"libculex.so.{version}"],
           [(prefix / "lib" / name).readlink().name for name in ("libculex.so", "libculex.so.0")])
    foreign = {line.split()[-1] for line in
               run("nm", "-g", "--defined-only", prefix / "lib/libculex.a").splitlines()
               if len(line.split()) == 3 and not re.match(r"culex_", line.split()[-1])}
    expect("names without a prefix in the static library", set(), foreign)


def staging_check(build: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """A copy of the tree that tests install, which is not where ./dev build installs for users."""
    def files() -> dict:
        return {path: path.lstat().st_mtime_ns for path in (build / "prefix").rglob("*")}

    before = files()
    copy = prefix_copy(build, scratch / "my prefix")
    expect("what a test has changed in the users' prefix", set(), set(files().items()) ^ set(before.items()))
    return copy


def version_check(repository: pathlib.Path, scratch: pathlib.Path, env: dict, version: str) -> None:
    """meson.build's version is everybody's: of headers, library, programs and the editors' plug-in."""
    (scratch / "version.c").write_text(r"""
        #include <culex/culex.h>
        #include <stdio.h>
        #if CULEX_VERSION_NUMBER < CULEX_VERSION_ENCODE(0, 1, 0)
        #error "the number can be compared by the preprocessor"
        #endif
        int main(void)
        {
            printf("%d.%d.%d %s %s %d", CULEX_VERSION_MAJOR, CULEX_VERSION_MINOR, CULEX_VERSION_PATCH,
                   CULEX_VERSION, culex_version(), culex_version_number() == CULEX_VERSION_NUMBER);
        }""")
    run("sh", "-euc", 'eval "cc -o version version.c $(pkg-config --cflags --libs culex)"', cwd=scratch, env=env)
    expect("macros and the library", f"{version} {version} {version} 1",
           run("./version", cwd=scratch, env=env))
    served = ["culex-console"] if shutil.which("culex-console", path=env["PATH"]) else []
    for program in ("culex", "culexc", "culex-live", "culex-enqueue", "culex-spool", *served):
        expect(program, f"{program} {version}", run(program, "--version", env=env).strip())
    expect("pkg-config", version, run("pkg-config", "--modversion", "culex", env=env).strip())
    plugin = json.loads((repository / "editors/vscode/package.json").read_text())
    expect("editors/vscode", version, plugin["version"])


def programs_check(repository: pathlib.Path, scratch: pathlib.Path, env: dict, how: str) -> None:
    """The first example against the shared or the static library."""
    folder = scratch / f"hello {how}"
    hello_copy(repository, folder)
    (folder / "build.sh").write_text(f"""
        culexc gen --out . hello.job
        for program in enqueue worker; do
            eval "cc -o $program $program.c hello_job.c $(pkg-config --cflags --libs {how})"
        done""")
    run("sh", "-eu", "build.sh", cwd=folder, env=env)
    is_shared = "libculex.so" in run("ldd", folder / "worker", env=env)
    expect(f"{how} takes the shared library", "static" not in how, is_shared)
    run("./enqueue", "Ann", cwd=folder, env=env)
    expect(how, "Hello, Ann!\n", run("./worker", "--drain", "--log-level=error", cwd=folder, env=env))


def plugins_check(repository: pathlib.Path, scratch: pathlib.Path, env: dict) -> None:
    """By their names alone, and nothing is left beside them."""
    folder = scratch / "plugins"
    hello_copy(repository, folder)
    for name, file in {"cpp": "hello_job.hpp", "json-schema": "hello.schema.json", "python": "hello_job.py"}.items():
        run("culexc", "gen", "--plugin", name, "--out", "out", "hello.job", cwd=folder, env=env)
        if not (folder / "out" / file).exists():
            expect(name, file, sorted(path.name for path in (folder / "out").iterdir()))


MAKEFILE = """
all: parcels worker
include $(shell pkg-config --variable=pkgdatadir culex)/culex.mk
parcels worker: %: %.o gen/parcels_job.o
\t$(CXX) $(LDFLAGS) -o $@ $^ $(CULEX_LIBS)
%.o: %.cc | $(CULEX_HEADERS) $(CULEX_CPP_HEADERS)
\t$(CXX) -std=c++17 $(CPPFLAGS) -MMD -MP -c -o $@ $<
"""


def make_cpp_check(repository: pathlib.Path, scratch: pathlib.Path, env: dict) -> None:
    """The rules for make generate C++ where an object waits for it, and once."""
    folder = scratch / "parcels"
    shutil.copytree(repository / "examples/parcels", folder)
    (folder / "Makefile").write_text(MAKEFILE)
    said = run("make", cwd=folder, env=env)
    expect("calls of the plug-in", 1, said.count("--plugin cpp"))
    expect("a second make", "make: Nothing to be done for 'all'.\n", run("make", cwd=folder, env=env))
    expect("usage", "usage: parcels", run("./parcels", cwd=folder, env=env, status=2)[:14])
    run("make", "-B", "gen/parcels_job.hpp", "CULEX_CPP_FLAGS=--option namespace=acme::work", cwd=folder, env=env)
    expect("a namespace", True, "namespace acme::work::post\n" in (folder / "gen/parcels_job.hpp").read_text())


def main() -> None:
    repository, build = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = staging_check(build, scratch)
        env = environment(prefix)
        version = re.search(r"^  version: '([\d.]+)'", (repository / "meson.build").read_text(), re.M).group(1)
        symbols_check(prefix, version)
        version_check(repository, scratch, env, version)
        programs_check(repository, scratch, env, "culex")
        plugins_check(repository, scratch, env)
        if shutil.which("c++"):
            make_cpp_check(repository, scratch, env)
        # The linker prefers the shared library as long as it is there. Debian's sqlite3.pc wants zlib
        # then, which its package does not bring.
        for path in (prefix / "lib").glob("libculex.so*"):
            path.unlink()
        programs_check(repository, scratch, env, "--static culex")
        for variable, path in {"culexc": "bin/culexc", "bindir": "bin", "datadir": "share",
                               "pkgdatadir": "share/culex"}.items():
            shown = run("pkg-config", f"--variable={variable}", "culex", env=env).strip()
            expect(variable, (prefix / path).resolve(),
                   pathlib.Path(shown.replace("\\", "")).resolve())
    # The build folder itself will do, as in `meson devenv`.
    env["PKG_CONFIG_PATH"] = f"{build}/meson-uninstalled"
    said = run(run("pkg-config", "--variable=culexc", "culex", env=env).strip(), "--version")
    expect("the compiler that is not installed", True, said.startswith("culexc "))
    print("the installed tree exports what its headers declare, and works where it is put")


if __name__ == "__main__":
    main()
