"""Compiles each mistake that the types are to find, and beside it what was meant.

    python3 mistakes_test.py CULEXC COMPILER

A row of MISTAKES is one mistake: in each of its languages a file with it is refused, or warned of
where C knows no better, and its twin without it is clean under the strict flags.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import List, Tuple

from rendering import HERE, INCLUDE

C = ("c11", "c2x")
CXX = ("c++11", "c++17")

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow",
          "-Werror"]
WARNED = ["-Wall", "-Wextra"]


@dataclass(frozen=True)
class Mistake:
    name: str
    wrong: str  # the statement with the mistake
    right: str  # its twin
    says: Tuple[str, ...] = ()  # words of which the message has one at least
    languages: Tuple[str, ...] = C + CXX
    is_warned: bool = False     # with -Wall -Wextra, in place of refused


MISTAKES = [
    Mistake("ignored_enqueue", "shop_mail_job_enqueue(client, mail, NULL, NULL, NULL);",
            "if (shop_mail_job_enqueue(client, mail, NULL, NULL, NULL) != CULEX_OK) abort();",
            ("unused-result",), is_warned=True),
    Mistake("ignored_register", "shop_mail_job_register(worker, mail_handler, NULL);",
            "if (shop_mail_job_register(worker, mail_handler, NULL) != CULEX_OK) abort();",
            ("unused-result",), is_warned=True),
    Mistake("ignored_result", "shop_mail_job_set_result(run, result, NULL);",
            "if (shop_mail_job_set_result(run, result, NULL) != CULEX_OK) abort();",
            ("unused-result",), is_warned=True),
    Mistake("ignored_open", "culex_client_open(NULL, NULL, &client, NULL);",
            "if (culex_client_open(NULL, NULL, &client, NULL) != CULEX_OK) abort();",
            ("unused-result",), is_warned=True),
    Mistake("ignored_failure", 'culex_run_fail(run, "no");',
            'if (culex_run_fail(run, "no") != CULEX_FAILED) abort();',
            ("unused-result",), is_warned=True),
]

FILE = """#include "mistakes_job.h"
#include <stdlib.h>

static culex_outcome mail_handler(culex_run *run, const shop_mail_job *job, void *user)
{
    (void)job;
    (void)user;
    return culex_run_attempt(run) > 1 ? CULEX_DONE : CULEX_FAILED;
}

static culex_outcome file_handler(culex_run *run, const shop_file_job *job, void *user)
{
    (void)job;
    (void)user;
    return culex_run_attempt(run) > 1 ? CULEX_DONE : CULEX_FAILED;
}

static void void_handler(culex_run *run, const shop_mail_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
}

void statement(culex_client *client, culex_worker *worker, culex_run *run, const shop_mail_job *mail,
               const shop_file_job *file, const shop_mail_result *result);
void statement(culex_client *client, culex_worker *worker, culex_run *run, const shop_mail_job *mail,
               const shop_file_job *file, const shop_mail_result *result)
{
    static const uint8_t sha[32] = {1}, half[16] = {1};
    static const culex_bytes body = {NULL, 0};
    static const culex_uuid id = {{0}};

    (void)client, (void)worker, (void)run, (void)mail, (void)file, (void)result;
    (void)sha, (void)half, (void)body, (void)id;
    (void)mail_handler, (void)file_handler, (void)void_handler;
    %s
}
"""


class Bench:
    """One compiler, and the generated header in a folder."""

    def __init__(self, compiler: str, place: str) -> None:
        self.compiler, self.place = compiler, place

    def compile(self, name: str, statement: str, flags: List[str], language: str) -> Tuple[bool, str]:
        source = os.path.join(self.place, f"{name}_{language}.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(FILE % statement)
        command = [self.compiler, "-x", "c++" if language in CXX else "c", f"-std={language}",
                   f"-I{INCLUDE}", f"-I{self.place}", *flags, "-c", source, "-o", source + ".o"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=120, check=False)
        return done.returncode == 0, done.stdout

    def complaint(self, mistake: Mistake, language: str) -> str:
        """What is wrong with the answers of the compiler; nothing when they are as they should be."""
        where = f"{mistake.name} ({self.compiler}, {language})"
        taken, said = self.compile(mistake.name, mistake.wrong, WARNED if mistake.is_warned else [], language)
        told = any(word in said for word in mistake.says)
        if (taken != mistake.is_warned) or not told:
            return f"{where}: {'taken' if taken else 'refused'}, {'told' if told else 'untold'}\n{said}"
        taken, said = self.compile(mistake.name + "_twin", mistake.right, STRICT, language)
        return "" if taken and not said else f"{where}: its twin is not clean\n{said}"


def main(culexc: str, compiler: str) -> int:
    cases = [(mistake, language) for mistake in MISTAKES for language in mistake.languages]
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([culexc, "gen", "--out", place, os.path.join(HERE, "mistakes.job")], check=True,
                       timeout=60)
        bench = Bench(compiler, place)
        with ThreadPoolExecutor(2) as pool:
            complaints = [text for text in pool.map(lambda case: bench.complaint(*case), cases) if text]
    print("\n".join(complaints)[:20000])
    print(f"{len(cases)} mistakes with their twins, {len(complaints)} not as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
