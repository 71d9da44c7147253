"""Compiles each mistake that the types are to find, and beside it what was meant.

    python3 mistakes_test.py CULEXC COMPILER

A row of MISTAKES is one mistake: in each of its languages a file with it is refused, or warned of
where C knows no better. Its twin without it, and all of RIGHT, is clean under the strict flags. All
that with the headers of Culex in a folder of the project's (-I), and installed (-isystem, as CMake's
find_package has it), where compilers keep warnings about the text of a macro to themselves.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Dict, List, Tuple

from rendering import HERE, INCLUDE

C = ("c11", "c2x")
CXX = ("c++11", "c++17")
PLACES = ("-I", "-isystem")  # of the headers of Culex

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
    gcc_warns: bool = False     # the same, by gcc only


# What gcc, clang and C++ say of a type that is not the one.
WRONG_TYPE = ("incompatible", "conversion", "without a cast", "invalid", "cannot convert", "could not convert", "cannot initialize")

MISTAKES = [
    Mistake("handler_of_another_job", "if (shop_mail_job_register(worker, file_handler, NULL)) abort();",
            "if (shop_mail_job_register(worker, mail_handler, NULL)) abort();", WRONG_TYPE),
    Mistake("void_handler", "if (shop_mail_job_register(worker, void_handler, NULL)) abort();",
            "if (shop_mail_job_register(worker, &mail_handler, NULL)) abort();", WRONG_TYPE),
    Mistake("handler_of_a_retired_job", "if (shop_gone_job_register(worker, mail_handler, NULL)) abort();",
            "if (shop_gone_job_register(worker, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("number_for_a_string", 'shop_mail_job made = shop_mail_job_make(42, "x"); (void)made;',
            'shop_mail_job made = shop_mail_job_make("42", "x"); (void)made;', WRONG_TYPE),
    Mistake("string_for_a_number",
            'shop_file_job made = shop_file_job_make(sha, "x", SHOP_LANG_EN, body, id); (void)made;',
            'shop_file_job made = shop_file_job_make(sha, 7, SHOP_LANG_EN, body, id); (void)made;', WRONG_TYPE),
    Mistake("string_for_a_number_in_a_result",
            'shop_mail_result made = shop_mail_result_make("7"); (void)made;',
            'shop_mail_result made = shop_mail_result_make(7); (void)made;', WRONG_TYPE),
    Mistake("struct_for_bytes",
            "shop_file_job made = shop_file_job_make(sha, 7, SHOP_LANG_EN, id, id); (void)made;",
            "shop_file_job made = shop_file_job_make(sha, 7, SHOP_LANG_EN, body, id); (void)made;", WRONG_TYPE),
    Mistake("array_that_is_too_short",
            "shop_file_job made = shop_file_job_make(half, 7, SHOP_LANG_EN, body, id); (void)made;",
            "shop_file_job made = shop_file_job_make(sha, 7, SHOP_LANG_EN, body, id); (void)made;",
            ("array argument is too small", "region of size 16"), languages=C, gcc_warns=True),
    Mistake("job_of_another_kind",
            "if (shop_mail_job_enqueue(client, file, NULL, NULL, NULL)) abort();",
            "if (shop_mail_job_enqueue(client, mail, NULL, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("job_of_another_kind_later",
            "if (shop_mail_job_enqueue_in(client, file, CULEX_SECOND, NULL, NULL)) abort();",
            "if (shop_mail_job_enqueue_in(client, mail, CULEX_SECOND, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("job_of_another_kind_then",
            "if (shop_mail_job_enqueue_at(client, file, 1800000000 * CULEX_SECOND, NULL, NULL)) abort();",
            "if (shop_mail_job_enqueue_at(client, mail, 1800000000 * CULEX_SECOND, NULL, NULL)) abort();",
            WRONG_TYPE),
    Mistake("jobs_of_another_kind",
            "if (shop_mail_job_enqueue_many(client, file, 1, NULL, NULL, NULL, NULL)) abort();",
            "if (shop_mail_job_enqueue_many(client, mail, 1, NULL, NULL, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("job_of_another_kind_in_text", "if (shop_mail_job_encode(file, NULL, NULL)) abort();",
            "if (shop_mail_job_encode(mail, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("text_as_another_job", "if (shop_mail_job_decode(NULL, NULL, 0, &file, NULL)) abort();",
            "if (shop_mail_job_decode(NULL, NULL, 0, &mail, NULL)) abort();", WRONG_TYPE),
    Mistake("result_of_another_kind", "if (shop_mail_job_set_result(run, mail, NULL)) abort();",
            "if (shop_mail_job_set_result(run, result, NULL)) abort();", WRONG_TYPE),
    Mistake("text_as_another_result", "if (shop_mail_job_decode_result(NULL, NULL, 0, &mail, NULL)) abort();",
            "if (shop_mail_job_decode_result(NULL, NULL, 0, &result, NULL)) abort();", WRONG_TYPE),
    Mistake("number_for_a_job", "if (shop_mail_job_enqueue(client, 42, NULL, NULL, NULL)) abort();",
            "if (shop_mail_job_enqueue(client, NULL, NULL, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("worker_for_a_client", "if (shop_mail_job_enqueue(worker, mail, NULL, NULL, NULL)) abort();",
            "if (shop_mail_job_enqueue(client, mail, NULL, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("string_for_an_optional_number", 'shop_file_job made = *file; shop_file_job_set_copies(&made, "2");',
            "shop_file_job made = *file; shop_file_job_set_copies(&made, 2);", WRONG_TYPE),
    Mistake("list_of_numbers_for_strings", "shop_file_job made = *file; shop_file_job_set_tags(&made, sha, 1);",
            "shop_file_job made = *file; shop_file_job_set_tags(&made, tags, 1);", WRONG_TYPE),
    Mistake("member_of_another_job", "shop_mail_job made = *mail; shop_file_job_set_copies(&made, 2);",
            "shop_file_job made = *file; shop_file_job_set_copies(&made, 2);", WRONG_TYPE),
    Mistake("set_up_that_returns_nothing", "if (culex_worker_main(0, NULL, void_set_up, NULL)) abort();",
            "if (culex_worker_main(0, NULL, set_up, NULL)) abort();", WRONG_TYPE),
    Mistake("open_of_a_process_that_returns_nothing",
            "if (culex_worker_on_process(worker, void_open, NULL, NULL)) abort();",
            "if (culex_worker_on_process(worker, open_process, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("enqueue_hook_that_returns_nothing",
            "if (culex_client_on_enqueue(client, void_gate, NULL, NULL)) abort();",
            "if (culex_client_on_enqueue(client, gate, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("enqueue_hook_of_a_worker_that_returns_nothing",
            "if (culex_worker_on_enqueue(worker, void_gate, NULL)) abort();",
            "if (culex_worker_on_enqueue(worker, gate, NULL)) abort();", WRONG_TYPE),
    Mistake("other_options_in_an_enqueue_call",
            "extern culex_enqueue_call *shown; static culex_enqueue_options mine; shown->options = &mine;",
            "extern culex_enqueue_call *shown; shown->options->queue = \"mine\";", ("read-only", "const")),
    Mistake("other_enqueue_call_for_the_one_shown",
            "extern culex_enqueue_call *shown; culex_enqueue_call mine = *shown; *shown = mine;",
            "extern culex_enqueue_call *shown; culex_enqueue_call mine = *shown; (void)mine;",
            ("read-only", "const", "deleted")),
    Mistake("visitor_of_queues_for_runs",
            'if (culex_client_list(client, "q", CULEX_RUN_DEAD, NULL, 0, visit_queue, NULL, NULL)) abort();',
            'if (culex_client_list(client, "q", CULEX_RUN_DEAD, NULL, 0, visit_run, NULL, NULL)) abort();', WRONG_TYPE),
    Mistake("visitor_of_runs_for_queues", "if (culex_client_queues(client, visit_run, NULL, NULL)) abort();",
            "if (culex_client_queues(client, visit_queue, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("visitor_of_runs_for_schemas",
            "if (culex_client_live(client, NULL, false, visit_run, NULL, NULL)) abort();",
            "if (culex_client_live(client, NULL, false, visit_schema, NULL, NULL)) abort();", WRONG_TYPE),
    Mistake("constant_of_another_enum",
            "shop_file_job made = shop_file_job_make(sha, 7, SHOP_COLOUR_BLUE, body, id); (void)made;",
            "shop_file_job made = shop_file_job_make(sha, 7, SHOP_LANG_IT, body, id); (void)made;",
            ("different enum", "implicit conversion from", "cannot convert", "no known conversion")),
    Mistake("constant_of_another_enum_later", "shop_file_job made = *file; made.lang = SHOP_COLOUR_BLUE; (void)made;",
            "shop_file_job made = *file; made.lang = SHOP_LANG_IT; (void)made;",
            ("different enum", "implicit conversion from"), languages=C, is_warned=True),
    Mistake("constant_of_another_enum_later_on", "shop_file_job made = *file; made.lang = SHOP_COLOUR_BLUE; (void)made;",
            "shop_file_job made = *file; made.lang = SHOP_LANG_IT; (void)made;",
            ("cannot convert", "incompatible type"), languages=CXX),
    Mistake("value_that_a_switch_misses", "switch (file->lang) { case SHOP_LANG_EN: abort(); }",
            "switch (file->lang) { case SHOP_LANG_EN: case SHOP_LANG_IT: abort(); }",
            ("not handled in switch",), is_warned=True),
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

# What is right and looks unusual; each must go on to compile clean.
RIGHT = {
    "literal_with_commas": """if (shop_mail_job_enqueue(client, &(shop_mail_job){.to = "a", .subject = "b"},
                              &(culex_enqueue_options){.has_priority = true, .priority = 3}, NULL,
                              NULL)) abort();""",
    "array_literal": """shop_file_job made = shop_file_job_make((const uint8_t[32]){1, 2}, 7, SHOP_LANG_EN,
                                                            (culex_bytes){NULL, 0}, (culex_uuid){{1, 2}});
                        if (made.size != 7) abort();""",
    "literal_as_user": """if (shop_mail_job_register(worker, mail_handler, &(struct counter){1, 2})) abort();""",
    "address": """culex_status (*enqueue)(culex_client *, const shop_mail_job *, const culex_enqueue_options *,
                                          culex_uuid *, culex_error *) = shop_mail_job_enqueue;
                  shop_mail_job (*make)(const char *, const char *) = &shop_mail_job_make;
                  shop_mail_job made = make("a", "b");
                  if (enqueue(client, &made, NULL, NULL, NULL)) abort();""",
    "bare": "if ((shop_mail_job_enqueue)(client, mail, NULL, NULL, NULL)) abort();",
    "void_pointer": """const void *any = mail;
                       if (shop_mail_job_enqueue(client, any, NULL, NULL, NULL)) abort();""",
    "arrays": """shop_mail_job jobs[2]; char to[8] = "ann"; culex_uuid ids[2];
                 jobs[0] = jobs[1] = shop_mail_job_make(to, to + 1);
                 if (shop_mail_job_enqueue_many(client, jobs, 2, NULL, ids, NULL, NULL)) abort();
                 if (shop_mail_job_enqueue(client, jobs, NULL, ids, NULL)) abort();
                 if (shop_mail_job_enqueue(client, run ? jobs : mail, NULL, ids + 1, NULL)) abort();""",
    "nested": """shop_mail_job made = shop_mail_job_make(shop_mail_job_make("a", "b").to,
                                                         shop_mail_job_make("c", "d").subject);
                 if (made.to[0] != 'a') abort();""",
    "no_handler": "shop_gone_job_handler none = NULL; if (shop_gone_job_register(worker, none, NULL)) abort();",
    "in_a_macro": """#define CHECKED(call, wanted) do { if ((call) != (wanted)) abort(); } while (0)
                     CHECKED(shop_mail_job_enqueue(client, mail, NULL, NULL, NULL), CULEX_OK);
                     CHECKED(shop_mail_job_make("a", "b").to[0], 'a');""",
    "effects_happen_once": """int calls = 0;
                              shop_mail_result made = shop_mail_result_make((calls++, 7u));
                              if (calls != 1 || made.sent != 7) abort();""",
}

# The same that C++ has only.
RIGHT_CXX = {
    "colons": "if (::shop_mail_job_register(worker, mail_handler, nullptr)) abort();",
}

FILE = """#include "mistakes_job.h"
#include <stdlib.h>

