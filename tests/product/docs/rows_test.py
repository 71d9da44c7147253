"""No table of the documentation has two rows of the same thing: that is, whose first cells begin with
the same option or other piece of code, or are the same text where they have none.

usage: rows_test.py REPOSITORY
"""
import pathlib
import re
import sys

TABLE = re.compile(r"(?:^\|.*\n)+", re.M)


def subject(row: str) -> str:
    cell = re.split(r"(?<!\\)\|", row)[1].strip()
    code = re.match(r"`(--[\w-]+|[^`]+)", cell)
    return code[1] if code else cell


def faults(page: pathlib.Path) -> list:
    found = []
    for table in TABLE.findall(page.read_text()):
        seen = set()
        for row in table.splitlines()[2:]:
            name = subject(row)
            if name in seen and name:
                found.append(f"{page}: two rows of {name}: {row[:100]}")
            seen.add(name)
    return found


def main() -> int:
    repository = pathlib.Path(sys.argv[1])
    pages = [page for page in sorted(repository.rglob("*.md"))
             if not {"build", ".git"} & {part.split("-")[0] for part in page.relative_to(repository).parts[:-1]}]
    tables = sum(len(TABLE.findall(page.read_text())) for page in pages)
    found = [fault for page in pages for fault in faults(page)]
    print("\n".join(found) or f"{tables} tables in {len(pages)} pages have each row once")
    return 1 if found or tables < 20 else 0


sys.exit(main())
