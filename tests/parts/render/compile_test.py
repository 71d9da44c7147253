"""Compiles generated files without one warning.

    python3 compile_test.py COMPILER MODE [--probe] FOLDER...

MODE is a key of MODES. Every .c file of the folders is compiled; each includes its own
header before anything else, as an application would. With --probe it only says on stdout
why this toolchain cannot do that; nothing means that it can.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, List

from rendering import INCLUDE, M32

COMMON = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow",
          "-Wcast-qual", "-Wdouble-promotion", "-Werror"]
C_ONLY = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wc++-compat", "-Wwrite-strings", "-Wundef",
          "-Wredundant-decls"]
CXX_ONLY = ["-x", "c++", "-Wold-style-cast"]

# All that clang knows, without
EVERYTHING = [
    "-Weverything",
    "-Wno-unknown-warning-option",  # what follows has names that clang learned over the years
    "-Wno-padded",                  # the order of members is the schema's
    "-Wno-pre-c11-compat",          # C11 is what is generated, for each of these four
    "-Wno-pre-c23-compat",
    "-Wno-pre-c2x-compat",
    "-Wno-c++98-compat-pedantic",
    "-Wno-cast-function-type-strict",  # a handler is kept as void (*)(void), cast back to be called
]
EVERYTHING_CXX = [
    *EVERYTHING,
    "-Wno-zero-as-null-pointer-constant",  # C has NULL and no nullptr
]

MODES = {
    "c11": ["-std=c11", *C_ONLY],
    "c17": ["-std=c17", *C_ONLY],
    "c23": ["-std=c2x", *C_ONLY],
    "c++11": [*CXX_ONLY, "-std=c++11"],
    "c++17": [*CXX_ONLY, "-std=c++17"],
    "c++20": [*CXX_ONLY, "-std=c++20"],
    "optimised": ["-std=c11", "-O2", *C_ONLY],
    "optimised-c++": [*CXX_ONLY, "-std=c++11", "-O2"],
    "short-enums": ["-std=c11", "-fshort-enums", *C_ONLY],
    "trigraphs": ["-std=c11", "-trigraphs", *C_ONLY],
    "unsigned-char": ["-std=c11", "-funsigned-char", *C_ONLY],
    "32-bit": ["-std=c11", *M32, *C_ONLY],
    "32-bit-short-enums": ["-std=c11", *M32, "-fshort-enums", *C_ONLY],
    "32-bit-c++": [*CXX_ONLY, "-std=c++11", *M32],
    "everything": ["-std=c11", *EVERYTHING],
    "everything-c23": ["-std=c2x", *EVERYTHING],
    "everything-c++": ["-x", "c++", "-std=c++20", *EVERYTHING_CXX],
}

# C and C++ must agree on these, or a struct passed between them is read wrongly; and every mode,
# or an application and a library that were not compiled alike do so.
SIZES = """
#include <assert.h>
#include <culex/maintain.h>
#include "bare_job.h"
#include "kinds_job.h"
static_assert(sizeof(tick_job) == 1 && sizeof(blank) == 1, "a struct without fields");
static_assert(sizeof(colour) == sizeof(int16_t), "an enum is as large as its base type");
typedef struct coloured { char before; colour colour_; } coloured;
static_assert(offsetof(coloured, colour_) == 2, "and aligned as that");
static_assert(sizeof(culex_int128) == 16 && offsetof(culex_int128, hi) == 8, "low half first");
static_assert(sizeof(culex_uint128) == 16 && offsetof(culex_uint128, hi) == 8, "low half first");
static_assert(sizeof(culex_time) == 8 && sizeof(culex_duration) == 8, "nanoseconds");
static_assert(sizeof(culex_uuid) == 16 && sizeof(bool) == 1, "bytes");
static_assert(sizeof(culex_kind) == 4 && sizeof(culex_shape) == 4, "in descriptors");
static_assert(sizeof(culex_backoff_kind) == 4 && sizeof(culex_jitter_kind) == 4, "in descriptors");
static_assert(sizeof(culex_status) == 4 && sizeof(culex_outcome) == 4, "what functions return");
static_assert(sizeof(culex_run_state) == 4 && sizeof(culex_severity) == 4, "in results");
static_assert(sizeof(culex_isolation) == 4 && sizeof(culex_log_format) == 4, "in options");
"""

# Generated code is quiet about what it deprecates; an application that uses it is told.
DEPRECATED = """
#include "enums_job.h"
int use_old(void);
int use_old(void) { return LANG_OLD; }
"""


def include(folder: str) -> str:
    """What a program brings itself, for its own types, is not what is looked at."""
    is_generated = any(name.endswith("_job.h") for name in os.listdir(folder))
    return f"-I{folder}" if is_generated else f"-isystem{folder}"


def compile_all(compiler: str, mode: str, folders: List[str], sources: List[str], place: str) -> str:
    """What the compiler says about the sources; nothing when it is content."""
    includes = [f"-I{INCLUDE}", *map(include, folders)]
    # Some warnings come from the optimiser only, the others do not wait for it.
    only = ["-c"] if "-O2" in MODES[mode] else ["-fsyntax-only"]
    command = [compiler, *MODES[mode], *COMMON, *includes, *only, *sources]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", timeout=240, check=False, cwd=place)
    return result.stdout or ("" if result.returncode == 0 else f"{compiler} failed")


def written(place: str, texts: Dict[str, str]) -> List[str]:
    for name, text in texts.items():
        with open(os.path.join(place, name), "w", encoding="ascii") as file:
            file.write(text)
    return [os.path.join(place, name) for name in texts]


def probe(compiler: str, mode: str) -> str:
    if shutil.which(compiler) is None:
        return f"no {compiler}"
    with tempfile.TemporaryDirectory() as place:
        # No header of ours: what is wrong with one must not look like a compiler that lacks something.
        sources = written(place, {"probe.c": "#include <string.h>\n#ifdef __cplusplus\n"
                                            "#include <exception>\n#endif\nint probed(void);\n"})
        lacking = compile_all(compiler, mode, [], sources, place)
    return f"{compiler} cannot compile for it" if lacking else ""


def sources_of(folders: List[str]) -> List[str]:
    return [os.path.abspath(os.path.join(folder, name)) for folder in folders
            for name in sorted(os.listdir(folder)) if name.endswith(".c")]


def includes_itself_first(source: str) -> bool:
    with open(source, encoding="utf-8") as file:
        first = re.search(r'^#include [<"](.*)[>"]$', file.read(), re.MULTILINE)
    return first is not None and first.group(1) == os.path.basename(source)[:-1] + "h"


def main(compiler: str, mode: str, *rest: str) -> int:
    if "--probe" in rest:
        print(probe(compiler, mode), end="")
        return 0
    folders = [os.path.abspath(folder) for folder in rest]
    sources = sources_of(folders)
    complaints = [f"{source}: does not include its header first" for source in sources
                  if not includes_itself_first(source)]
    with tempfile.TemporaryDirectory() as place:
        sizes, deprecated = written(place, {"sizes.c": SIZES, "deprecated.c": DEPRECATED})
        complaints.append(compile_all(compiler, mode, folders, [*sources, sizes], place))
        told = compile_all(compiler, mode, folders, [deprecated], place)
        complaints.append("" if "gone" in told else f"LANG_OLD is not deprecated: {told}")
    failed = [complaint for complaint in complaints if complaint]
    print("\n".join(failed)[:20000])
    print(f"{len(sources)} files, {'not ' if failed else ''}clean")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
