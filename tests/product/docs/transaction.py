"""The guide's function that enqueues in a transaction of SQLite, compiled and called.

usage: transaction.py REPOSITORY BUILD
"""
import pathlib
import subprocess
import sys
import tempfile

from first_job import blocks, environment

CALLER = r"""
#include <stdio.h>

int main(void)
{
    sqlite3 *db;
    culex_client *client;
    culex_error error = {.text = ""};
    if (culex_client_open("sqlite:culex.db", NULL, &client, &error) != CULEX_OK)
        return 1;
    culex_client_close(client);
    sqlite3_open("culex.db", &db);
    sqlite3_exec(db, "PRAGMA wal_autocheckpoint=0;"
                     "CREATE TABLE guest (name TEXT UNIQUE)", NULL, NULL, NULL);
    if (guest_add(db, "Ann", &error) != 0) {
        printf("Ann: %s\n", error.text);
        return 2;
    }
    if (guest_add(db, "Ann", &error) == 0)
        return 3; /* the name is taken, so nobody is greeted twice */
    return sqlite3_close(db) == SQLITE_OK ? 0 : 4;
}
"""


def main() -> None:
    repository, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    env = environment(build)
    example = next(text for text in blocks((repository / "docs/guide.md").read_text(), "c")
                   if "culex_sqlite_enqueue" in text)
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        for name in ("hello.job", "worker.c"):
            (at / name).write_text((repository / "examples/hello" / name).read_text())
        (at / "guest.c").write_text(example + CALLER)
        flags = "-std=c11 -Wall -Wextra -Werror -Wno-missing-prototypes"
        # Another test may be installing.
        lock = str(build / "install.lock")
        done = subprocess.run(["flock", lock, "sh", "-euc", f"""
            culexc gen --out . hello.job
            cc {flags} -o guest guest.c hello_job.c $(pkg-config --cflags --libs culex) -lsqlite3
            cc -o worker worker.c hello_job.c $(pkg-config --cflags --libs culex)
            ./guest
            ./worker --drain --log-level error"""], cwd=folder, env=env, capture_output=True,
                              text=True, check=False, timeout=60)
    if done.returncode != 0 or done.stdout != "Hello, Ann!\n":
        sys.exit(f"exit {done.returncode}, printed {done.stdout!r}\n{done.stderr}")
    print("the guide's transaction compiles, and greets once")


if __name__ == "__main__":
    main()
