"""Builds generated code and the runtime's codec for another target, and runs them there.

    python3 targets_test.py COMPILER TARGET [--probe]

TARGET is a key of TARGETS. What a target lacks of the runtime's libraries is not needed:
base and core stand on the C library alone, and standin/cmocka.h takes cmocka's place. With
--probe it only says on stdout why this machine cannot do that; nothing means that it can.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tempfile
from typing import List, Tuple

from rendering import GOLDEN, HERE, INCLUDE, M32, ROOT, write
from samples import essay

RUNTIME = os.path.join(ROOT, "runtime")
CODEC = os.path.join(ROOT, "tests", "parts", "codec")
SAMPLE = os.path.join(GOLDEN, "sample")
FEATURE = os.path.join(GOLDEN, "feature")

# What the library is compiled with, and the application: what they share must fit all the same.
TARGETS = {
    "32-bit": ([*M32, "-O2"], [*M32, "-O2"]),
    "32-bit-short-enums": ([*M32, "-fshort-enums"], [*M32, "-fshort-enums"]),
    "short-enums": (["-fshort-enums"], ["-fshort-enums"]),
    "short-enums-application": ([], ["-fshort-enums"]),
    "short-enums-library": (["-fshort-enums"], []),
    "unsigned-char": (["-funsigned-char"], ["-funsigned-char"]),
}

COMMON = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
          "-I" + os.path.join(HERE, "standin"), "-I" + RUNTIME, "-I" + INCLUDE, "-I" + SAMPLE, "-I" + FEATURE,
          "-I" + os.path.join(ROOT, "schemas", "feature"), "-I."]

PROGRAMS = [
    ("roundtrip", [os.path.join(HERE, "roundtrip_test.c"),
                   *(os.path.join(SAMPLE, f"{stem}_job.c") for stem in ("defaults", "enums", "structs")),
                   os.path.join(FEATURE, "own_types_job.c"), "essay_job.c"],
     []),
    ("codec", [*(os.path.join(CODEC, name) for name in ("test_codec.c", "kitchen.c", "workbench.c")),
               os.path.join(HERE, "descriptor_layout.c")],
     []),
    ("property", [os.path.join(CODEC, name) for name in ("property_codec.c", "schema.c")],
     ["--cases=1000"]),
]


def run(command: List[str], place: str) -> Tuple[int, str]:
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", timeout=120, check=False, cwd=place)
    return result.returncode, result.stdout


def probe(compiler: str, target: str) -> str:
    if shutil.which(compiler) is None:
        return f"no {compiler}"
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "probe.c"), "w", encoding="ascii") as file:
            file.write("#include <errno.h>\n#include <math.h>\n#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
        flags = TARGETS[target][1]
        if run([compiler, *flags, "probe.c", "-lm", "-o", "probe"], place)[0] != 0:
            return f"{compiler} cannot link for it"
        try:
            return "" if run(["./probe"], place)[0] == 0 else "its programs do not run here"
        except OSError:
            return "its programs do not run here"


def build_and_run(compiler: str, target: str, place: str) -> bool:
    library, application = TARGETS[target]
    write(essay(), place)
    sources = sorted(glob.glob(os.path.join(RUNTIME, "base", "*.c"))
                     + glob.glob(os.path.join(RUNTIME, "core", "*.c")))
    status, said = run([compiler, *COMMON, *library, "-c", *sources], place)
    objects = [os.path.basename(source)[:-1] + "o" for source in sources]
    for name, parts, arguments in PROGRAMS:
        if status == 0:
            status, said = run([compiler, *COMMON, *application, *parts, *objects, "-lm", "-o", name], place)
        if status == 0:
            status, said = run([f"./{name}", *arguments], place)
            print(f"{name}: {said}", end="")
    print("" if status == 0 else said)
    return status == 0


def main(compiler: str, target: str, *rest: str) -> int:
    if "--probe" in rest:
        print(probe(compiler, target), end="")
        return 0
    with tempfile.TemporaryDirectory() as place:
        return 0 if build_and_run(compiler, target, place) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
