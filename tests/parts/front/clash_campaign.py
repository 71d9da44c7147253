"""`check` refuses two files exactly when their C cannot meet in one program, or two jobs share a stored name.

clash_campaign.py CULEXC CC ROOT [SETS [SEED]]
Small sets of files with names that are near each other are checked together. The judges know
nothing of the compiler: each file is generated alone, a C compiler reads all headers in one
translation unit, and the symbols of the objects and the stored names are compared.
"""
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PACKAGES = [None, None, None, "a", "a.b", "a_b"]
STEMS = ["c", "b_c", "a_b_c", "B-C"]
NAMES = ["a", "b", "a_b", "b_job", "a_type", "j", "b_j"]


def declaration(rng, name):
    field = rng.choice(["int32 x", "string y"])
    return rng.choice([f"struct {name} {{ {field}; }}", f"enum {name} {{ A{name}, B }}",
                       f"job {name} {{ params {{ {field}; }} }}", f"job {name};",
                       f"job {name} {{ returns {{ {field}; }} }}",
                       *[f'job {name} [[was("{rng.choice(NAMES)}")]];'] * 3])


def schema(rng):
    package = rng.choice(PACKAGES)
    lines = [f"package {package};"] if package else []
    return "\n".join(lines + [declaration(rng, name) for name in rng.sample(NAMES, rng.choice([1, 2]))]) + "\n"


class Judge:
    def __init__(self, culexc, compiler, root):
        self.culexc, self.compiler = culexc, [compiler, "-w", "-std=c11", f"-I{root}/runtime/include"]

    def run(self, folder, *command):
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False, text=True)

    def culexc_ok(self, folder, *words):
        done = self.run(folder, self.culexc, *words)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{words}: {done.stderr}")
        return done.returncode == 0, done.stderr

    def symbols(self, folder, source):
        self.must(folder, *self.compiler, "-c", source, "-o", f"{source}.o")
        listing = self.must(folder, "nm", "-g", "--defined-only", f"{source}.o")
        return [line.split()[-1] for line in listing.splitlines() if line]

    def must(self, folder, *command):
        done = self.run(folder, *command)
        if done.returncode != 0:
            raise SystemExit(f"{command}: {done.stderr}")
        return done.stdout

    def wires(self, folder, name):
        """As the generated C has them."""
        text = (folder / name.replace(".job", "_job.c")).read_text()
        return re.findall(r'"([^"]*)", +/\* its name in the store \*/', text)

    def fault(self, folder, names):
        """Why the files cannot meet, found without the compiler's help; None when they can."""
        for name in names:
            self.must(folder, self.culexc, "gen", "--out", ".", name)
        headers = [name.replace(".job", "_job.h") for name in names]
        for order in [headers, headers[::-1]]:
            # Each header must bring what it declares: its own source would miss it otherwise.
            text = "".join(f'#include "{header}"\n' for header in order)
            for header in headers:
                for made in re.findall(r"^(?:CULEX_HIDDEN )?extern const \S+ (\w+);", (folder / header).read_text(),
                                       re.M):
                    text += f"const void *use_{text.count('(void)')}(void) {{ return &{made}; }}\n"
            (folder / "all.c").write_text(text)
            if self.run(folder, *self.compiler, "-fsyntax-only", "all.c").returncode != 0:
                return "headers"
        found = [symbol for header in headers for symbol in self.symbols(folder, header[:-1] + "c")]
        if len(found) != len(set(found)):
            return "symbols"
        wires = [wire for name in names for wire in self.wires(folder, name)]
        return "stored names" if len(wires) != len(set(wires)) else None


def one_set(judge, seed):
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        names = []
        while len(names) < rng.choice([2, 2, 3]):
            stem = rng.choice([stem for stem in STEMS if f"{stem}.job" not in names])
            (folder / f"{stem}.job").write_text(schema(rng))
            if judge.culexc_ok(folder, "check", f"{stem}.job")[0]:  # A set of good files.
                names.append(f"{stem}.job")
        is_taken, said = judge.culexc_ok(folder, "check", *names)
        fault = judge.fault(folder, names)
        is_right = is_taken == (fault is None)
        texts = "".join(f"--- {at}\n{(folder / at).read_text()}" for at in names)
        return fault, "" if is_right else f"{fault} and yet taken: {is_taken}\n{said}{texts}"


def main():
    culexc, compiler, root = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 40
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    judge = Judge(culexc, compiler, root)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda at: one_set(judge, f"{seed}.{at}"), range(count)))
    faults = [said for _, said in results if said]
    kinds = {kind: sum(1 for found, _ in results if found == kind)
             for kind in [None, "headers", "symbols", "stored names"]}
    print("\n".join(faults))
    print(f"{count} sets, seed {seed}: {kinds}; judged otherwise: {len(faults)}")
    sys.exit(1 if faults or not kinds[None] or not kinds["headers"] or not kinds["stored names"] else 0)


if __name__ == "__main__":
    main()
