"""The machine that measures: which processor runs what, and what a program has cost."""
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import signal
import subprocess
import tempfile
import time

CORES = sorted(os.sched_getaffinity(0))
PATIENCE_S = 1800

# Where the server runs, and where we do. On a small virtual machine a round trip between two
# processors costs several times one on the same, so a figure means little without its place.
PLACES = {
    "same": (CORES[:1], CORES[:1]),
    "cross": (CORES[:1], CORES[1:]),
    "one": ([], CORES[-1:]),  # without a server
    "free": (CORES, CORES),
}


class Skip(Exception):
    """A row cannot be measured here; the text says why."""


class Failure(Exception):
    """A program failed; the text says which, and has what it said."""


@dataclasses.dataclass
class Spent:
    """One program that has ended: the JSON object that it printed, and what it cost."""
    answer: dict
    cpu_s: float
    peak_kib: int


def place_set(pid: int, cores: list[int]) -> None:
    """Of all threads that the process has by now."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


def program_start(words: list[str], cores: list[int], **options) -> subprocess.Popen:
    said = tempfile.TemporaryFile("w+")  # a pipe would be full where a program says much
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=said, text=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, cores), start_new_session=True, **options)
    process.said = said
    return process


def session_kill(process: subprocess.Popen) -> None:
    """With all that it has begun, which would keep its pipes open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        process.wait()


def usage_await(process: subprocess.Popen, patience_s: float):
    deadline = time.monotonic() + patience_s
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid != 0:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage
        if time.monotonic() > deadline:
            raise Failure(f"{' '.join(process.args)} does not end")
        time.sleep(0.002)


def program_end(process: subprocess.Popen, patience_s: float = PATIENCE_S) -> Spent:
    """Waits for it. What it prints is short, so the pipe holds it; the answer is its last line in braces."""
    with process.stdout, process.said:
        try:
            usage = usage_await(process, patience_s)
        finally:
            if process.returncode != 0:
                session_kill(process)
        lines = process.stdout.read().splitlines()
        process.said.seek(0)
        said = process.said.read()
    if process.returncode != 0:
        raise Failure(f"{' '.join(process.args)} failed with {process.returncode}:\n{said}")
    answers = [line for line in lines if line.startswith("{")]
    if not answers:
        raise Failure(f"{' '.join(process.args)} gave no answer:\n{said}")
    return Spent(json.loads(answers[-1]), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def program_run(words: list[str], cores: list[int], patience_s: float = PATIENCE_S, **options) -> Spent:
    return program_end(program_start(words, cores, **options), patience_s)


def processor_s(pid: int) -> float:
    """User and system time of the threads of a living process."""
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def resident_kib(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def family_kib(pid: int) -> int:
    """Resident memory of a process and of those below it; 0 for one that ends meanwhile."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return resident_kib(pid) + sum(family_kib(int(child)) for child in children)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def memory_free_bytes() -> int:
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    return 0


def processor_name() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def facts() -> dict:
    """What a reader must know to compare figures with others."""
    return {"processor": processor_name(), "processors": len(CORES), "system": f"{platform.system()} {platform.release()}",
            "load_before": os.getloadavg()[0]}
