"""The man pages are well formed, and tell every verb and every option that the programs know.

usage: man_test.py REPOSITORY BUILD
"""
import pathlib
import re
import sys
import tempfile

from installed import environment, expect, fail, hello_copy, prefix_copy, run


# What a command for a death is told.
OF_A_DEATH = {"CULEX_RUN_ID", "CULEX_JOB", "CULEX_QUEUE", "CULEX_ATTEMPT", "CULEX_REASON", "CULEX_ERROR"}


def options(text: str) -> set:
    """As in "-I DIR", "--out DIR" and "-Wno-ID", which is "-Wno-" here."""
    return set(re.findall(r"(?<![\w-])(--?[A-Za-z][a-z-]*)", text))


def page_options(page: str) -> set:
    """As `.Fl -out` and `.Fl I` in the list of options."""
    return {f"-{name}" for line in page.splitlines() if line.startswith(".It Fl ")
            for name in re.findall(r"Fl (-?[A-Za-z][a-z-]*)", line)}


def lint(pages: pathlib.Path) -> None:
    found = sorted(pages.glob("*.[1-8]"))
    if len(found) < 2:
        fail("there are no man pages")
    for path in found:
        run("mandoc", "-T", "lint", "-W", "warning", path)


def compiler_check(page: str, env: dict) -> None:
    shown = run("culexc", "--help", env=env)
    verbs = re.findall(r"^  ([a-z]+) ", shown, re.M)
    expect("verbs of culexc.1", sorted(verbs), sorted(re.findall(r"^\.It Cm ([a-z]+)$", page, re.M)))
    known = set().union(*(options(run("culexc", verb, "--help", env=env)) for verb in verbs))
    expect("options of culexc.1", sorted(known | {"--help", "--version"}),
           sorted(page_options(page)))


def worker_help(repository: pathlib.Path, folder: pathlib.Path, env: dict) -> str:
    hello_copy(repository, folder)
    run("sh", "-euc", "culexc gen --out . hello.job;"
        "cc -o worker worker.c hello_job.c $(pkg-config --cflags --libs culex)", cwd=folder, env=env)
    return run("./worker", "--help", cwd=folder, env=env)


def worker_check(page: str, shown: str) -> None:
    expect("options of culex.7", sorted(options(shown) - {"-h"}), sorted(page_options(page)))
    variables = {"CULEX_" + name[2:].replace("-", "_").upper() for name in page_options(page)
                 if name not in ("--help", "--version", "--doctor", "--check-config")}
    expect("variables of culex.7", sorted(variables | {"CULEX_PASSWORD", "CULEX_SPOOL"} | OF_A_DEATH),
           sorted(set(re.findall(r"CULEX_[A-Z_]+", page))))


def live_check(page: str, env: dict) -> None:
    expect("options of culex-live.1", sorted(options(run("culex-live", "--help", env=env))),
           sorted(page_options(page)))


def command_check(page: str, env: dict) -> None:
    """culex.1 tells of each command, and of the options of all."""
    shown = run("culex", "--help", env=env)
    names = [line.split()[0] for line in shown.split("commands:\n")[1].split("\n\n")[0].splitlines()]
    texts = [shown] + [run("culex", name, "--help", env=env) for name in names]
    expect("commands of culex.1", sorted(names), sorted(set(re.findall(r"^\.It Ic (\w+)", page, re.M))))
    expect("options of culex.1", sorted({option for text in texts for option in options(text)}), sorted(page_options(page)))


def plain(page: pathlib.Path) -> str:
    """What a reader sees of it, without line breaks and spaces, which the formatter sets."""
    return re.sub(r"\s|.\x08", "", run("mandoc", "-T", "ascii", page))


def prototypes(prefix: pathlib.Path) -> dict:
    """Name to text of what the public headers export, each on one line, as they write it."""
    text = "".join(path.read_text() for path in (prefix / "include").rglob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = {}
    for match in re.finditer(r"^CULEX_API\b([^;]*);", text, re.M):
        words = re.sub(r"CULEX_(PRINTF\([^)]*\)|MUST_USE)", "", match.group(1))
        found[re.search(r"\b(culex_\w+)\s*\(", words).group(1)] = re.sub(r"\s", "", words) + ";"
    return found


def functions_check(prefix: pathlib.Path) -> None:
    """Every function of the library has a page by its name, with its prototype."""
    manual = prefix / "share/man/man3"
    exported = {line.split()[-1] for line in
                run("nm", "-D", "--defined-only", prefix / "lib/libculex.so").splitlines()}
    declared = prototypes(prefix)
    expect("functions with a prototype", sorted(exported), sorted(declared))
    for name in sorted(exported):
        page = manual / f"{name}.3"
        link = re.fullmatch(r"\.so man3/(\S+)\n", page.read_text())
        page = manual / link.group(1) if link else page
        seen = plain(page)
        for wanted in (declared[name], "SYNOPSIS", "DESCRIPTION"):
            if wanted not in seen:
                fail(f"{page.name} does not show {wanted}")
    codes = re.findall(r"^ +X\((\w+), (-?\d+), ", (prefix / "include/culex/error.h").read_text(), re.M)
    told = plain(manual / "culex_error.3")
    for name, number in codes:
        if f"CULEX_{name}={number}," not in told:
            fail(f"culex_error.3 does not show CULEX_{name}")
    for page in manual.iterdir():
        if not page.name.startswith("culex"):
            fail(f"{page.name} is the manual of something else")
        if not page.read_text().startswith(".so "):
            run("mandoc", "-T", "lint", "-W", "warning", page)
        elif not (prefix / "share/man" / page.read_text().split()[1]).is_file():
            fail(f"{page.name} leads nowhere")


def main() -> None:
    repository, build = map(pathlib.Path, sys.argv[1:])
    pages = repository / "man"
    lint(pages)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        prefix = prefix_copy(build, scratch / "prefix")
        env = environment(prefix)
        compiler_check((pages / "culexc.1").read_text(), env)
        functions_check(prefix)
        command_check((pages / "culex.1").read_text(), env)
        live_check((pages / "culex-live.1").read_text(), env)
        worker_check((pages / "culex.7").read_text(),
                     worker_help(repository, scratch / "hello", env))
    print("the man pages are well formed and know every verb, option and variable")


main()
