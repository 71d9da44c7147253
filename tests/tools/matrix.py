"""Builds and tests Culex with other compilers, servers and C libraries: the rows of docs/support.md.

usage: matrix.py [CELL...]        runs the cells (all without a name) and prints a row for each
       matrix.py --list           prints the names of the cells
       matrix.py --check PAGE     tells whether PAGE has a row for each cell, and no other

A cell is a minimal Debian with a few packages. It is made by debootstrap below build-matrix/ and
kept there, so that the second time costs the build and the tests alone. Needs root, debootstrap and
the package servers. The committed state is what is tested. What Debian does not have is printed as
not available, never as passed. Exit code 1 when a cell failed.
"""
import pathlib
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HOME = REPOSITORY / "build-matrix"
NEEDED = ("g++ libc6-dev meson ninja-build pkg-config re2c python3 python3-jinja2 libhiredis-dev libinih-dev "
          "libsqlite3-dev libyaml-dev libcmocka-dev liblua5.1-0-dev redis-server ccache file git patch").split()
GENERATED = ["c11", "c17", "c++11", "c++17", "optimised", "unsigned-char"]

# What shows most for its time: the front end, the codec, every verb of both stores.
SHORT = ("front_unit golden_check golden_ir generated_roundtrip text codec_limits conformance_model conformance_sqlite "
         "conformance_memory conformance_redis differential_sqlite differential_redis")


@dataclass(frozen=True)
class Cell:
    name: str
    release: str                  # of Debian
    version: str                  # a command that prints what is tested
    packages: tuple = ()          # beside NEEDED
    stands_for: dict = field(default_factory=dict)  # name of a program: the one that is run
    tests: tuple = (SHORT,)       # arguments of `meson test`, call by call
    setup: str = ""               # shell, before Meson
    variables: dict = field(default_factory=dict)
    architecture: str = "amd64"


def generated(compiler: str) -> str:
    """The code that culexc writes, compiled as strictly as it promises to stand."""
    return " ".join(f"generated_{compiler}_{mode}" for mode in GENERATED)


def gcc(number: int, release: str) -> Cell:
    names = {program: f"{program}-{number}" for program in ("gcc", "g++")}
    return Cell(f"gcc {number}", release, "gcc --version", tuple(names.values()), names,
                (SHORT + " hostile_c_names", generated("gcc")))


def clang(number: int, release: str) -> Cell:
    names = {program: f"{program}-{number}" for program in ("clang", "clang++")}
    return Cell(f"clang {number}", release, "clang --version", (f"clang-{number}",), names,
                (SHORT, generated("clang")),
                variables={"CC": "clang", "CXX": "clang++"})


def server(name: str, release: str, program: str = "redis-server", suite: str = "") -> Cell:
    package = f"{program}/{suite}" if suite else program
    return Cell(name, release, "redis-server --version", (package,),
                {"redis-server": program} if program != "redis-server" else {},
                ("conformance_redis differential_redis differential_redis_faults redis_verbs redis_wake "
                 "redis_doctor redis_permissions redis_since",))


def sqlite(name: str, release: str) -> Cell:
    return Cell(name, release, "pkg-config --modversion sqlite3",
                tests=("conformance_sqlite conformance_memory differential_sqlite", "--suite sqlite"))


CELLS = (
    gcc(11, "bookworm"), gcc(12, "bookworm"), gcc(13, "trixie"), gcc(14, "trixie"), gcc(16, "sid"),
    clang(14, "bookworm"), clang(15, "bookworm"), clang(16, "bookworm"), clang(17, "trixie"),
    clang(18, "trixie"), clang(19, "trixie"), clang(23, "sid"),
    server("Redis 7.0", "bookworm"), server("Redis 8.0", "trixie"),
    server("Valkey 8.0", "bookworm", "valkey-server", "bookworm-backports"),
    server("Valkey 8.1", "trixie", "valkey-server"), server("Valkey 9.1", "sid", "valkey-server"),
    sqlite("SQLite 3.40", "bookworm"), sqlite("SQLite 3.46", "trixie"), sqlite("SQLite 3.53", "sid"),
    Cell("32 bits", "bookworm", "gcc -dumpmachine", architecture="i386"),
    Cell("musl", "trixie", "dpkg-query -W -f '${Version}' musl", ("musl-tools", "linux-libc-dev"),
         setup="sh tests/tools/musl_libraries.sh /opt/musl",
         variables={"CC": "musl-gcc", "CFLAGS": "-isystem /opt/musl/include", "LDFLAGS": "-L/opt/musl/lib",
                    "PKG_CONFIG_LIBDIR": "/opt/musl/lib/pkgconfig"}),
)

# What we say we support, or have been asked for, and no Debian suite has today.
MISSING = {
    "Redis 6.2": "no suite of Debian has it: bullseye has 6.0, bookworm 7.0",
    "SQLite 3.37": "no suite of Debian has it: bullseye has 3.34, bookworm 3.40",
}


# --- roots -----------------------------------------------------------------------------------

class Failed(Exception):
    """Ends a cell; its text is what the row says."""


def root_of(cell: Cell) -> pathlib.Path:
    return HOME / f"root-{cell.release}-{cell.architecture}"


def root_make(cell: Cell, log) -> None:
    """A root is whole when its mark stands in it; half a one is made again."""
    root = root_of(cell)
    if (root / "culex-root").exists():
        return
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    root.parent.mkdir(exist_ok=True)
    made = subprocess.run(["debootstrap", "--variant=minbase", f"--arch={cell.architecture}", cell.release,
                           root], stdout=log, stderr=log, check=False)
    if made.returncode != 0:
        raise Failed(f"not available: no root of {cell.release} for {cell.architecture}")
    (root / "etc/dpkg/dpkg.cfg.d/thrown-away").write_text("force-unsafe-io\n")
    (root / "culex-root").touch()


