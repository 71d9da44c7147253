"""Holds the mutants to the tree: the text that each replaces stands in its file, once.
And their campaigns to their options: to be asked for help starts none, nor does a mistaken option.

    check_mutants.py TREE

A mutant whose text has changed breaks nothing, and what it was to show is not shown any more. The
campaigns say so themselves, but they take hours.
"""

import pathlib
import runpy
import subprocess
import sys


def changes_of(mutant):
    """(path, text) of each change, in either of the shapes that the campaigns write."""
    if isinstance(mutant[1], str):
        return [(mutant[1], mutant[2])]
    return [(path, old) for path, old, _ in mutant[1]]


def faults(tree, campaign):
    for name, mutants in runpy.run_path(str(campaign)).items():
        for mutant in mutants if name.endswith("MUTANTS") else []:
            for path, old in changes_of(mutant):
                times = (tree / path).read_text().count(old) if (tree / path).is_file() else 0
                if times != 1:
                    yield f"{campaign.relative_to(tree)}: {mutant[0]}: {times} times in {path}: {old!r}"


def option_faults(tree, campaign):
    """With no program in reach, a campaign that starts all the same fails at once, by a traceback."""
    for option, code in (("--help", 0), ("--no-such-option", 2)):
        ended = subprocess.run([sys.executable, campaign, option], env={"PATH": "/nonexistent"},
                               capture_output=True, text=True, check=False)
        if ended.returncode != code or "usage: " not in ended.stdout + ended.stderr:
            yield f"{campaign.relative_to(tree)} {option}: ends with {ended.returncode}: {ended.stderr[-200:]}"


def main(tree):
    tree = pathlib.Path(tree)
    campaigns = sorted(tree.glob("tests/*/*/mutants.py"))
    found = [fault for campaign in campaigns for look in (faults, option_faults) for fault in look(tree, campaign)]
    print("\n".join(found))
    print(f"{len(campaigns)} campaigns, {len(found)} faults")
    return 1 if found or len(campaigns) < 4 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
