"""Every public function that takes a pointer is called with a NULL for it.

usage: check_nulls.py REPOSITORY
Names the functions of runtime/include/culex that tests/parts/engine/test_nulls.c does not know, and
those of culex_test.h that tests/parts/kit/test_failures.c does not.
"""
import pathlib
import re
import sys

# Headers -> the test that calls their functions.
TESTS = {"culex/*.h": "tests/parts/engine/test_nulls.c", "*.h": "tests/parts/kit/test_failures.c"}


def functions(header):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    for match in re.finditer(r"^CULEX_API[^;]*?\b(culex_\w+)\(([^;]*)\)", text, flags=re.M):
        if "*" in match[2] or "[" in match[2] or "_fn " in match[2]:
            yield match[1]


def main(repository):
    count = unknown = 0
    for pattern, test in TESTS.items():
        called = (repository / test).read_text()
        for header in sorted((repository / "runtime/include").glob(pattern)):
            for name in functions(header):
                count += 1
                if not re.search(rf"\b{name}\(", called):
                    unknown += 1
                    print(f"{test}: what does {name} do with NULL?")
    return 1 if unknown or count < 60 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
