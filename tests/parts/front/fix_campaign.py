"""--fix finds back what was meant, or leaves an error standing: it never makes up a third meaning.

fix_campaign.py CULEXC [MUTANTS [SEED]]
Valid schemas get one typo, or two, or a broken token; --fix is run. When nothing is wrong with a
file any more, it must mean what the schema meant before the typo; it never has more errors than
before; and a file without errors keeps its meaning.
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import mutation_test

BATCH = 200
MENDED_SHARE = 0.05  # of what was broken; else nothing is tested here
TYPOS = "abcdefghijklmnopqrstuvwxyz_0123456789"
ALIKE = {"-": "\u2013", '"': "\u201c", "'": "\u2019", " ": "\u00a0", ";": "\uff1b", ",": "\uff0c",
         "(": "\uff08", ")": "\uff09"}

# Names that are near each other and near the words of the language.
NEAR = {
    "near_types.job": "struct strings { int32 x; }\nstruct pointer { int32 x; }\nstruct doubled { int32 y; }\n"
                      "struct point { int32 x; int32 y; }\nenum color { RED, REX, BLUE, BLUR }\n"
                      "enum colors : uint8 { RED, GREEN }\n"
                      "job a { params { string s; strings t; point p; pointer q; doubled d;\n"
                      "  color c = RED; colors k = RED; int32 h = 0xf; int64 g = 0x0b1f; duration w = 5us; optional int8 x[3]; uint8 y; uint16 z; float64 f; } }\n",
    "near_jobs.job": "retry_policy every { max 1; }\nretry_policy none_yet { max 7; }\nretry_policy nine { max 9; }\n"
                     "job rate { retry nine; }\njob rat { retry none; keep success 1h, failure 2h; }\n"
                     "job tag { tags \"x1\", \"x2\", \"y\"; returns { int32 x; } }\n"
                     "job job_s [[retired]];\njob jobs [[deprecated(\"x\")]] { retry every; }\n"
                     "job c {\n  cron \"@daily\" tz \"Europe/Rome\" missed once;\n  retry {\n    max 3;\n"
                     "    backoff exponential 1s\n      factor 2\n      cap 1h;\n    jitter full;\n  }\n}\n",
    "near_params.job": "job a {\n  params { int32 user; int32 users; string str [[min_len(1), max_len(9)]];\n"
                       "    string text_a [[secret, x_a, x_b]]; bool on = true; bool no = false; char h = 'a';\n"
                       "    string i = \"i\"; }\n"
                       "  unique by (user, users)\n    for 5m\n    while (scheduled, waiting)\n    on_conflict keep;\n"
                       "  rate 5 per 1m\n    by (users)\n    burst 9;\n  returns { optional string param; }\n}\n",
}


def typo(rng, text):
    """Nothing that is no letter becomes one: the word beside it would be another then."""
    at = rng.randrange(len(text))
    if not (text[at].isalnum() or text[at] == "_"):
        return text[:at] + rng.choice(["", text[at] * 2, ALIKE.get(text[at], "")]) + text[at + 1:]
    kind = rng.choice(["insert", "delete", "replace", "swap"])
    if kind == "insert":
        return text[:at] + rng.choice(TYPOS) + text[at:]
    if kind == "delete":
        return text[:at] + text[at + 1:]
    if kind == "swap":
        return text[:at] + text[at:at + 2][::-1] + text[at + 2:]
    return text[:at] + rng.choice(TYPOS) + text[at + 1:]


def mutate(rng, text):
    tokens = [token for token in mutation_test.TOKEN.finditer(text)
              if not token.group().startswith(("//", "/*"))]
    if rng.random() < 0.2:
        mutant, _, kind = mutation_test.mutate(rng, text, tokens)
        return mutant if kind != "replaced" else text  # "x;" would become "xword"
    start, end = rng.choice(tokens).span()
    token = text[start:end]
    # A second typo in a text or a number would be a change that nobody can see.
    for _ in range(rng.choice([1, 1, 1, 2]) if token.isalpha() else 1):
        token = typo(rng, token) if token else token
    return text[:start] + token + text[end:]


def meaning(culexc, folder, name):
    """The model without its lines, or None when there are errors."""
    done = subprocess.run([culexc, "ir", name], cwd=folder, capture_output=True, timeout=60, check=False)
    return None if done.returncode else stripped(json.loads(done.stdout))


def stripped(value):
    if isinstance(value, dict):  # An import that is not used has no meaning; types stand where they are used.
        return {key: stripped(item) for key, item in value.items() if key not in ("line", "imports", "file", "stem")
                and not (key in ("header", "source", "guard") and isinstance(item, str))}
    return [stripped(item) for item in value] if isinstance(value, list) else value


class Campaign:
    def __init__(self, culexc, folder, originals):
        self.culexc, self.folder = culexc, folder
        self.meanings = {name: meaning(culexc, folder, name) for name in originals}
        self.faults, self.broken, self.mended, self.touched = [], 0, 0, 0

    def judge(self, origin, before, name, found):
        """`found`: errors before and after."""
        after = (self.folder / name).read_text(encoding="utf-8")
        self.touched += after != before
        if found[0] == 0:
            expected = self.was.get(name)
        else:
            self.broken += 1
            expected = self.meanings[origin]
        if found[1] > found[0]:
            self.complain("more errors", before, after, name)
        if found[1] == 0 and after != before:
            self.mended += found[0] > 0
            if meaning(self.culexc, self.folder, name) != expected:
                self.complain("another meaning", before, after, name)

    def complain(self, what, before, after, name):
        lines = [f"  - {old.strip()}\n  + {new.strip()}" for old, new in
                 zip(before.splitlines(), after.splitlines()) if old != new]
        self.faults.append(f"{what}: {name}\n" + "\n".join(lines[:4]))

    def batch(self, cases):
        names = [f"m{at}.job" for at in range(len(cases))]
        for name, (_, text) in zip(names, cases):
            (self.folder / name).write_text(text, encoding="utf-8")
        check = mutation_test.check
        before = check(self.culexc, self.folder, names)
        errors = {name: len(mutation_test.errors_of(before[name])) for name in names}
        # Only a warning's fix can change a file without errors.
        self.was = {name: meaning(self.culexc, self.folder, name) for name in names
                    if errors[name] == 0 and before[name]}
        after = check(self.culexc, self.folder, names, "--fix")
        for name, (origin, text) in zip(names, cases):
            self.judge(origin, text, name, (errors[name], len(mutation_test.errors_of(after[name]))))


def main():
    culexc = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in mutation_test.FEATURES.glob("*.job"):
            shutil.copy(path, folder)
        for path, text in NEAR.items():
            (folder / path).write_text(text, encoding="utf-8")
        originals = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.job"))}
        campaign = Campaign(culexc, folder, originals)
        assert None not in campaign.meanings.values(), campaign.meanings
        names = sorted(originals) + sorted(NEAR) * 3
        for at in range(0, count, BATCH):
            origins = rng.choices(names, k=min(BATCH, count - at))
            campaign.batch([(origin, mutate(rng, originals[origin])) for origin in origins])
    print("\n".join(campaign.faults))
    print(f"{count} mutants, seed {seed}: {campaign.broken} broken, {campaign.touched} changed, "
          f"{campaign.mended / campaign.broken:.1%} mended, {len(campaign.faults)} made worse or something else")
    sys.exit(1 if campaign.faults or campaign.mended < campaign.broken * MENDED_SHARE else 0)


if __name__ == "__main__":
    main()
