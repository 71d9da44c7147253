"""The hooks and the step of a workflow: what stands in their files is parsed and run.

usage: hooks_test.py REPOSITORY BUILD

What is not shown: that pre-commit and GitHub's runner read the files as this test does.
"""
import pathlib
import re
import shlex
import sys
import tempfile

import yaml
from installed import environment, expect, fail, prefix_copy, run

GOOD = "package shop;\n\njob mail {\n    params { string to; }\n}\n"
BAD = GOOD.replace("string", "sting")
UGLY = GOOD.replace("    params", "  params")
NARROWED = GOOD.replace("string to", "int32 to")


class Work:
    """A repository with a commit of GOOD, and the commands that are installed."""

    def __init__(self, scratch, env, name):
        self.folder, self.env = scratch / name, env
        (self.folder / "jobs").mkdir(parents=True)
        self.run("git", "init", "-q", "-b", "trunk", ".")
        self.write(GOOD)
        self.run("git", "add", ".")
        self.commit("start")

    def run(self, *words, **more):
        return run(*words, cwd=self.folder, env=self.env, **more)

    def write(self, text, name="jobs/mail.job"):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def commit(self, message, status=0):
        return self.run("git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", message,
                        "--allow-empty", status=status)


# ---- pre-commit ----

def hook_run(work, hook, status, words=()):
    args = [*words] or hook["args"]
    return work.run(*shlex.split(hook["entry"]), *args, status=status)


def hooks_check(repository, scratch, env):
    hooks = {hook["id"]: hook for hook in yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text())}
    expect("hooks", {"culexc-check", "culexc-lint", "culexc-fmt", "culexc-lock"}, set(hooks))
    work = Work(scratch, env, "framework")
    for name, hook in hooks.items():
        expect(f"keys of {name}", {"id", "name", "description", "entry", "args", "language", "files",
                                   "pass_filenames"}, set(hook))
        expect(f"kind of {name}", ("system", False), (hook["language"], hook["pass_filenames"]))
        for path, is_ours in (("a.job", True), ("jobs/a.job", True), ("a.job.orig", False), ("ajob", False)):
            expect(f"{name} and {path}", is_ours, re.search(hook["files"], path) is not None)
    hook_run(work, hooks["culexc-lint"], 0)
    hook_run(work, hooks["culexc-check"], 0)
    hook_run(work, hooks["culexc-lock"], 1)
    work.run("culexc", "lock", ".")
    hook_run(work, hooks["culexc-lock"], 0)
    work.write(UGLY)
    hook_run(work, hooks["culexc-fmt"], 0)
    expect("laid out", GOOD, (work.folder / "jobs/mail.job").read_text())
    work.write(BAD)
    expect("what is wrong", True, "jobs/mail.job:4:14: error: unknown type" in hook_run(work, hooks["culexc-check"], 1))
    work.write("folders: [jobs]\n", "culex.yaml")
    work.write(GOOD)
    work.write(BAD, "elsewhere/other.job")
    hook_run(work, hooks["culexc-check"], 0, ["jobs"])
    hook_run(work, hooks["culexc-check"], 1)


# ---- the plain hook of git ----

def git_hook_check(prefix, scratch, env):
    work = Work(scratch, env, "git")
    hook = work.folder / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    run("cp", prefix / "share/culex/pre-commit", hook)  # git leaves out a hook that is not executable
    work.write("nothing of ours\n", "README")
    work.run("git", "add", ".")
    work.commit("no schema")
    for text, wanted in ((BAD, "unknown type 'sting'"), (UGLY, "use: culexc fmt -w")):
        work.write(text)
        work.commit("not staged")
        work.run("git", "add", ".")
        work.write(GOOD)  # What is staged counts, not what lies beside it.
        expect("what is refused", True, wanted in work.commit("refused", status=1))
        work.run("git", "reset", "-q", "--hard")
    work.write("", "culex.yaml")
    work.run("culexc", "lock")
    work.run("git", "add", ".")
    work.commit("a project with a lock")
    work.write(GOOD.replace("to;", "to; string cc[];"))
    work.run("culexc", "fmt", "-w", ".")
    work.run("git", "add", ".")
    expect("a lock that was forgotten", True, "out of date" in work.commit("refused", status=1))
    work.run("culexc", "lock")
    work.run("git", "add", ".")
    work.commit("with its lock")
    work.run("git", "rm", "-q", "jobs/mail.job")
    expect("a lock without schemas", True, "./jobs.lock" in work.commit("refused", status=1))
    work.write("[[package]]\n", "poetry.lock")  # That of another program.
    work.run("git", "rm", "-q", "jobs.lock")
    work.run("git", "add", ".")
    work.commit("neither lock nor schemas")
    work.write("", "own/culex.yaml")
    work.write(BAD, "own/a.job")
    work.run("git", "add", ".")
    expect("another project", True, "sting" in work.commit("refused", status=1))


