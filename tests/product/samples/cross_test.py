"""Cross builds for 64-bit ARM: programs and libculex are for the other machine, and what runs
while building is for this one.

usage: cross_test.py REPOSITORY BUILD

SQLite, hiredis, libinih and libyaml for the other machine are stand-ins here: headers of this one, and libraries
that have the names and do nothing. So everything is compiled and linked, and nothing is run.
"""
import pathlib
import re
import shutil
import sys
import tempfile

from project import Project, culex_copy
from installed import environment, expect, fail, prefix_copy, run

TRIPLE = "aarch64-linux-gnu"
PROGRAMS = ("enqueue", "worker", "host", "plugin_a.so", "plugin_b.so")


def machine(path: pathlib.Path) -> str:
    """From the head of an ELF file: 183 is AArch64."""
    return "target" if int.from_bytes(path.read_bytes()[18:20], "little") == 183 else "build"


def stand_ins(build: pathlib.Path, root: pathlib.Path) -> None:
    (root / "lib/pkgconfig").mkdir(parents=True)
    shutil.copytree("/usr/include/hiredis", root / "include/hiredis")
    shutil.copy("/usr/include/sqlite3.h", root / "include")
    shutil.copy("/usr/include/yaml.h", root / "include")
    shutil.copy("/usr/include/ini.h", root / "include")
    archives = ("runtime/libculex.a", "codegen/project/libproject.a")
    wanted = {name for archive in archives for name in re.findall(r" U (\w+)", run("nm", "-u", build / archive))}
    for name, names, version in (("sqlite3", "sqlite3_", "3.40.0"),
                                 ("hiredis", "redis[A-Z]|freeReplyObject", "1.0.0"),
                                 ("inih", "ini_", "55"),
                                 ("yaml", "yaml_", "0.2.5")):
        code = "".join(f"void {symbol}(void);\nvoid {symbol}(void) {{}}\n"
                       for symbol in sorted(wanted) if re.match(names, symbol))
        if not code:
            fail(f"nothing of {name} is wanted")
        (root / f"{name}.c").write_text(code)
        run(f"{TRIPLE}-gcc", "-shared", "-fPIC", "-o", root / f"lib/lib{name}.so", root / f"{name}.c")
        pc = "yaml-0.1" if name == "yaml" else name
        (root / f"lib/pkgconfig/{pc}.pc").write_text(
            f"Name: {name}\nDescription: stand-in\nVersion: {version}\n"
            f"Libs: -L{root}/lib -l{name}\nCflags: -isystem {root}/include\n")


def cross_file(path: pathlib.Path, pkg_config_path: str) -> None:
    path.write_text(f"""[binaries]
c = '{TRIPLE}-gcc'
ar = '{TRIPLE}-ar'
strip = '{TRIPLE}-strip'
pkgconfig = 'pkg-config'
pkg-config = 'pkg-config'
[properties]
pkg_config_libdir = '{pkg_config_path}'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
""")


def programs_check(what: str, out: pathlib.Path) -> None:
    expect(what, {name: "target" for name in PROGRAMS},
           {name: machine(out / name) for name in PROGRAMS})


