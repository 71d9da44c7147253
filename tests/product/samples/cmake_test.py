"""The CMake package refuses what it cannot do, in words that say why; and which versions it is.

usage: cmake_test.py REPOSITORY BUILD
"""
import pathlib
import shutil
import sys
import tempfile

from project import HERE  # noqa: F401 (it finds the next one)
from installed import environment, expect, fail, prefix_copy, run

HEAD = "cmake_minimum_required(VERSION 3.21)\nproject(refused NONE)\n"
FIND = "find_package(culex REQUIRED)\nadd_library(jobs INTERFACE)\n"
REFUSED = {
    "culex_add_jobs(nobody FILES a.job)": "there is no target 'nobody'",
    "culex_add_jobs(jobs)": "no FILES are given",
    "culex_add_jobs(jobs SCOPE INTERFACE FILES)": "no FILES are given",
    "culex_add_jobs(jobs SCOPE SECRET FILES a.job)": "not 'SECRET'",
    "culex_add_jobs(jobs SCOPE PUBLIC FILES a.job)": "compiles nothing, so it needs SCOPE INTERFACE",
    "culex_add_jobs(jobs typo SCOPE INTERFACE FILES a.job)": "cannot make sense of 'typo'",
    "culex_add_jobs(jobs SCOPE INTERFACE FILES a.job b/a.job)": "two files called a.job",
    "culex_add_jobs(jobs SCOPE INTERFACE FILES a.job CPP_ARGS --option namespace=a)": "CPP_ARGS are for CPP",
}
# What is asked for, and whether 0.1.0 will do.
VERSIONS = {"": True, "0": True, "0.1": True, "0.1.0": True, "0.1.1": False, "0.2": False,
            "1": False, "0.0.9": False, "0.1.0 EXACT": True, "0.1...0.3": True, "0.0.1...1": True,
            "0.2...1": False, "0.0.1...<0.1.0": False, "0.0.1...0.1.0": True}


# A library of headers, and FILES from elsewhere with an argument for gen.
BUILT = """
enable_language(C)
find_package(culex REQUIRED)
add_library(api INTERFACE)
culex_add_jobs(api SCOPE INTERFACE FILES {hello}/hello.job ARGS --export-macro HELLO_API)
target_compile_definitions(api INTERFACE HELLO_API=)
foreach(program enqueue worker)
  add_executable(${{program}} {hello}/${{program}}.c)
  target_link_libraries(${{program}} PRIVATE api)
endforeach()
"""


def built(folder: pathlib.Path, env: dict, hello: pathlib.Path) -> None:
    env = dict(env, CULEX_URL=f"sqlite:{folder}/jobs.db", CULEX_LOG_LEVEL="error")
    for is_static in (False, True):
        choice = f"set(CULEX_USE_STATIC_LIBS {is_static})\n"
        configured(folder, env, choice + BUILT.format(hello=hello))
        run("cmake", "--build", folder / "out", env=env)
        expect(f"static {is_static}", is_static,
               "libculex" not in run("ldd", folder / "out/worker", env=env))
        run(folder / "out/enqueue", env=env)
        expect("worker", "Hello, world!\n", run(folder / "out/worker", "--drain", env=env))


# A producer with the library for producers alone.
PRODUCER = """
enable_language(C)
find_package(culex REQUIRED)
add_executable(enqueue {hello}/enqueue.c)
culex_add_jobs(enqueue LIBRARY culex::client_sqlite FILES {hello}/hello.job)
"""


def producer(folder: pathlib.Path, env: dict, hello: pathlib.Path) -> None:
    env = dict(env, CULEX_URL=f"sqlite:{folder}/produced.db")
    for is_static in (False, True):
        choice = f"set(CULEX_USE_STATIC_LIBS {is_static})\n"
        configured(folder, env, choice + PRODUCER.format(hello=hello))
        run("cmake", "--build", folder / "out", env=env)
        needed = run("ldd", folder / "out/enqueue", env=env)
        expect(f"static {is_static}", (not is_static, False), ("libculex-client-sqlite" in needed, "hiredis" in needed))
        run(folder / "out/enqueue", env=env)


# C++ of the same schema, in the C of a library that the program links.
CPP = """
enable_language(C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(culex REQUIRED)
add_library(jobs STATIC)
culex_add_jobs(jobs SCOPE PUBLIC FILES {parcels}/parcels.job CPP)
foreach(program parcels worker)
  add_executable(${{program}} {parcels}/${{program}}.cc)
  target_link_libraries(${{program}} PRIVATE jobs)
endforeach()
"""


