"""Completion in the real shells: what they offer is what the installed culexc and culex take.

usage: completion_test.py bash|zsh|fish REPOSITORY BUILD
"""
import json
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import time

from installed import environment, expect, fail, prefix_copy, run

VALUES = {  # A command line, and the values that the last option has.
    "check --message-format": "human short json sarif github junit",
    "check --color": "auto always never",
    "lint --tier": "minimal basic standard strict comments",
    "breaking --against a.job --mode": "rolling drain",
    "breaking --against a.job --category": "stored source ops",
    "doc --format": "md man",
    "init --build": "meson cmake make",
}
SCHEMA = {
    "schema": 1, "name": "kind", "wire": "kind", "queue": "kinds", "fingerprint": "0123456789abcdef", "priority": 0,
    "timeout_ms": 0, "expires_ms": 0, "keep_success_ms": 0, "keep_failure_ms": 0, "keep_log": 0, "memory_bytes": 0,
    "retry": {"max": 1, "for_ms": 0, "backoff": "constant", "base_ms": 1000, "factor": 1, "cap_ms": 1000, "jitter": "none", "jitter_ratio": 0},
    "params": {"name": "kind_params", "fields": [{"name": "mode", "kind": "enum", "type": "mode", "shape": "single"},
                                                 {"name": "loud", "kind": "bool", "shape": "single"}]},
    "enums": [{"name": "mode", "base": "int32", "values": [{"name": "fast", "value": 0}, {"name": "fair", "value": 1},
                                                           {"name": "slow", "value": 2}]}],
}
ZSHRC = """
fpath=({site} $fpath)
autoload -Uz compinit
compinit -u -d {dump}
compadd() {{
    if [[ " $* " == *' -'[OAD]' '* ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -O hits "$@"
    (( $#hits )) && print -rl -- $IPREFIX${{^hits}} >> {out}
    builtin compadd "$@"
}}
finish() {{ print DONE >> {out}; exit }}
comppostfuncs=(finish)
bindkey '^I' complete-word
"""


class Bash:
    def __init__(self, prefix, folder, env):
        self.scripts = prefix / "share/bash-completion/completions"
        self.script = self.scripts / "culexc"
        self.folder, self.env = folder, env

    def offers(self, line):
        if line.startswith("culex "):
            return self.operator_offers(line)
        words = re.split(r" |(?<==)|(?==)", line)
        code = (f"source {shlex.quote(str(self.script))}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1));"
                "_culexc; printf '%s\\n' \"${COMPREPLY[@]}\"")
        before = line.split(" ")[-1].partition("=")
        found = run("bash", "--norc", "-c", code, "bash", *words, cwd=self.folder, env=self.env).split()
        return {before[0] + "=" + one if before[1] else one for one in found}

    def operator_offers(self, line):
        """It goes by the line alone."""
        code = (f"source {shlex.quote(str(self.scripts / 'culex'))}; COMP_WORDS=(culex); COMP_LINE=$1; COMP_POINT=${{#1}};"
                "_culex; printf '%s\\n' \"${COMPREPLY[@]}\"")
        found = run("bash", "--norc", "-c", code, "bash", line, cwd=self.folder, env=self.env).split()
        before = line.split(" ")[-1].partition("=")
        return {before[0] + "=" + one if before[1] else one for one in found}

    def typed(self, line):
        """What an interactive one on a terminal, with its own wordbreaks, makes of a line, and of one letter behind it."""
        ours, theirs = pty.openpty()
        told = self.folder.parent / "typed"
        told.unlink(missing_ok=True)
        (self.folder.parent / "bashrc").write_text(
            f"source {shlex.quote(str(self.scripts / 'culex'))}\nbind 'set bell-style none'\nPS1='> '\n"
            f"tell() {{ printf %s \"$READLINE_LINE\" >{told}.new; mv {told}.new {told}; exit; }}\nbind -x '\"\\C-t\": tell'\n")
        with subprocess.Popen(["bash", "--noprofile", "--rcfile", self.folder.parent / "bashrc", "-i"], stdin=theirs, stdout=theirs,
                              stderr=theirs, cwd=self.folder, env={**self.env, "TERM": "dumb"}, start_new_session=True) as shell:
            os.close(theirs)
            os.write(ours, f"{line}\tx\x14".encode())
            os.set_blocking(ours, False)
            deadline = time.monotonic() + 60
            while shell.poll() is None and time.monotonic() < deadline and not told.exists():
                try:
                    os.read(ours, 4096)
                except BlockingIOError:
                    time.sleep(0.01)
                except OSError:
                    break
            shell.kill()
        os.close(ours)
        return told.read_text() if told.exists() else fail(f"bash hangs on: {line}")

    def check(self):
        said = run("bash", "--norc", "-c", f"source {shlex.quote(str(self.script))}; complete -p culexc",
                   env=self.env)
        expect("how bash completes", "complete -F _culexc culexc\n", said)
        call = "culex --schema s.json enqueue kind "
        for typed, line in (("lou", "loud=x"), ("loud=t", "loud=true x"), ("mode=", "mode=x"), ("mode=s", "mode=slow x")):
            expect(f"a line with {typed}", call + line, self.typed(call + typed))


