"""Every text in the SQLite store's table of statements is bound by some code.

usage: check_statements.py REPOSITORY
The table becomes an enum, of which no compiler says that a name is unused; and each connection
prepares all of it.
"""
import pathlib
import re
import sys


def main() -> int:
    folder = pathlib.Path(sys.argv[1]) / "runtime/store/sqlite"
    rows = re.findall(r"^STATEMENT(?:_OF_PRODUCERS)?\((\w+)", (folder / "statement.def").read_text(), re.M)
    code = "\n".join(path.read_text() for path in sorted(folder.glob("*.c")))
    bound = set(re.findall(r"\bCULEX__SQLITE_(\w+)", code)) | set(re.findall(r"\bSQL_BIND\([^,]+,\s*(\w+)", code))
    idle = [name for name in rows if name not in bound]
    for name in idle:
        print(f"statement.def: nobody binds {name}")
    print(f"{len(rows)} statements")
    return 1 if idle or len(rows) < 30 else 0


sys.exit(main())
