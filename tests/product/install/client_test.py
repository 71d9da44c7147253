"""libculex-client-redis and libculex-client-sqlite: small programs that only enqueue, for workers of libculex.

usage: client_test.py REPOSITORY BUILD STORE
The first example and client.c beside this file are built against both forms of the library for STORE,
as a user builds them. Neither needs the other store's library; the stripped example stays under BOUND.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed import environment, expect, fail, hello_copy, prefix_copy, run

HERE = pathlib.Path(__file__).resolve().parent
# Bytes of the stripped example with the library in it, of which some 9 in 10 are used: with libculex it has
# more than 1,500,000.
BOUND = {"redis": 200_000, "sqlite": 256_000}
NEEDED = {"redis": "libhiredis", "sqlite": "libsqlite3"}
LINKED = {"redis": "-lhiredis", "sqlite": "-lsqlite3"}
OTHER = {"redis": ("sqlite", "sqlite:other.db"), "sqlite": ("redis", "redis://127.0.0.1:1")}
JOB = """
job hello {
    params { string name = "world"; }
    returns { string text; }
    metadata { uint64 greeted = 0; }
}
job answer { params { string text; } }
chain talk { hello; answer; }
"""
WORKER = r"""
#include <stdio.h>
#include "hello_job.h"

static culex_outcome hello(culex_run *run, const hello_job *job, void *user)
{
    hello_result result = hello_result_make(job->name);
    (void)user;
    printf("Hello, %s!\n", job->name);
    return hello_job_set_result(run, &result, NULL) == CULEX_OK ? CULEX_DONE : CULEX_FAILED;
}

static culex_outcome answer(culex_run *run, const answer_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    (void)user;
    return hello_job_register(worker, hello, NULL) == CULEX_OK && answer_job_register(worker, answer, NULL) == CULEX_OK &&
                   talk_chain_register(worker) == CULEX_OK
               ? 0
               : -1;
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
"""


def needed(program: pathlib.Path) -> set:
    """Libraries, without the loader, which comes with libc."""
    found = re.findall(r"\(NEEDED\).*\[([\w-]+)", run("readelf", "-d", program))
    return {name for name in found if not name.startswith("ld-linux")}


class Place:
    """A store that is real, and a folder with what is built for it."""

    def __init__(self, folder: pathlib.Path, prefix: pathlib.Path, store: str) -> None:
        self.folder, self.prefix, self.store = folder, prefix, store
        self.env = dict(environment(prefix), CULEX_LOG_LEVEL="error")
        self.server = None
        self.env["CULEX_URL"] = f"sqlite:{folder}/jobs.db"
        if store == "redis":
            socket = folder / "redis.sock"
            self.server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                                            "--dir", folder], stdout=subprocess.DEVNULL)
            # The file is there a moment before somebody listens.
            while subprocess.run(["redis-cli", "-s", socket, "ping"], capture_output=True, check=False).returncode != 0:
                if self.server.poll() is not None:
                    fail("redis-server ended")
            self.env["CULEX_URL"] = f"redis+unix://{socket}"

    def run(self, *command, **more) -> str:
        return run(*command, cwd=self.folder, env={**self.env, **more.pop("env", {})}, **more)

    def build(self, program: str, *sources: str, library: str, status: int = 0) -> str:
        """By pkg-config; `library` ends in .a for the static one."""
        name = library.removesuffix(".a")
        flags = self.run("pkg-config", "--cflags", name).split()
        libraries = (["-pthread", f"{self.prefix}/lib/lib{library}", LINKED[self.store]] if library.endswith(".a")
                     else self.run("pkg-config", "--libs", name).split())
        return self.run("cc", "-O2", "-o", program, *sources, *flags, *libraries, status=status)


def libraries_check(place: Place) -> None:
    shared = needed(place.prefix / f"lib/libculex-client-{place.store}.so")
    expect("what the shared library needs", {"libc", NEEDED[place.store]}, shared)
    exported = {line.split()[-1] for line in
                run("nm", "-D", "--defined-only", place.prefix / f"lib/libculex-client-{place.store}.so").splitlines()}
    calls = set((HERE.parents[2] / "runtime/producer/calls.txt").read_text().split())
    expect("its calls", calls | ({"culex_sqlite_enqueue"} if place.store == "sqlite" else set()), exported)


def example_check(place: Place, repository: pathlib.Path, library: str) -> None:
    """The example as it is: only the library is another one."""
    place.build("enqueue", "enqueue.c", "hello_job.c", library=library)
    wanted = {"libc"} | ({NEEDED[place.store]} if library.endswith(".a") else {f"libculex-client-{place.store}"})
    expect(f"what a program with {library} needs", wanted, needed(place.folder / "enqueue"))
    place.run("strip", "enqueue")
    size = (place.folder / "enqueue").stat().st_size
    print(f"{library}: {size} bytes")
    if library.endswith(".a") and size > BOUND[place.store]:
        fail(f"a stripped program with {library} has {size} bytes, more than {BOUND[place.store]}")
    place.run("./enqueue", "Ann")
    expect("the worker", "Hello, Ann!\n", place.run("./worker", "--drain"))


def refusals_check(place: Place) -> None:
    other, url = OTHER[place.store]
    said = place.run("./enqueue", env={"CULEX_URL": url}, status=1)
    for words in (f"unknown scheme '{other}'", f"linked with libculex-client-{place.store}", "libculex, which has both"):
        if words not in said:
            fail(f"{url} with {place.store} alone says: {said}")
    if place.store == "redis":
        said = place.run("./enqueue", env={"CULEX_SPOOL": "runs.spool"}, status=1)
        if "CULEX_SPOOL names a spool" not in said or (place.folder / "runs.spool").exists():
            fail(f"a spool says: {said}")
    (place.folder / "cancel.c").write_text(
        "#include <culex/culex.h>\nint main(void) { return culex_client_pause(0, 0, 0); }\n")
    said = place.build("cancel", "cancel.c", library=f"culex-client-{place.store}", status=1)
    if "undefined reference to `culex_client_pause'" not in said:
        fail(f"a call that is missing: {said}")


def calls_check(place: Place, library: str) -> None:
    """All that a producer may do, with a worker of libculex beside it."""
    place.build("client", "client.c", "hello_job.c", library=library)
    worker = subprocess.Popen([place.folder / "worker"], env=place.env, cwd=place.folder, stdout=subprocess.DEVNULL)
    try:
        expect(f"client.c with {library}", "ok\n", place.run("./client"))
    finally:
        worker.terminate()
        worker.wait()


def main() -> None:
    repository, build, store = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    if store == "redis" and shutil.which("redis-server") is None:
        print("skipped: no redis-server")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "p"
        prefix = prefix_copy(build, pathlib.Path(name) / "prefix")
        hello_copy(repository, folder)
        shutil.copy(HERE / "client.c", folder)
        (folder / "hello.job").write_text(JOB)
        (folder / "worker.c").write_text(WORKER)
        place = Place(folder, prefix, store)
        try:
            place.run("culexc", "gen", "--out", ".", "hello.job")
            place.build("worker", "worker.c", "hello_job.c", library="culex")
            libraries_check(place)
            for library in (f"culex-client-{store}", f"culex-client-{store}.a"):
                example_check(place, repository, library)
                calls_check(place, library)
            refusals_check(place)
        finally:
            if place.server is not None:
                place.server.terminate()
                place.server.wait()
    print(f"producers of {store} alone work with workers of libculex")


main()