struct counter {
    int done, failed;
};

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

static int set_up(culex_worker *worker, void *user) { return worker == user; }
static void void_set_up(culex_worker *worker, void *user) { (void)worker, (void)user; }
static culex_status open_process(void *user, void **ret_process, culex_error *error)
{
    (void)user, (void)error;
    *ret_process = NULL;
    return CULEX_OK;
}
static culex_status gate(culex_enqueue_call *call, void *user, culex_error *error)
{
    (void)call, (void)user, (void)error;
    return CULEX_OK;
}
static void void_gate(culex_enqueue_call *call, void *user, culex_error *error)
{
    (void)call, (void)user, (void)error;
}
static void void_open(void *user, void **ret_process, culex_error *error)
{
    (void)user, (void)error;
    *ret_process = NULL;
}
static bool visit_run(const culex_run_info *run, void *user) { return run != user; }
static bool visit_queue(const char *queue, void *user) { return queue != user; }
static bool visit_schema(const culex_live_schema *schema, void *user) { return schema != user; }

void statement(culex_client *client, culex_worker *worker, culex_run *run, const shop_mail_job *mail,
               const shop_file_job *file, const shop_mail_result *result);
void statement(culex_client *client, culex_worker *worker, culex_run *run, const shop_mail_job *mail,
               const shop_file_job *file, const shop_mail_result *result)
{
    static const char *const tags[1] = {"a"};
    static const uint8_t sha[32] = {1}, half[16] = {1};
    static const culex_bytes body = {NULL, 0};
    static const culex_uuid id = {{0}};

    (void)client, (void)worker, (void)run, (void)mail, (void)file, (void)result;
    (void)tags, (void)sha, (void)half, (void)body, (void)id;
    (void)mail_handler, (void)file_handler, (void)void_handler, (void)set_up, (void)void_set_up;
    (void)gate, (void)void_gate, (void)open_process, (void)void_open, (void)visit_run, (void)visit_queue, (void)visit_schema;
    %s
}
"""


STANDARD = "".join(f"#include <{name}>\n" for name in ("cstdio", "cstdlib", "cstring", "exception", "string", "typeinfo"))


def compiled_headers(compiler: str, place: str) -> Dict[str, List[str]]:
    """For each language the words that bring the headers of standard C++, which are compiled once:
    they are nine tenths of a file."""
    words: Dict[str, List[str]] = {language: [] for language in C}
    for language in CXX:
        header = os.path.join(place, f"standard_{language}.h")
        compiled = header + (".gch" if compiler == "gcc" else ".pch")
        with open(header, "w", encoding="ascii") as file:
            file.write(STANDARD)
        subprocess.run([compiler, "-x", "c++-header", f"-std={language}", header, "-o", compiled], check=True,
                       timeout=120)
        words[language] = ["-include", header] if compiler == "gcc" else ["-include-pch", compiled]
    return words


class Bench:
    """One compiler, the generated header in a folder, and how it is told of Culex's own."""

    def __init__(self, compiler: str, place: str, flag: str, ahead: Dict[str, List[str]]) -> None:
        self.compiler, self.place, self.flag, self.ahead = compiler, place, flag, ahead

    def compile(self, name: str, statement: str, flags: List[str], language: str) -> Tuple[bool, str]:
        source = os.path.join(self.place, f"{name}_{language}{self.flag}.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(FILE % statement)
        command = [self.compiler, "-x", "c++" if language in CXX else "c", f"-std={language}",
                   *self.ahead[language], self.flag + INCLUDE, f"-I{self.place}", *flags, "-c", source, "-o", source + ".o"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=120, check=False)
        return done.returncode == 0, done.stdout

    def complaint(self, mistake: Mistake, language: str) -> str:
        """What is wrong with the answers of the compiler; nothing when they are as they should be."""
        where = f"{mistake.name} ({self.compiler}, {language}, {self.flag})"
        is_warned = mistake.is_warned or (mistake.gcc_warns and self.compiler == "gcc")
        taken, said = self.compile(mistake.name, mistake.wrong, WARNED if is_warned else [], language)
        told = any(word in said for word in mistake.says)
        if taken != is_warned or not told:
            return f"{where}: {'taken' if taken else 'refused'}, {'told' if told else 'untold'}\n{said}"
        return ""

    def uncleanness(self, language: str) -> str:
        """What the compiler says of all that is right, each in a block of its own."""
        blocks = [mistake.right for mistake in MISTAKES if language in mistake.languages]
        blocks += (RIGHT if language in C else RIGHT_CXX).values()
        taken, said = self.compile("right", "\n".join("{\n" + block + "\n}" for block in blocks), STRICT, language)
        return "" if taken and not said else f"{self.compiler}, {language}, {self.flag}: not clean\n{said}"


def main(culexc: str, compiler: str) -> int:
    cases = [(mistake, language) for mistake in MISTAKES for language in mistake.languages]
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([culexc, "gen", "--out", place, os.path.join(HERE, "mistakes.job")], check=True,
                       timeout=60)
        answers: List[str] = []
        ahead = compiled_headers(compiler, place)
        with ThreadPoolExecutor(2) as pool:
            for bench in [Bench(compiler, place, flag, ahead) for flag in PLACES]:
                answers += pool.map(lambda case, at=bench: at.complaint(*case), cases)
                answers += pool.map(bench.uncleanness, C + CXX)
        complaints = [text for text in answers if text]
    print("\n".join(complaints)[:20000])
    print(f"{len(cases) * len(PLACES)} mistakes, {len(complaints)} answers not as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
