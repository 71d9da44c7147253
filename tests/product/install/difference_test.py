"""What is said of two lists that differ: the difference, however long they are."""
import sys

from installed import difference

LONG = [f"file{number}.c" for number in range(200)]
CASES = [
    (LONG, LONG[:7] + LONG[8:], "missing ['file7.c'], not wanted []"),
    (LONG, [*LONG, "mem.c"], "missing [], not wanted ['mem.c']"),
    ({"a", "b"}, {"b", "c"}, "missing ['a'], not wanted ['c']"),
    (["a", "b"], ["b", "a"], "wanted ['a', 'b'], got ['b', 'a']"),
    (["a"], ["a", "a"], "wanted ['a'], got ['a', 'a']"),
    (3, 2, "wanted 3, got 2"),
]


def main() -> int:
    wrong = [f"{said} is wanted, and it says: {difference(wanted, got)}"
             for wanted, got, said in CASES if difference(wanted, got) != said]
    print("\n".join(wrong) or f"{len(CASES)} cases")
    return 1 if wrong else 0


sys.exit(main())
