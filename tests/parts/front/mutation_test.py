"""One broken token gives few errors, at or near the place, and never a crash.

mutation_test.py CULEXC [MUTANTS [SEED]]
Every feature schema is cut into tokens; a mutant has one of them removed, doubled, swapped with
the next, misspelt or replaced. Prints how many errors the mutants got.
"""
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

FEATURES = pathlib.Path(__file__).resolve().parents[3] / "schemas" / "feature"
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|x?"(?:[^"\\\n]|\\.)*"|' r"'(?:[^'\\\n]|\\.)*'"
                   r"|[A-Za-z_0-9.]+|\[\[|\]\]|<=|[^\sA-Za-z_0-9]", re.S)
OTHERS = ["{", "}", "(", ")", "[[", "]]", ";", ",", "=", ".", "-", "#", "7", "5m", '"text"', "word",
          "'", '"']
BATCH = 200
FEW = 3          # errors that one broken token may give ...
FEW_SHARE = 0.99  # ... in this share of the mutants
NEAR_LINES = 1
NEAR_SHARE = 0.98


def misspell(rng, word):
    at = rng.randrange(len(word))
    return word[:at] + rng.choice("aeiouxyz") + word[at + rng.randrange(2):]


def mutate(rng, text, tokens):
    """The mutant, the offset of what was broken, and how."""
    index = rng.randrange(len(tokens) - 1)
    start, end = tokens[index].span()
    token = tokens[index].group()
    kind = rng.choice(["removed", "doubled", "swapped", "misspelt", "replaced"])
    if kind == "misspelt" and not token[0].isalpha():
        kind = "replaced"
    if kind == "swapped":
        following = tokens[index + 1]
        between = text[end:following.start()]
        return text[:start] + following.group() + between + token + text[following.end():], start, kind
    new = {"removed": "", "doubled": f"{token} {token}", "misspelt": misspell(rng, token),
           "replaced": rng.choice(OTHERS)}[kind]
    return text[:start] + new + text[end:], start, kind


def mutants(rng, count):
    schemas = [(path, path.read_text(encoding="utf-8")) for path in sorted(FEATURES.glob("*.job"))]
    tokens = {path: [token for token in TOKEN.finditer(text) if not token.group().startswith(("//", "/*"))]
              for path, text in schemas}
    # A longer schema gets more mutants.
    weights = [len(tokens[path]) for path, _ in schemas]
    for path, text in rng.choices(schemas, weights, k=count):
        mutant, offset, kind = mutate(rng, text, tokens[path])
        yield path.name, mutant, mutant.count("\n", 0, offset) + 1, kind


def check(culexc, folder, names, *options):
    command = [culexc, "check", "--max-errors=1000", "--message-format=json", *options, *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
    if done.returncode not in (0, 1) or (done.stderr and not options):
        raise SystemExit(f"exit {done.returncode}: {done.stderr.decode()}\n{folder} {names}")
    found = collections.defaultdict(list)
    for line in done.stdout.decode().splitlines():
        one = json.loads(line)
        found[one["file"]].append(one)
    return found


def complain(kind, case, found):
    origin, text, line, how = case
    shown = "\n".join(f"  {one['line']}:{one['column']}: {one['message']} [{one['id']}]" for one in found)
    print(f"{kind}: {origin}, line {line} {how}: {text.splitlines()[line - 1].strip()}\n{shown}")


def errors_of(found):
    return [one for one in found if one["severity"] == "error"]


class Tally:
    def __init__(self):
        self.errors = collections.Counter()
        self.near = self.broken = self.mended = self.worse = 0
        self.repeated = []

    def add_fixed(self, case, before, after):
        """--fix never leaves more errors."""
        self.mended += bool(errors_of(before)) and not errors_of(after)
        if len(errors_of(after)) > len(errors_of(before)):
            self.worse += 1
            if VERBOSE:
                complain("worse", case, after)

    def add(self, case, found):
        errors = errors_of(found)
        places = [(one["line"], one["column"], one["message"]) for one in found]
        self.errors[len(errors)] += 1
        if len(places) != len(set(places)):
            self.repeated.append((case, found))
        if errors:
            self.broken += 1
            is_near = min(abs(one["line"] - case[2]) for one in errors) <= NEAR_LINES
            self.near += is_near
            if VERBOSE and not is_near:
                complain("far", case, errors)
        if VERBOSE and len(errors) > FEW:
            complain("many", case, errors)

    def verdict(self):
        total = sum(self.errors.values())
        few = sum(count for errors, count in self.errors.items() if errors <= FEW)
        for case, found in self.repeated:
            complain("repeated", case, found)
        print("errors: mutants  " + "  ".join(f"{errors}: {count}" for errors, count in sorted(self.errors.items())))
        print(f"at most {FEW} errors: {few / total:.2%}; of {self.broken} broken ones an error within "
              f"{NEAR_LINES} line: {self.near / self.broken:.2%}; said twice: {len(self.repeated)}")
        print(f"--fix mended {self.mended / self.broken:.2%} and made {self.worse} worse")
        return (few / total >= FEW_SHARE and self.worse == 0 and self.near / self.broken >= NEAR_SHARE
                and self.broken > total / 2 and not self.repeated)


VERBOSE = "--verbose" in sys.argv


def main():
    words = [word for word in sys.argv[1:] if word != "--verbose"]
    culexc = pathlib.Path(words[0]).resolve()
    count = int(words[1]) if len(words) > 1 else 4000
    seed = int(words[2]) if len(words) > 2 else 1
    cases = list(mutants(random.Random(seed), count))
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for imported in ("common.job", "types.job"):
            shutil.copy(FEATURES / imported, folder)
        for at in range(0, count, BATCH):
            names = [f"m{at + i}.job" for i in range(len(cases[at:at + BATCH]))]
            for path, case in zip(names, cases[at:]):
                (folder / path).write_text(case[1], encoding="utf-8")
            found = check(culexc, folder, names)
            fixed = check(culexc, folder, names, "--fix")
            for path, case in zip(names, cases[at:]):
                tally.add(case, found[path])
                tally.add_fixed(case, found[path], fixed[path])
                (folder / path).unlink()
    is_good = tally.verdict()
    print(f"{count} mutants, seed {seed}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
