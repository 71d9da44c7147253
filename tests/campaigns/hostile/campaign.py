"""Compiles thousands of hostile schemas and looks at everything that comes out.

    python3 campaign.py CULEXC RELAY CTOKENS [--schemas N] [--seed N] [--batch N] [--keep DIR]

Held against each: culexc ends by itself with 0 or 1 and in time, prints nothing that a terminal
would obey, and writes its two files and nothing else. Of what is generated: all text of the
schema stands in comments and literals that end where they should; every word is one of the
templates' own or a C name that the model holds; the code is the same as that of a schema of the
same shape with harmless texts; and a compiler takes it without a warning. --batch N runs one
batch again, with --keep DIR into a folder that stays.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Dict, List, Optional, Set

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "parts", "render"), os.path.join(ROOT, "codegen", "render")]

import schemas

BATCH = 9          # files of one call; of texts one is the harmless one
KINDS = ("texts", "names", "texts", "damaged", "texts", "names", "texts")
PER_ROUND = len(KINDS) * BATCH - KINDS.count("texts")
SECONDS = 60       # that one call may take
COMPILED = 60      # files in one translation unit
# What neither a terminal nor a generated file may get.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
FEATURES = os.path.join(ROOT, "schemas", "feature")
C_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*\Z")
SUFFIXES = ("_fields", "_values", "_tags", "_steps_ms", "_call", "_type")
CFLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only",
          "-I" + os.path.join(ROOT, "runtime", "include")]


class Finding(Exception):
    pass


class Renderer(threading.Thread):
    """Answers the relay as render.py answers culexc, and remembers the models it saw."""

    def __init__(self, path: str) -> None:
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.models: Dict[str, Any] = {}
        self.failures: List[str] = []

    def run(self) -> None:
        while True:
            with self.listener.accept()[0] as peer:
                data = bytearray()
                for chunk in iter(lambda: peer.recv(1 << 20), b""):
                    data += chunk
                try:
                    peer.sendall(b"\0" + self.answer(bytes(data)))
                except Exception as error:  # the campaign reports it
                    self.failures.append(repr(error))
                    peer.sendall(b"\1render: failed\n")

    def answer(self, data: bytes) -> bytes:
        import render

        for model in json.loads(data)["files"]:
            self.models[model["header"]] = model
        return json.dumps(render.answer(data)).encode("ascii")


class Lexer:
    """ctokens.c, started once."""

    def __init__(self, path: str) -> None:
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, path: str) -> Dict[str, Set[str]]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        said: Dict[str, Set[str]] = {"skeleton": set(), "word": set(), "wrong": set()}
        for line in iter(self.process.stdout.readline, "\n"):
            if not line:
                raise Finding(f"the lexer ended at {path}")
            kind, _, rest = line.rstrip("\n").partition(" ")
            said[kind].add(rest)
        return said


def model_words(model: Any) -> Set[str]:
    """All C names that a model may put into its files, its own and those made from them."""
    names = {model["guard"], model["export_macro"] or "CULEX_HIDDEN"}
    local: Set[str] = set()

    def record(c: str, make: str, fields: List[Any], *more: str) -> None:
        names.update((c, make, *more))
        for field in fields:
            names.update(name for name in (field["c"], field["has_c"], field["len_c"], field["set_c"]) if name)
            if field["ref"] is not None:
                names.update((field["ref"]["c"], field["ref"]["type_symbol"]))
            if field["default"] is not None and field["default"].get("c"):
                names.add(field["default"]["c"])
            local.update(f"{before}{field['c']}_{what}" for before in ("", c + "_") for what in ("default", "data"))

    for enum in model["enums"]:
        names.update((enum["c"], enum["type_symbol"], enum["name_function"]))
        names.update(value["c"] for value in enum["values"])
    for own in model["types"]:
        names.update((own["c"], own["type_symbol"], own["parse"], own["format"]))
        local.update(f"{own['type_symbol']}_{what}" for what in ("parse", "format"))
    for struct in model["structs"]:
        record(struct["c"], struct["make"], struct["fields"], struct["type_symbol"])
    for job in model["jobs"]:
        record(job["c"], job["functions"]["make"], job["params"], job["params_symbol"])
        names.update(name for name in job["functions"].values() if name)
        if job["result"] is not None:
            result = job["result"]
            record(result["c"], result["make"], result["fields"], result["decode"])
    return names | local | {name + suffix for name in names for suffix in SUFFIXES}


def template_words(culexc: str, lexer: Lexer) -> Set[str]:
    """The words of the golden files that are not names of their models."""
    import samples

    golden = os.path.join(ROOT, "tests", "parts", "render", "golden")
    models = [("sample", case()) for case in samples.CASES.values()]
    for name in os.listdir(FEATURES):
        if os.path.exists(os.path.join(golden, "feature", name.replace(".job", "_job.h"))):
            printed = subprocess.run([culexc, "ir", "-I", FEATURES, os.path.join(FEATURES, name)], check=True,
                                     stdout=subprocess.PIPE).stdout
            models.append(("feature", json.loads(printed)["files"][0]))
    words: Set[str] = set()
    for folder, model in models:
        names = model_words(model)
        for name in (model["header"], model["source"]):
            found = lexer.read(os.path.join(golden, folder, name))["word"]
            words |= {word for word in found if word.rstrip("_") not in names}
    return words


class Campaign:
    def __init__(self, arguments: argparse.Namespace, place: str) -> None:
        self.arguments = arguments
        self.place = place
        self.environment = {"PATH": os.environ["PATH"], "CULEX_PYTHON": os.path.abspath(arguments.relay),
                            "HOSTILE_SOCKET": os.path.join(place, "socket"), "TMPDIR": os.path.join(place, "tmp"),
                            "CULEX_DATADIR": os.path.join(ROOT, "codegen", "render"),
                            "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=98"}
        for name in ("tmp", "in", "out"):
            os.mkdir(os.path.join(place, name))
        self.renderer = Renderer(os.path.join(place, "socket"))
        self.renderer.start()
        self.lexer = Lexer(arguments.ctokens)
        self.template_words = template_words(arguments.culexc, self.lexer)
        # A type of the user's own needs a header of its name, and damage would change that.
        self.honest = [text for text in map(self.read, honest_schemas()) if b'with "' not in text]
        self.counts = {kind: [0, 0] for kind in ("texts", "names", "damaged")}
        self.skeletons: Dict[str, Set[str]] = {}
        self.pending: List[str] = []
        self.compiled = 0
        self.slowest = 0.0

    @staticmethod
    def read(path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    # One batch.

    def run_batch(self, number: int) -> None:
        dice = random.Random(f"{self.arguments.seed}/{number}")
        kind = KINDS[number % len(KINDS)]
        tags = [f"{number}k{at}" for at in range(BATCH)]
        if kind == "damaged":
            texts = schemas.damaged(dice, [f"p{tag}" for tag in tags], self.honest)
        else:
            make = schemas.texts if kind == "texts" else schemas.names
            texts = [text.encode() for text in make(dice, [f"p{tag}" for tag in tags])]
        stems = [f"s{tag}" for tag in tags]
        for stem, text in zip(stems, texts):
            with open(os.path.join(self.place, "in", stem + ".job"), "wb") as file:
                file.write(text)
        self.renderer.models.clear()
        self.compile_schemas(stems)
        accepted = [stem for stem in stems if self.look_at(stem)]
        if kind == "texts":
            self.compare(stems, accepted)
        self.counts[kind][0] += BATCH - (kind == "texts")
        self.counts[kind][1] += len(accepted) - (kind == "texts" and stems[0] in accepted)
        self.look_around(stems, accepted)
        for stem in stems:
            os.unlink(os.path.join(self.place, "in", stem + ".job"))
        packaged = [stem for stem in accepted
                    if self.renderer.models[stem + "_job.h"]["package"] == "p" + stem[1:]]
        self.pending += packaged
        self.compile(sorted(set(accepted) - set(packaged))[:1])
        for stem in sorted(set(accepted) - set(packaged)):
            self.forget([stem])
        if len(self.pending) >= COMPILED:
            self.flush()

    def compile_schemas(self, stems: List[str]) -> None:
        files = [f"in/{stem}.job" for stem in stems]
        begin = time.monotonic()
        process = subprocess.Popen([os.path.abspath(self.arguments.culexc), "gen", "-I", "in", "--out", "out", *files],
                                   cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Finding(f"culexc took more than {SECONDS} s") from None
        self.slowest = max(self.slowest, time.monotonic() - begin)
        if self.renderer.failures:
            raise Finding("the renderer refused what culexc accepted: " + self.renderer.failures.pop())
        if process.returncode not in (0, 1):
            raise Finding(f"culexc ended with {process.returncode}: {err[-3000:]!r}")
        if out:
            raise Finding(f"culexc gen printed {out[:200]!r}")
        found = FORBIDDEN.search(err.decode("utf-8"))
        if found is not None:
            at = found.start()
            raise Finding(f"a message holds {found.group()!r}: {err.decode('utf-8')[max(0, at - 300):at + 100]!r}")

    # What came out of one schema.

    def look_at(self, stem: str) -> bool:
        """Whether the schema was accepted."""
        paths = [os.path.join(self.place, "out", f"{stem}_job.{end}") for end in "hc"]
        existing = [path for path in paths if os.path.lexists(path)]
        if not existing:
            return False
        if len(existing) == 1:
            raise Finding(f"{stem}: one file of two was written")
        names = model_words(self.renderer.models[stem + "_job.h"])
        reserved = sorted(name for name in names if not C_NAME.match(name))
        if reserved:
            raise Finding(f"{stem}: names that C reserves: {reserved}")
        allowed = self.template_words | names
        for path in paths:
            self.check_text(path)
            said = self.lexer.read(path)
            foreign = {word for word in said["word"] if word not in allowed and word.rstrip("_") not in allowed}
            if said["wrong"] or foreign:
                raise Finding(f"{os.path.basename(path)}: {sorted(said['wrong'])} foreign words: {sorted(foreign)}")
            self.skeletons[path] = said["skeleton"]
        return True

    def check_text(self, path: str) -> None:
        text = self.read(path).decode("utf-8")
        found = FORBIDDEN.search(text)
        if found is not None:
            raise Finding(f"{os.path.basename(path)} holds {found.group()!r}")

    def compare(self, stems: List[str], accepted: List[str]) -> None:
        if stems[0] not in accepted:
            raise Finding("the harmless schema was refused")
        for stem in accepted[1:]:
            for end in "hc":
                twin, path = (os.path.join(self.place, "out", f"{name}_job.{end}") for name in (stems[0], stem))
                if self.skeletons[twin] != self.skeletons[path]:
                    raise Finding(f"{stem}_job.{end}: other code than with harmless texts ({stems[0]})")

    def look_around(self, stems: List[str], accepted: List[str]) -> None:
        """Nothing is anywhere but what was put or generated there."""
        expected = {"tmp": set(), "in": {stem + ".job" for stem in stems},
                    "out": {f"{stem}_job.{end}" for stem in [*accepted, *self.pending] for end in "hc"}}
        for name, files in expected.items():
            there = set(os.listdir(os.path.join(self.place, name)))
            if there != files:
                raise Finding(f"{name}/ holds {sorted(there ^ files)}")
        if set(os.listdir(self.place)) != {"tmp", "in", "out", "socket"}:
            raise Finding(f"strange files: {os.listdir(self.place)}")

    # Compilation of what came out.

    def compile(self, stems: List[str]) -> None:
        if not stems:
            return
        out = os.path.join(self.place, "out")
        text = "".join(f'#include "{stem}_job.c"\n' for stem in stems)
        turn = self.compiled // COMPILED % 3
        command = [["gcc", "-std=c11", "-trigraphs", "-xc"], ["g++", "-std=c++11", "-xc++"],
                   ["clang", "-std=c2x", "-xc"]][turn]
        done = subprocess.run([*command, *CFLAGS, f"-I{out}", "-"], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300, check=False)
        if done.returncode != 0 or done.stdout:
            raise Finding(f"{command[0]}: {done.stdout[:3000]}")
        self.compiled += len(stems)

    def flush(self) -> None:
        self.compile(self.pending)
        self.forget(self.pending)
        self.pending = []

    def forget(self, stems: List[str]) -> None:
        for stem in stems:
            for end in "hc":
                os.unlink(os.path.join(self.place, "out", f"{stem}_job.{end}"))


def honest_schemas() -> List[str]:
    folders = [FEATURES, os.path.join(ROOT, "tests", "parts", "front", "check")]
    return [os.path.join(folder, name) for folder in folders for name in sorted(os.listdir(folder))
            if name.endswith(".job")]


def run(arguments: argparse.Namespace, place: str) -> int:
    campaign = Campaign(arguments, place)
    batches = [arguments.batch] if arguments.batch is not None else range(-(-arguments.schemas * len(KINDS) // PER_ROUND))
    for number in batches:
        try:
            campaign.run_batch(number)
            if number == batches[-1]:
                campaign.flush()
        except Finding as finding:
            print(f"seed {arguments.seed}, batch {number}: {finding}")
            print(f"again: campaign.py ... --seed {arguments.seed} --batch {number} --keep DIR")
            return 1
    total = sum(count for count, _ in campaign.counts.values())
    shown = ", ".join(f"{kind} {count} ({accepted} accepted)" for kind, (count, accepted) in campaign.counts.items())
    used = sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    print(f"{total} schemas: {shown}; {campaign.compiled} compiled")
    print(f"slowest call ({BATCH} schemas): {campaign.slowest:.2f} s; {used:.0f} s of CPU without the lexer")
    idle = [kind for kind, (count, accepted) in campaign.counts.items() if count >= 100 and accepted * 20 < count]
    print("".join(f"hardly any of {kind} is accepted\n" for kind in idle), end="")
    return 1 if idle else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("culexc", "relay", "ctokens"):
        parser.add_argument(name)
    parser.add_argument("--schemas", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    if arguments.keep:
        os.makedirs(arguments.keep)
        return run(arguments, os.path.abspath(arguments.keep))
    with tempfile.TemporaryDirectory() as place:
        return run(arguments, place)


if __name__ == "__main__":
    sys.exit(main())