class Fish:
    """It finds the file by itself, in one of the folders of XDG_DATA_DIRS."""

    def __init__(self, prefix, folder, env):
        self.folder = folder
        self.env = {**env, "XDG_DATA_DIRS": f"{prefix}/share:/usr/share", "HOME": str(folder.parent),
                    "LC_ALL": "C.UTF-8"}

    def offers(self, line):
        found = run("fish", "-c", f"complete -C {shlex.quote(line)}", cwd=self.folder, env=self.env)
        return {one.split("\t")[0] for one in found.splitlines()}

    def check(self):
        pass


class Zsh:
    """An interactive one on a terminal; what it would offer goes to a file."""

    def __init__(self, prefix, folder, env):
        self.folder, self.home = folder, folder.parent / "zsh"
        self.home.mkdir()
        self.out = self.home / "offers"
        (self.home / ".zshrc").write_text(ZSHRC.format(
            site=shlex.quote(f"{prefix}/share/zsh/site-functions"), out=shlex.quote(str(self.out)),
            dump=shlex.quote(f"{self.home}/dump")))
        self.env = {**env, "ZDOTDIR": str(self.home), "TERM": "dumb", "LC_ALL": "C.UTF-8"}

    def offers(self, line):
        self.out.write_text("")
        ours, theirs = pty.openpty()
        with subprocess.Popen(["zsh", "-d", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
                              cwd=self.folder, env=self.env, start_new_session=True) as shell:
            os.close(theirs)
            os.write(ours, f"{line}\t".encode())
            os.set_blocking(ours, False)
            deadline = time.monotonic() + 60
            while shell.poll() is None and time.monotonic() < deadline:
                try:
                    os.read(ours, 4096)
                except BlockingIOError:
                    time.sleep(0.01)
                except OSError:
                    shell.wait(10)
            if shell.poll() is None:
                shell.kill()
                fail(f"zsh hangs on: {line}")
        os.close(ours)
        found = self.out.read_text().split("\n")
        if "DONE" not in found:
            fail(f"zsh has not completed: {line}")
        return set(found) - {"DONE", ""}

    def check(self):
        pass


def options_of(text):
    """Those of the usage and those that begin a line, as in "-WID, -Wno-ID  give ..."."""
    usage = re.match(r"usage:.*\n(?:  .*\n)*", text).group()
    lines = re.findall(r"^  (-.*?)(?:  |$)", text, re.M)
    return set(re.findall(r"(?<![\w-])(--?[A-Za-z][a-z-]*)", usage + "\n".join(lines))) | {"--help"}


def verbs_check(shell, env):
    shown = run("culexc", "--help", env=env)
    verbs = re.findall(r"^  ([a-z]+) ", shown, re.M)
    expect("verbs", {verb for verb in verbs if verb.startswith("l")}, shell.offers("culexc l"))
    expect("one verb", {"check"}, shell.offers("culexc che"))
    for verb in verbs:
        expect(f"options of {verb}", options_of(run("culexc", verb, "--help", env=env)),
               shell.offers(f"culexc {verb} -"))


def values_check(shell, folder, env):
    for line, words in VALUES.items():
        option = line.split(" ")[-1]
        expect(line, set(words.split()), shell.offers(f"culexc {line} "))
        expect(f"{line}=", {f"{option}={word}" for word in words.split()}, shell.offers(f"culexc {line}="))
        for number, word in enumerate(words.split()):
            file = f"made{number}" if line.startswith("init") else "a.job"
            done = subprocess.run(["culexc", *line.split(), word, file], cwd=folder, env=env,
                                  capture_output=True, check=False)
            if done.returncode == 2:
                fail(f"culexc {line} {word}: {done.stderr.decode()}")


def words_check(shell):
    expect("ids", {"unknown-type"}, shell.offers("culexc explain unknown-ty"))
    expect("switch", {"-Wno-unused-import"}, shell.offers("culexc check -Wno-unused-im"))
    expect("error", {"-Werror=unused-import"}, shell.offers("culexc check -Werror=unused-im"))
    found = {one.rstrip("/") for one in shell.offers("culexc check ")}
    expect("files", {"a.job", "sub"}, found)
    expect("one file", {"a.job"}, shell.offers("culexc lint --tier strict a"))
    found = {one.rstrip("/") for one in shell.offers("culexc gen --out ")}
    expect("folders", {"sub"}, found)


def operator_check(shell, env):
    shown = run("culex", "--help", env=env)
    commands = re.findall(r"^  ([a-z]+) ", shown.split("options, of")[0], re.M)
    expect("commands", {name for name in commands if name.startswith("re")}, shell.offers("culex re"))
    for name in ("purge", "events"):
        options = re.findall(r"^  (--[a-z-]+)", run("culex", name, "--help", env=env), re.M)
        expect(f"options of culex {name}", set(options), shell.offers(f"culex {name} --"))
    expect("states", {"done", "dead"}, shell.offers("culex runs mail --state d"))
    expect("states with =", {"--state=done", "--state=dead"}, shell.offers("culex runs mail --state=d"))
    expect("places", {"oldest", "now"}, shell.offers("culex events mail --from "))
    call = "culex --schema s.json enqueue kind "
    expect("params", {"mode=", "loud="}, shell.offers(call))
    expect("values", {"mode=fast", "mode=fair"}, shell.offers(call + "mode=f"))
    expect("truths", {"loud=true", "loud=false"}, shell.offers(call + "loud="))
    expect("another's values", set(), shell.offers(call + "mod=f"))
    expect("orders", {"quiet"}, shell.offers("culex workers qu"))
    expect("queues of a store that is not there", set(), shell.offers("culex runs "))


def main():
    name, repository, build = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    with tempfile.TemporaryDirectory() as holder:
        prefix = prefix_copy(build, pathlib.Path(holder) / "prefix")
        env = environment(prefix)
        folder = pathlib.Path(holder) / "work"
        (folder / "sub").mkdir(parents=True)
        (folder / "a.job").write_text("package x; job a;\n")
        (folder / "b.txt").touch()
        (folder / "s.json").write_text(json.dumps(SCHEMA))
        shell = {"bash": Bash, "zsh": Zsh, "fish": Fish}[name](prefix, folder, env)
        shell.check()
        verbs_check(shell, env)
        words_check(shell)
        values_check(shell, folder, env)
        operator_check(shell, env)
    print(f"{name} offers what culexc and culex take")


main()