class Cross:
    def __init__(self, repository: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path) -> None:
        self.repository, self.scratch = repository, scratch
        self.root = scratch / "root"
        stand_ins(build, self.root)
        self.native = prefix_copy(build, scratch / "native")
        self.env = environment(self.native)
        del self.env["PKG_CONFIG_PATH"], self.env["CMAKE_PREFIX_PATH"]

    def project(self, name: str, files: str, **more) -> Project:
        env = dict(self.env, **more)
        return Project(self.scratch / name, "my project", env, files, python=sys.executable,
                       compiler=f"{TRIPLE}-gcc")

    def meson_subproject(self) -> None:
        """Everything in one build: culexc for here, libculex for there."""
        project = self.project("meson", "meson")
        del project.env["CC"]
        culex_copy(self.repository, project.source / "subprojects/culex")
        shutil.copy(self.repository / "integration/culex.wrap", project.source / "subprojects")
        cross_file(self.scratch / "cross.ini", f"{self.root}/lib/pkgconfig")
        project.run("meson", "setup", "--werror", "--force-fallback-for=culex",
                    "--cross-file", self.scratch / "cross.ini", "-Dprefix=/usr", "-Dpkgconfig.relocatable=true", project.out)
        project.run("ninja", "-C", project.out)
        programs_check("Meson, subproject", project.out)
        culex = project.out / "subprojects/culex"
        expect("culexc that runs", "build", machine(culex / "codegen/cli/culexc"))
        expect("culexc to install", "target", machine(culex / "codegen/cli/target/culexc"))
        self.target = self.scratch / "target"
        self.env["DESTDIR"] = str(self.scratch / "dest")
        run("meson", "install", "-C", project.out, "--no-rebuild", "--quiet", env=self.env)
        del self.env["DESTDIR"]
        (self.scratch / "dest/usr").rename(self.target)
        expect("culexc installed", "target", machine(self.target / "bin/culexc"))
        found = list(self.target.rglob("libculex.so.*.*"))
        expect("libculex installed", ["target"], [machine(path) for path in found])
        self.libdir = found[0].parent

    def meson_installed(self) -> None:
        """The .pc file names a culexc that cannot run here: PATH has one that can."""
        project = self.project("meson2", "meson")
        del project.env["CC"]
        cross_file(self.scratch / "cross2.ini",
                   f"{self.libdir}/pkgconfig:{self.root}/lib/pkgconfig")
        project.run("meson", "setup", "--cross-file", self.scratch / "cross2.ini", project.out)
        project.run("ninja", "-C", project.out)
        programs_check("Meson, installed", project.out)
        expect("culexc that Meson takes", True,
               f"{self.native}/bin/culexc" in (project.out / "build.ninja").read_text())

    def toolchain(self) -> list:
        path = self.scratch / "toolchain.cmake"
        path.write_text(f"""set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER {TRIPLE}-gcc)
set(CMAKE_FIND_ROOT_PATH "{self.target}")
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,{self.root}/lib")
""")
        return ["cmake", "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={path}", "-S", "."]

    def cmake_installed(self) -> None:
        """In CMAKE_PREFIX_PATH stands a culexc that cannot run here."""
        project = self.project("cmake", "cmake")
        del project.env["CC"]
        setup = [*self.toolchain(), f"-DCMAKE_PREFIX_PATH={self.target}", "-B"]
        path = project.env["PATH"]
        project.env["PATH"] = path.replace(f"{self.native}/bin:", "")
        if shutil.which("culexc") is None:
            said = " ".join(project.run(*setup, project.out, status=1).split())
            for remedy in ("put it into the PATH", "set CULEX_CULEXC_EXECUTABLE"):
                expect(f"a cross build without culexc says: {remedy}", True, remedy in said)
        told = self.scratch / "told"
        project.run(*setup, told, f"-DCULEX_CULEXC_EXECUTABLE={self.native}/bin/culexc")
        project.run("ninja", "-C", told)
        programs_check("CMake, told", told)
        project.env["PATH"] = path
        project.run(*setup, self.scratch / "found")
        cache = (self.scratch / "found/CMakeCache.txt").read_text()
        expect("culexc that CMake takes", [f"{self.native}/bin/culexc"],
               re.findall(r"^CULEX_CULEXC_EXECUTABLE\S*=(.*)$", cache, re.M))

    def cmake_subdirectory(self) -> None:
        project = self.project("cmake2", "cmake",
                               PKG_CONFIG_LIBDIR=f"{self.root}/lib/pkgconfig")
        del project.env["CC"]
        culex_copy(self.repository, project.source / "third_party/culex")
        project.run(*self.toolchain(), "-B", project.out)
        project.run("ninja", "-C", project.out)
        programs_check("CMake, subdirectory", project.out)
        expect("a culexc for the other machine", False,
               (project.out / "third_party/culex/culexc").exists())

    def make_and_shell(self) -> None:
        """Both take the names from the environment, as is usual for them."""
        for name, words in {"make": ["make", "-j8", "OUT=../out"],
                            "shell": ["sh", "build.sh", "../my out"]}.items():
            project = self.project(name, name, CULEXC=f"{self.native}/bin/culexc",
                                   PKG_CONFIG_LIBDIR=f"{self.libdir}/pkgconfig:{self.root}/lib/pkgconfig",
                                   LDFLAGS=f"-Wl,-rpath-link,{self.root}/lib")
            project.env["CC"] += f" -Wl,-rpath-link,{self.root}/lib"
            project.run(*words)
            programs_check(name, project.out)


def main() -> None:
    repository, build = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        cross = Cross(repository, build, pathlib.Path(folder))
        cross.meson_subproject()
        cross.meson_installed()
        cross.cmake_installed()
        cross.cmake_subdirectory()
        cross.make_and_shell()
    print("cross builds of all kinds are compiled and linked for the other machine")


if __name__ == "__main__":
    main()