def inside(cell: Cell, script: str, log) -> subprocess.CompletedProcess:
    """Runs shell text in the root; what it mounts and starts ends with it."""
    enter = ('mount --bind "$1" "$1"; mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; '
             f'exec setarch {"i686" if cell.architecture == "i386" else "x86_64"} chroot "$1" sh -euc "$2"')
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-euc", enter, "sh",
                           root_of(cell), script], stdout=subprocess.PIPE, stderr=log, text=True, check=False)


def packages_install(cell: Cell, log) -> None:
    """Names the first package that the suite does not have."""
    suites = {package.split("/")[1] for package in cell.packages if "/" in package}
    own = (root_of(cell) / "etc/apt/sources.list").read_text()  # of debootstrap: its mirror serves all suites
    lines = "".join(own.replace(f" {cell.release} ", f" {suite} ") for suite in suites)
    (root_of(cell) / "etc/apt/sources.list.d/culex.list").write_text(lines)
    # A mirror that lags behind serves lists of sid that have expired: old, and good enough here.
    (root_of(cell) / "etc/apt/apt.conf.d/90lagging").write_text('Acquire::Check-Valid-Until "false";\n')
    wanted = NEEDED + list(cell.packages)
    done = inside(cell, f"""
        export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
        apt-get -q update >&2
        for package in {' '.join(package.split('/')[0] for package in wanted)}; do
            apt-cache show "$package" >/dev/null 2>&1 || {{ echo "$package"; exit 3; }}
        done
        apt-get -q install -y --no-install-recommends {' '.join(wanted)} >&2""", log)
    if done.returncode == 3:
        raise Failed(f"not available: {cell.release} has no package {done.stdout.strip()}")
    if done.returncode != 0:
        raise Failed("not available: its packages cannot be installed")


def repository_copy(cell: Cell) -> None:
    copy = root_of(cell) / "culex"
    subprocess.run(["rm", "-rf", "--one-file-system", copy], check=True)
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", REPOSITORY, copy], check=True)


# --- cells -----------------------------------------------------------------------------------

def links(cell: Cell) -> str:
    """What stands for gcc, or for redis-server, in this cell; other cells of the root do the same."""
    return "".join(f"ln -sf $(command -v {real}) /usr/bin/{name}\n" for name, real in cell.stands_for.items())


def tests_run(cell: Cell, log) -> str:
    """Builds what the tests need, tests of one call by one call, and returns the counts."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in cell.variables.items())
    calls = "\n".join(f"meson test -C /build --print-errorlogs {arguments} >&2 || status=1\n"
                      "python3 tests/tools/count.py /build/meson-logs" for arguments in cell.tests)
    done = inside(cell, f"""
        cd /culex
        export LANG=C.UTF-8 CCACHE_DIR=/ccache
        {cell.setup}
        rm -rf /build
        {variables} meson setup /build --werror -Dtests=true >&2
        ninja -C /build -k 0 codegen/cli/culexc runtime/libculex.a >&2
        status=0
        {calls}
        exit $status""", log)
    counts = [list(map(int, re.findall(r"\d+", line))) for line in done.stdout.splitlines()
              if re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", line)]
    passed, failed, skipped = map(sum, zip(*counts)) if counts else (0, 0, 0)
    if done.returncode != 0 or failed or not passed:
        raise Failed(f"FAILED: {passed} passed, {failed} failed, {skipped} skipped; see {log.name}")
    return f"{passed} passed, {skipped} skipped"


def cell_run(cell: Cell) -> tuple:
    """What was tested, and how it came out."""
    HOME.mkdir(exist_ok=True)
    with open(HOME / f"{cell.name.replace(' ', '-')}.log", "w", encoding="utf-8") as log:
        version = "-"
        try:
            root_make(cell, log)
            packages_install(cell, log)
            repository_copy(cell)
            version = inside(cell, f"{links(cell)}{cell.version}", log).stdout.split("\n")[0]
            return version, tests_run(cell, log)
        except Failed as failure:
            return version, str(failure)


def row(name: str, where: str, version: str, outcome: str) -> None:
    print(f"| {name} | {where} | {version} | {outcome} |", flush=True)


def matrix_run(names: list) -> int:
    unknown = set(names) - {cell.name for cell in CELLS} - set(MISSING)
    if unknown:
        print(f"matrix.py: no cell {', '.join(sorted(unknown))}; see --list", file=sys.stderr)
        return 2
    status = 0
    for cell in CELLS:
        if not names or cell.name in names:
            version, outcome = cell_run(cell)
            row(cell.name, f"{cell.release}, {cell.architecture}", version, outcome)
            status |= outcome.startswith("FAILED")
    for name, reason in MISSING.items():
        if not names or name in names:
            row(name, "-", "-", f"not available: {reason}")
    return status


def page_check(page: pathlib.Path) -> int:
    """Rows for what is not tested any more, and cells that nobody reads of, are both wrong."""
    rows = set(re.findall(r"^\| ((?:gcc|clang|Redis|Valkey|SQLite) [\d.]+|32 bits|musl) \|", page.read_text(), re.M))
    wrong = rows ^ ({cell.name for cell in CELLS} | set(MISSING))
    for name in sorted(wrong):
        print(f"{page}: {'no cell' if name in rows else 'no row'} '{name}'")
    return 1 if wrong else 0


def main(arguments: list) -> int:
    if arguments[:1] == ["--list"]:
        print("\n".join([cell.name for cell in CELLS] + list(MISSING)))
        return 0
    if arguments[:1] == ["--check"]:
        return page_check(pathlib.Path(arguments[1]))
    return matrix_run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
