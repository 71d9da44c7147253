"""What a change of a schema means for objects compiled before it: schemas/README.md, held to it.

    python3 abi_test.py CULEXC LIBCULEX

Each case is a schema before and after. An application compiled with the header before is
linked with the source after, as it happens with a library that was exchanged: of the changes
that it survives the payload is looked at, of the others what of the layout differs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List, Tuple

from rendering import INCLUDE

CULEXC, LIBRARY = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))

BEFORE = """
enum lang : uint8 { EN = 1, IT = 2 }
struct money { int64 minor; string currency; }
job send {
    params {
        string to;
        lang tongue = EN;
        uint16 copies = 3;
        uint64 tenant = 4;
        string cc[<=5];
        uint8 key[4];
        money price;
    }
    queue "mail";
}
"""
MEMBERS = ["to", "tongue", "copies", "tenant", "cc", "cc_len", "key", "price"]
PAYLOAD = {"to": "ann", "tongue": "EN", "copies": 3, "tenant": 4, "cc": ["bob"], "key": [1, 2, 3, 4],
           "price": {"minor": 5, "currency": "EUR"}}

# The part of BEFORE that is replaced, and by what. Old objects go on with these.
KEEPS = {
    "documentation": ("string to;", "string to; ///< whom\n"),
    "settings": ('queue "mail";', 'queue "post"; priority 7; timeout 5s; retry none; tags "a";'),
    "limits": ("string to;", "string to [[max_len(300), nonempty]];"),
    "bound of a list": ("cc[<=5]", "cc[<=50]"),
    "marks": ("uint64 tenant", "uint64 tenant [[secret, must_understand, min(1)]]"),
    "a value of an enum": ("IT = 2", "IT = 2, FR = 3"),
    "further declarations": ("job send {", "struct more { int8 x; } enum other { A } job again; job send {"),
    "returns": ('queue "mail";', 'queue "mail"; returns { uint32 sent; }'),
}

# These too, but for what is said of them below.
DEFAULT = ("copies = 3", "copies = 33")
RENAME = ("string to;", 'string whom [[was("to")]];')

# For these everything that includes the header has to be compiled again.
CHANGES = {
    "a param more": ("money price;", "money price; string subject = \"\";"),
    "a param more in front": ("string to;", "int64 first = 0; string to;"),
    "a param less": ("uint64 tenant = 4;", 'reserved "tenant";'),
    "another order": ("uint64 tenant = 4;\n        string cc[<=5];", "string cc[<=5];\n        uint64 tenant = 4;"),
    "a wider type": ("uint16 copies", "uint32 copies"),
    "optional": ("string to;", "optional string to;"),
    "an array for a list": ("string cc[<=5]", "string cc[5]"),
    "a longer array": ("key[4]", "key[40]"),
    "a wider enum": ("lang : uint8", "lang : int64"),
    "a member more in a struct": ("int64 minor;", "int64 minor; bool exact = true;"),
}

CALLER = """
#include <stdio.h>
#include "s_job.h"
int main(void)
{
    static const uint8_t key[4] = {1, 2, 3, 4};
    static const char *const cc[] = {"bob"};
    send_job job = send_job_make("ann", key, money_make(5, "EUR"));
    culex_error error;
    culex_buf text;
    job.cc = cc;
    job.cc_len = 1;
    culex_buf_init(&text, 0);
    if (send_job_encode(&job, &text, &error) != CULEX_OK)
        return fprintf(stderr, "%s: %s\\n", error.field, error.text), 1;
    puts(text.data);
    culex_buf_release(&text);
    return 0;
}
"""


def run(*command: str, cwd: str) -> str:
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]}: {done.stdout}")
    return done.stdout


class Version:
    """One version of the schema: its header, its compiled source, its layout."""

    def __init__(self, place: str, text: str) -> None:
        os.mkdir(place)
        self.place = place
        with open(os.path.join(place, "s.job"), "w", encoding="utf-8") as file:
            file.write(text)
        run(CULEXC, "gen", "--out", ".", "s.job", cwd=place)
        run("gcc", "-std=c11", "-c", f"-I{INCLUDE}", "s_job.c", cwd=place)

    def fingerprint(self) -> str:
        return str(json.loads(run(CULEXC, "ir", "s.job", cwd=self.place))["files"][0]["jobs"][-1]["fingerprint"])

    def layout(self) -> Dict[str, Tuple[int, int]]:
        """Offset and size of each member that there is, and of the whole."""
        with open(os.path.join(self.place, "s_job.h"), encoding="utf-8") as file:
            struct = re.search(r"typedef struct send_job \{.*?\} send_job;", file.read(), re.DOTALL)
        assert struct is not None
        there = [name for name in MEMBERS if re.search(rf"\b{name}(\[\d+\])?;", struct.group())]
        rows = "".join(f'printf("{name} %zu %zu\\n", offsetof(send_job, {name}), sizeof(((send_job *)0)->{name}));\n'
                       for name in there)
        with open(os.path.join(self.place, "layout.c"), "w", encoding="ascii") as file:
            file.write(f'#include <stdio.h>\n#include "s_job.h"\nint main(void)\n{{\n{rows}'
                       'printf("whole 0 %zu\\n", sizeof(send_job));\nreturn 0;\n}\n')
        run("gcc", "-std=c11", f"-I{INCLUDE}", "layout.c", "-o", "layout", cwd=self.place)
        lines = [line.split() for line in run("./layout", cwd=self.place).splitlines()]
        return {name: (int(offset), int(size)) for name, offset, size in lines}

    def caller(self, text: str = CALLER) -> str:
        """An object of an application, compiled with this version's header."""
        with open(os.path.join(self.place, "caller.c"), "w", encoding="ascii") as file:
            file.write(text)
        run("gcc", "-std=c11", "-c", f"-I{INCLUDE}", "caller.c", cwd=self.place)
        return os.path.join(self.place, "caller.o")

    def payload_of(self, caller: str) -> Dict[str, object]:
        """What the object's program encodes by this version's source."""
        library = [LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}"]
        run("gcc", caller, "s_job.o", *library, "-o", "program", cwd=self.place)
        payload: Dict[str, object] = json.loads(run("./program", cwd=self.place))
        return {name.lstrip("!"): value for name, value in payload.items()}


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.made: Dict[str, Version] = {}
        cls.before = cls.version(BEFORE)

    @classmethod
    def version(cls, text: str) -> Version:
        if text not in cls.made:
            cls.made[text] = Version(os.path.join(cls.holder.name, str(len(cls.made))), text)
        return cls.made[text]

    def after(self, change: Tuple[str, str]) -> Version:
        self.assertIn(change[0], BEFORE)
        return self.version(BEFORE.replace(*change))

    def test_caller_of_the_same_version_sends_what_it_set(self) -> None:
        self.assertEqual(self.before.payload_of(self.before.caller()), PAYLOAD)

    def test_old_objects_go_on(self) -> None:
        caller = self.before.caller()
        for what, change in KEEPS.items():
            with self.subTest(what):
                after = self.after(change)
                self.assertEqual(after.layout(), self.before.layout())
                self.assertEqual(after.payload_of(caller), PAYLOAD)

    def test_fingerprint_tells_limits_too_and_no_settings(self) -> None:
        told = {what for what, change in KEEPS.items() if self.after(change).fingerprint() != self.before.fingerprint()}
        self.assertEqual(told, {"limits", "bound of a list", "marks", "a value of an enum"})

    def test_old_objects_write_the_old_default(self) -> None:
        after = self.after(DEFAULT)
        self.assertEqual(after.fingerprint(), self.before.fingerprint())
        self.assertEqual(after.layout(), self.before.layout())
        self.assertEqual(after.payload_of(self.before.caller()), PAYLOAD)
        self.assertEqual(after.payload_of(after.caller()), {**PAYLOAD, "copies": 33})

    def test_renamed_param_is_the_same_to_old_objects(self) -> None:
        after = self.after(RENAME)
        self.assertEqual(after.payload_of(self.before.caller()), PAYLOAD)
        uses_the_name = CALLER.replace("culex_buf text;", "culex_buf text; job.to = NULL;")
        self.before.caller(uses_the_name)
        self.assertRaisesRegex(AssertionError, "no member named", after.caller, uses_the_name)

    def test_changed_layout_changes_the_fingerprint(self) -> None:
        for what, change in CHANGES.items():
            with self.subTest(what):
                after = self.after(change)
                self.assertNotEqual(after.layout(), self.before.layout())
                self.assertNotEqual(after.fingerprint(), self.before.fingerprint())

    def test_param_that_fits_a_gap_changes_no_size_and_old_objects_leave_it_zero(self) -> None:
        """Why no check of sizes could stand in for compiling again."""
        after = self.after(("uint16 copies = 3;", "uint16 copies = 3; uint8 extra = 9;"))
        self.assertEqual(after.layout(), self.before.layout())
        self.assertEqual(after.payload_of(self.before.caller()), {**PAYLOAD, "extra": 0})
        self.assertEqual(after.payload_of(after.caller()), {**PAYLOAD, "extra": 9})
        self.assertNotEqual(after.fingerprint(), self.before.fingerprint())

    def test_required_param_is_an_error_where_it_is_forgotten(self) -> None:
        after = self.after(("string to;", "string to; int32 count;"))
        self.assertRaisesRegex(AssertionError, "too few arguments", after.caller)

    def test_linker_is_silent(self) -> None:
        """The struct goes by address, so prototypes and symbols stay the same."""
        def symbols(version: Version) -> List[str]:
            listed = run("nm", "-g", "--defined-only", "s_job.o", cwd=version.place)
            return sorted(line.split(" ", 1)[1] for line in listed.splitlines())
        for what, change in CHANGES.items():
            with self.subTest(what):
                self.assertEqual(symbols(self.after(change)), symbols(self.before))


if __name__ == "__main__":
    unittest.main()
