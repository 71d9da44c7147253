"""How fast culexc is, each beside something of the same minute that a build does anyway.

usage: bench_compiler.py CULEXC INCLUDE
Prints NAME PRODUCT FLOOR UNIT a line, as the other benchmarks do; times are the best of some runs.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import big_schema

CULEXC, INCLUDE = sys.argv[1:]


def run(*command) -> tuple[float, int]:
    """Seconds and the peak of resident memory in KiB of one run."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        taken = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"bench: {command} failed")
    return taken, usage.ru_maxrss


def best_ms(count: int, *command) -> float:
    return 1e3 * min(run(*command)[0] for _ in range(count))


def generate_ms(count: int, out: pathlib.Path, *files) -> float:
    """Without anything that is there from before."""
    times = []
    for _ in range(count):
        shutil.rmtree(out, ignore_errors=True)
        times.append(run(CULEXC, "gen", "--out", out, *files)[0])
    return 1e3 * min(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        big, small, out = work / "big.job", work / "small.job", work / "out"
        big_schema.write(big, 1000)
        big_schema.write(small, 1)
        print("check-1000-jobs", best_ms(10, CULEXC, "check", big), best_ms(10, "cat", big),
              "ms,-beside-cat")
        generate = generate_ms(3, out, big)
        compiled = best_ms(2, "cc", "-O2", "-c", "-I", INCLUDE, out / "big_job.c", "-o", work / "o")
        print("gen-1000-jobs", generate, compiled, "ms,-beside-cc-O2-of-its-output")
        print("gen-1000-jobs-unchanged", best_ms(10, CULEXC, "gen", "--out", out, big),
              best_ms(10, CULEXC, "check", big), "ms,-beside-check")
        many = [work / f"m{n}.job" for n in range(100)]
        for path in many:
            big_schema.write(path, 10, path.stem)
        print("gen-100-files-of-10-jobs", generate_ms(3, out, *many), compiled,
              "ms,-beside-cc-O2-of-as-many-jobs")
        print("gen-100-files-unchanged", best_ms(10, CULEXC, "gen", "--out", out, *many),
              best_ms(10, CULEXC, "check", *many), "ms,-beside-check")
        start = best_ms(10, "python3", "-I", "-c", "import json, re, enum, typing, dataclasses")
        print("gen-small-file", generate_ms(10, out, small), start,
              "ms,-beside-the-start-of-python3")
        for jobs in (500, 1000, 2000):
            big_schema.write(big, jobs)
            print(f"check-{jobs}-jobs-memory", run(CULEXC, "check", big)[1] / jobs, 0, "KiB-a-job,-peak")


main()