# ---- the step of a workflow ----

def action_run(step, inputs, work, env, status=0):
    """As the runner does: inputs are put into the environment, and bash runs the text."""
    filled = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found.group(1)], value)
              for name, value in step.get("env", {}).items()}
    expect("no input in a script", None, re.search(r"\$\{\{", step["run"]))
    return run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=work.folder,
               env={**env, **filled}, status=status)


def action_check(repository, prefix, scratch, env):
    action = yaml.safe_load((repository / "integration/github/action.yml").read_text())
    expect("kind of action", "composite", action["runs"]["using"])
    build, check, compare = action["runs"]["steps"]
    expect("shells", {"bash"}, {step["shell"] for step in action["runs"]["steps"]})
    defaults = {name: one["default"] for name, one in action["inputs"].items()}

    # A stand-in for the checkout of Culex, whose ./dev build has been run already.
    tree = scratch / "culex"
    (tree / "integration/github").mkdir(parents=True)
    (tree / "dev").write_text('#!/bin/sh\n[ "$*" = build ] && mkdir -p "$(dirname "$0")/build" &&\n'
                              f'ln -s {shlex.quote(str(prefix))} "$(dirname "$0")/build/prefix"\n')
    (tree / "dev").chmod(0o755)
    work = Work(scratch, env, "action")
    path = scratch / "github_path"
    runner = {**env, "GITHUB_ACTION_PATH": str(tree / "integration/github"), "GITHUB_PATH": str(path),
              "GITHUB_BASE_REF": ""}
    action_run(build, defaults, work, runner)
    place = pathlib.Path(path.read_text().strip())
    if not (place / "culexc").exists():
        fail(f"no culexc in {place}")
    if "verb_build()" not in (repository / "dev").read_text():
        fail("./dev has no verb 'build'")
    runner["PATH"] = f"{place}:{runner['PATH'].replace(f'{prefix}/bin:', '')}"

    expect("a clean folder", "", action_run(check, defaults, work, runner))
    expect("nothing to compare with", "", action_run(compare, defaults, work, runner))
    work.run("git", "clone", "-q", "--bare", ".", scratch / "origin")
    work.run("git", "remote", "add", "origin", f"file://{scratch}/origin")
    pull = {**runner, "GITHUB_BASE_REF": "trunk"}
    expect("no change", "", action_run(compare, defaults, work, pull))
    work.write(NARROWED)
    said = action_run(compare, defaults, work, pull, status=1)
    expect("a change that breaks", True, said.startswith("::error file=jobs/mail.job,line=4,"))
    expect("another mode", said, action_run(compare, {**defaults, "mode": "drain"}, work, pull, status=1))
    work.write(BAD)
    said = action_run(check, {**defaults, "folder": "jobs"}, work, runner, status=1)
    expect("an error", True, said.startswith("::error file=jobs/mail.job,line=4,"))
    hostile = {**defaults, "folder": "$(touch made); touch made"}
    action_run(check, hostile, work, runner, status=3)
    expect("an input that is a command", False, (work.folder / "made").exists())


def main():
    repository, build = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = prefix_copy(build, scratch / "my prefix")
        env = environment(prefix)
        hooks_check(repository, scratch, env)
        git_hook_check(prefix, scratch, env)
        action_check(repository, prefix, scratch, env)
    print("the hooks and the step find what is wrong, and pass what is good")


main()