def cpp(folder: pathlib.Path, env: dict, parcels: pathlib.Path) -> None:
    env = dict(env, CULEX_URL=f"sqlite:{folder}/parcels.db", CULEX_LOG_LEVEL="error")
    configured(folder, env, CPP.format(parcels=parcels))
    run("cmake", "--build", folder / "out", env=env)
    id = run(folder / "out/parcels", "pack", "Ann", "pen=20", "ink=1", env=env).strip()
    run(folder / "out/worker", "--drain", env=env)
    expect("a label", "Ann, 21 g\n", run(folder / "out/parcels", "label", id, env=env))


# Each header by a call of its own, and all of them in the namespace that is asked for.
SPACED = """
enable_language(C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(culex REQUIRED)
add_library(jobs STATIC use.cc)
culex_add_jobs(jobs FILES p.job q.job CPP CPP_ARGS --option namespace=acme::work)
"""
USE = '#include "p_job.hpp"\n#include "q_job.hpp"\nstatic_assert(sizeof(acme::work::{}) > 0, "");\n'


def spaced(folder: pathlib.Path, env: dict) -> None:
    (folder / "p.job").write_text("job mail;\n")
    (folder / "q.job").write_text("package post;\njob send { params { int32 x; } }\n")
    (folder / "use.cc").write_text(USE.format("post::send"))
    configured(folder, env, SPACED)
    run("cmake", "--build", folder / "out", env=env)
    (folder / "q.job").write_text("package mail;\njob send { params { int32 x; } }\n")
    said = run("cmake", "--build", folder / "out", env=env, status=2)
    expect("a package and a job of one name", True, "p.job:1:1: error: 'mail' is acme::work::mail in C++" in said)


FETCHED = """
enable_language(C)
include(FetchContent)
FetchContent_Declare(culex SOURCE_DIR {repository})
FetchContent_MakeAvailable(culex)
add_library(jobs STATIC)
culex_add_jobs(jobs FILES {repository}/examples/hello/hello.job)
"""


# A linker takes one of two members of a static library without a word.
CLASHING = """
enable_language(C)
find_package(culex REQUIRED)
add_library(jobs STATIC)
culex_add_jobs(jobs FILES p.job r.job)
culex_add_jobs(jobs FILES q.job)
"""


def clashing(folder: pathlib.Path, env: dict) -> None:
    for name, text in {"p": "job j { params { int32 a; } }", "q": "job j { params { string s; } }", "r": "job k;"}.items():
        (folder / f"{name}.job").write_text(text + "\n")
    configured(folder, env, CLASHING)
    said = run("cmake", "--build", folder / "out", env=env, status=2)
    for place in ("q.job:1:5: error: another file has 'j' too", "p.job:1:5: note: 'j' is here"):
        expect(place, True, place in said)
    (folder / "q.job").write_text("job j2 { params { string s; } }\n")
    run("cmake", "--build", folder / "out", env=env)
    (folder / "p.job").write_text("job j2;\n")  # The later call's file is known to the first one, too.
    said = run("cmake", "--build", folder / "out", env=env, status=2)
    expect("both places", True, "p.job:1:5: " in said and "q.job:1:5: " in said and "'j2_job'" in said)


def configured(folder: pathlib.Path, env: dict, text: str, status: int = 0) -> str:
    (folder / "CMakeLists.txt").write_text(HEAD + text)
    return " ".join(run("cmake", "-S", folder, "-B", folder / "out", env=env, status=status).split())


def main() -> None:
    build = pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = environment(prefix_copy(build, folder / "prefix"))
        for call, words in REFUSED.items():
            said = configured(folder, env, FIND + call, status=1)
            if f"culex_add_jobs: " not in said or words not in said:
                fail(f"{call} says: {said}")
        for wanted, is_found in VERSIONS.items():
            said = configured(folder, env, f"find_package(culex {wanted} QUIET)\n"
                              f'message("found: ${{culex_FOUND}} ${{culex_VERSION}}")\n')
            expect(f"version {wanted}", "found: 1 0.1.0" if is_found else "found: 0",
                   "found: 1 0.1.0" if "found: 1 0.1.0" in said else "found: 0")
        built(folder, env, pathlib.Path(sys.argv[1]) / "examples/hello")
        producer(folder, env, pathlib.Path(sys.argv[1]) / "examples/hello")
        clashing(folder, env)
        if shutil.which("c++"):
            cpp(folder, env, pathlib.Path(sys.argv[1]) / "examples/parcels")
            spaced(folder, env)
        configured(folder, env, FETCHED.format(repository=sys.argv[1]))
        (folder / "prefix/bin/culexc").unlink()
        said = configured(folder, env, "find_package(culex REQUIRED)", status=1)
        expect("a compiler that is gone", True, "set CULEX_CULEXC_EXECUTABLE" in said)
    print(f"{len(REFUSED)} calls are refused, {len(VERSIONS)} versions are told apart")


main()
