"""Prints C that compiles only if descriptors are written in the order of their structs, and say
the version of these.

Generated C is read as C++11 too, which has no initialisers by name: two members of one type in
the wrong order would swap what they say, and nobody would be told.
"""

from __future__ import annotations

from typing import List

import rendering  # finds the renderer
from samples import job, schema

import jobs
import model
import settings
from literals import NULL


def asserted(struct: str, members: List[jobs.Member]) -> str:
    names = [member.name for member in members]
    return "".join(f"""\
_Static_assert(offsetof({struct}, {before}) < offsetof({struct}, {behind}),
               "the renderer writes {before} before {behind}");
""" for before, behind in zip(names, names[1:]))


def main() -> None:
    document = rendering.document([schema("order", jobs=[job("order")])])
    [order] = model.read_named(document)[0].jobs
    print("#include <stddef.h>\n\n#include <culex/job.h>\n")
    print(f"""\
_Static_assert(CULEX_DESCRIPTOR_VERSION == {settings.DESCRIPTOR_VERSION},
               "DESCRIPTOR_VERSION of codegen/render/settings.py is another number");
""")
    unique = jobs.unique_members(None, NULL)
    limit = model.Limit("fair", "order:fair", None, None, None, ())
    print(asserted("culex_unique", unique))
    print(asserted("culex_limit", jobs.limit_members(limit, NULL)))
    print(asserted("culex_need", jobs.need_members(model.Need("gpu", 1))))
    print(asserted("culex_job_type", jobs.job_members(order, NULL, NULL, NULL, NULL, NULL, unique, NULL, NULL)))
    print(asserted("culex_retry_policy", jobs.retry_members(order.retry, NULL)), end="")


if __name__ == "__main__":
    main()
