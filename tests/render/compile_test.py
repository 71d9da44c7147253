"""Compiles generated files without one warning.

    python3 compile_test.py COMPILER MODE [--probe] FOLDER...

MODE is a key of MODES. Every .c file of the folders is compiled, and every header
alone, as an application would include it. With --probe it only says on stdout why
this toolchain cannot do that; nothing means that it can.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from typing import List

from rendering import HERE, INCLUDE

COMMON = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow",
          "-Wcast-qual", "-Werror"]
C_ONLY = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wc++-compat", "-Wwrite-strings", "-Wundef",
          "-Wredundant-decls"]
CXX_ONLY = ["-x", "c++", "-Wold-style-cast"]

# Without the C library's headers for 32 bits the two that generated code needs come from here.
STAND_INS = ["-ffreestanding", "-isystem", os.path.join(HERE, "freestanding")]

MODES = {
    "c11": ["-std=c11", *C_ONLY],
    "c17": ["-std=c17", *C_ONLY],
    "c23": ["-std=c2x", *C_ONLY],
    "c++11": [*CXX_ONLY, "-std=c++11"],
    "c++17": [*CXX_ONLY, "-std=c++17"],
    "optimised": ["-std=c11", "-O2", *C_ONLY],
    "short-enums": ["-std=c11", "-fshort-enums", *C_ONLY],
    "trigraphs": ["-std=c11", "-trigraphs", *C_ONLY],
    "unsigned-char": ["-std=c11", "-funsigned-char", *C_ONLY],
    "32-bit": ["-std=c11", "-m32", *STAND_INS, *C_ONLY],
    "32-bit-c++": [*CXX_ONLY, "-std=c++11", "-m32", *STAND_INS],
}

# C and C++ must agree on these, or a struct passed between them is read wrongly.
SIZES = """
#include <assert.h>
#include "bare_job.h"
#include "kinds_job.h"
static_assert(sizeof(tick_job) == 1 && sizeof(blank) == 1, "a struct without fields");
static_assert(sizeof(colour) == sizeof(int16_t), "an enum is its base type");
"""

# Generated code is quiet about what it deprecates; an application that uses it is told.
DEPRECATED = """
#include "enums_job.h"
int use_old(void);
int use_old(void) { return LANG_OLD; }
"""


def compile_one(compiler: str, mode: str, folders: List[str], source: str) -> str:
    """What the compiler says; nothing when it is content."""
    includes = [f"-I{folder}" for folder in [INCLUDE, *folders]]
    command = [compiler, *MODES[mode], *COMMON, *includes, "-c", source, "-o", os.devnull]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", timeout=120, check=False)
    return result.stdout if result.returncode != 0 or result.stdout else ""


def compile_text(compiler: str, mode: str, folders: List[str], text: str) -> str:
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "probe.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(text)
        return compile_one(compiler, mode, folders, source)


def probe(compiler: str, mode: str) -> str:
    if shutil.which(compiler) is None:
        return f"no {compiler}"
    lacking = compile_text(compiler, mode, [], "#include <string.h>\nint probed(void);\n")
    return f"{compiler} cannot compile for it" if lacking else ""


def main(compiler: str, mode: str, *rest: str) -> int:
    if "--probe" in rest:
        print(probe(compiler, mode), end="")
        return 0
    folders = list(rest)
    names = sorted((name, folder) for folder in folders for name in os.listdir(folder))
    complaints = []
    for name, folder in names:
        if name.endswith(".c"):
            complaints.append(compile_one(compiler, mode, folders, os.path.join(folder, name)))
        else:
            complaints.append(compile_text(compiler, mode, folders, f'#include "{name}"\n'))
    if "-ffreestanding" not in MODES[mode]:
        complaints.append(compile_text(compiler, mode, folders, SIZES))
        told = compile_text(compiler, mode, folders, DEPRECATED)
        complaints.append("" if "gone" in told else f"LANG_OLD is not deprecated: {told}")
    print("\n".join(complaint for complaint in complaints if complaint)[:20000])
    failed = sum(1 for complaint in complaints if complaint)
    print(f"{len(complaints)} compilations, {failed} of them not clean")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
