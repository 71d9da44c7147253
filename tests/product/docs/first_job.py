"""The README's first job, followed to the letter, and the table of options held against --help.

usage: first_job.py REPOSITORY BUILD
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.M | re.S)


def environment(build: pathlib.Path) -> dict[str, str]:
    prefix = subprocess.run(["sh", str(build / "tests/lib/stage.sh")], check=True, capture_output=True,
                            text=True).stdout.strip()
    found = dict(os.environ)
    for name in [name for name in found if name.startswith("CULEX_")]:
        del found[name]
    found["PATH"] = f"{prefix}/bin:{found['PATH']}"
    found["PKG_CONFIG_PATH"] = f"{prefix}/lib/pkgconfig"
    found["LD_LIBRARY_PATH"] = f"{prefix}/lib"
    return found


def follow(readme: str, repository: pathlib.Path, folder: str, env: dict[str, str]) -> str:
    """Runs the steps in `folder`; returns what the worker printed."""
    (pathlib.Path(folder) / "hello.job").write_text(blocks(readme, "job")[0])
    for name in ("enqueue.c", "worker.c"):
        (pathlib.Path(folder) / name).write_text((repository / "examples/hello" / name).read_text())
    steps = "\n".join(block for block in blocks(readme, "sh") if "./dev build" not in block)
    done = subprocess.run(["sh", "-euc", steps], cwd=folder, env=env, capture_output=True, text=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        sys.exit(f"a step failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def options(text: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z-]+", text)) - {"--help", "--version"}


def variables(text: str) -> set[str]:
    return set(re.findall(r"CULEX_[A-Z_]+", text))


def main() -> None:
    repository, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    readme = (repository / "README.md").read_text()
    env = environment(build)
    with tempfile.TemporaryDirectory() as folder:
        printed = follow(readme, repository, folder, env)
        if printed != "Hello, Ann!\n":
            sys.exit(f"the worker printed {printed!r}")
        shown = subprocess.run([f"{folder}/worker", "--help"], env=env, capture_output=True,
                               text=True, check=True).stdout
    page = (repository / "docs/operating.md").read_text()
    part = page.split("<!-- options:")[1].split("\n## ")[0]
    table = "\n".join(line for line in part.splitlines() if line.startswith("|"))
    if options(table) != options(shown):
        sys.exit(f"docs/operating.md and --help differ in {sorted(options(table) ^ options(shown))}")
    # What an option asks once, and no environment should ask always, has an empty second column.
    asking = {option for row in table.splitlines() if re.match(r"\| `--[^|]*\| +\|", row)
              for option in options(row.split("|")[1])} & {"--doctor", "--check-config"}
    expected = {"CULEX_" + option[2:].replace("-", "_").upper()
                for option in options(table) - asking}
    if variables(table) != expected:
        sys.exit(f"variables are not named after options: {sorted(variables(table) ^ expected)}")
    if max(map(len, shown.splitlines())) > 80:
        sys.exit("--help is wider than 80 columns")
    print("the first job works, and the documented options are those of --help")


if __name__ == "__main__":
    main()
