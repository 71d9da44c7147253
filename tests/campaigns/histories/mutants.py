"""Breaks rules of culexc breaking one at a time; random histories must notice each.

In a copy of the tree, so that nothing is left behind. A mutant that survives is a hole (exit code 1).
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[2]
CHANGE = "codegen/change/"
MUTANTS = [
    ("a narrower integer is as good", CHANGE + "reads.c",
     "if (is_integer(reader->kind) && is_integer(writer->kind))\n        return range_reads(reader, writer);",
     "if (is_integer(reader->kind) && is_integer(writer->kind))\n        return READS_ALL;"),
    ("removed enum values are forgotten", CHANGE + "judge_enum.c",
     "if (map_get(&after->names, at->name) == NULL)", "if (at->number == NULL)"),
    ("a lower limit is as good", CHANGE + "reads.c",
     "wide_compare(writer->high, reader->high) <= 0)\n        return READS_ALL;",
     "wide_compare(reader->low, writer->low) <= 0)\n        return READS_ALL;"),
    ("required may be added", CHANGE + "judge_field.c",
     "if (field->need == LOCK_REQUIRED &&\n        judge_report(judge, DIAG_FIELD_REQUIRED_ADDED",
     "if (field->need == LOCK_DEFAULT &&\n        judge_report(judge, DIAG_FIELD_REQUIRED_ADDED"),
    ("a longer list is too long", CHANGE + "reads.c",
     "return list_most(writer) <= list_most(reader) ? READS_ALL", "return list_most(writer) < list_most(reader) ? READS_ALL"),
    ("used names are forgotten", CHANGE + "judge_field.c",
     "if (map_get(&before->gone, field->wire) != NULL ||", "if (map_get(&before->gone, \"\") != NULL &&"),
]


def tree_copy(target):
    names = subprocess.run(["git", "-C", TREE, "ls-files", "-z"], capture_output=True, text=True,
                           check=True).stdout.split("\0")
    archive = subprocess.run(["tar", "-C", TREE, "-cf", "-", *filter(None, names)], capture_output=True, check=True)
    subprocess.run(["tar", "-C", target, "-xf", "-"], input=archive.stdout, check=True)
    subprocess.run(["meson", "setup", target / "build", target, "-Dtests=true"], stdout=subprocess.DEVNULL, check=True)


def build_all(tree):
    return subprocess.run(["ninja", "-C", tree / "build", "-j2", "codegen/cli/culexc", "tests/campaigns/histories/exchange",
                           "tests/campaigns/histories/workers"],
                          capture_output=True, check=False).returncode == 0


def verdict(tree, path, old, new, count):
    text = (tree / path).read_text()
    if text.count(old) != 1:
        return f"STALE: the text is there {text.count(old)} times"
    (tree / path).write_text(text.replace(old, new))
    try:
        if not build_all(tree):
            return "STALE: does not build"
        run = subprocess.run([sys.executable, HERE / "histories.py", "--histories", count, tree / "build/codegen/cli/culexc",
                              tree / "build/tests/campaigns/histories/exchange", tree / "build/tests/campaigns/histories/workers", "--", "tcc", "-w", f"-I{TREE}/runtime/include"],
                             capture_output=True, text=True, check=False)
        return run.stdout.splitlines()[-1] if run.returncode == 1 else f"SURVIVED (exit {run.returncode})"
    finally:
        (tree / path).write_text(text)


def count_read():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", metavar="HISTORIES", type=int, nargs="?", default=1000, help="of each mutant (%(default)s)")
    return str(parser.parse_args().histories)


def main():
    count = count_read()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="culex-mutants-") as folder:
        tree = pathlib.Path(folder)
        tree_copy(tree)
        if not build_all(tree):
            sys.exit("mutants.py: the tree does not build as it is")
        for name, path, old, new in MUTANTS:
            said = verdict(tree, path, old, new, count)
            bad += said.startswith(("SURVIVED", "STALE"))
            print(f"{pathlib.Path(path).name}: {name}: {said}", flush=True)
    print(f"{bad} mutants survived or are stale")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
