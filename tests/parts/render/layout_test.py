"""No member of a descriptor comes, goes or moves unnoticed: descriptor_layout.c then does not compile.

    python3 layout_test.py COMPILER

A copy of culex/job.h is changed in one place: a member more that is small enough to lie in padding,
two neighbours the other way round. Descriptors are initialised by position, so after either the C
that an older culexc generated would say other things, with warnings at most.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from typing import Iterator, List, Tuple

from rendering import HERE, INCLUDE

COMPILER = sys.argv[1]
STRUCT = re.compile(r"(?<=^typedef struct )(culex_\w+) \{\n(.*?)(?=^\} \1;)", re.M | re.S)
STRUCTS, CHANGES_MIN = 12, 150


def changed(members: List[str]) -> Iterator[Tuple[str, List[str]]]:
    for at in range(len(members) + 1):
        yield "a member more", members[:at] + ["char more"] + members[at:]
    for at in range(len(members) - 1):
        yield "neighbours swapped", members[:at] + [members[at + 1], members[at]] + members[at + 2:]


def headers(text: str) -> Iterator[Tuple[str, str]]:
    """Each changed header, and what was changed in it."""
    found = list(STRUCT.finditer(text))
    assert len(found) == STRUCTS, f"{len(found)} structs"
    for struct in found:
        members = [member.strip() for member in struct[2].split(";")[:-1]]
        for what, other in changed(members):
            body = "".join(f"{member};\n" for member in other)
            yield f"{struct[1]}: {what}: {' | '.join(other)}", text[:struct.start(2)] + body + text[struct.end(2):]


def is_taken(text: str) -> bool:
    with tempfile.TemporaryDirectory() as place:
        os.mkdir(os.path.join(place, "culex"))
        with open(os.path.join(place, "culex", "job.h"), "w", encoding="utf-8") as file:
            file.write(text)
        command = [COMPILER, "-std=c11", "-fsyntax-only", f"-I{place}", f"-I{INCLUDE}",
                   os.path.join(HERE, "descriptor_layout.c")]
        return subprocess.run(command, stderr=subprocess.DEVNULL, timeout=60, check=False).returncode == 0


def main() -> int:
    with open(os.path.join(INCLUDE, "culex", "job.h"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    made = list(headers(text))
    unnoticed = [what for what, header in made if is_taken(header)]
    print("\n".join(unnoticed))
    print(f"{len(made)} changes, {len(unnoticed)} of them unnoticed")
    return 0 if is_taken(text) and not unnoticed and len(made) >= CHANGES_MIN else 1


if __name__ == "__main__":
    sys.exit(main())
