"""Every ```job block of the documentation compiles.

usage: examples.py CULEXC CC INCLUDE_DIR MARKDOWN...
Each is generated, and its C compiled under strict warnings. One with the name of a file may be
imported by those behind it.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```job(?: (\S+\.job))?\n(.*?)^```$", re.M | re.S)
IMPORT = re.compile(r'^import "([^"]+)";', re.M)
# The C block behind one that has a type of the user's own is the header that this type names.
HEADER = re.compile(r"\n```c(?: \S+)?\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r'with "([^"]+)"')
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def block_complaint(tools: list[str], folder: pathlib.Path, text: str) -> str:
    culexc, compiler, include = tools
    source = folder / "example.job"
    source.write_text(text)
    checked = run(culexc, "check", str(source))
    if checked.returncode != 0:
        return checked.stderr + checked.stdout
    imported = [str(folder / name) for name in IMPORT.findall(text)]
    generated = run(culexc, "gen", "--out", str(folder), str(source), *imported)
    if generated.returncode != 0:
        return generated.stderr
    compiled = run(*compiler.split(), *STRICT, f"-I{include}", f"-I{folder}", "-c",
                   str(folder / "example_job.c"), "-o", str(folder / "example.o"))
    return compiled.stderr if compiled.returncode != 0 else ""


def main() -> int:
    tools, pages = sys.argv[1:4], sys.argv[4:]
    failed = total = 0
    for page in pages:
        text, files = pathlib.Path(page).read_text(), {}
        for block in BLOCK.finditer(text):
            total += 1
            name, schema = block.groups()
            with tempfile.TemporaryDirectory() as folder:
                for imported in set(IMPORT.findall(schema)) & set(files):
                    (pathlib.Path(folder) / imported).write_text(files[imported])
                named, header = NAMED.search(schema), HEADER.match(text, block.end())
                if named and header:
                    (pathlib.Path(folder) / named.group(1)).write_text(header.group(1))
                complaint = block_complaint(tools, pathlib.Path(folder), schema)
            if name:
                files[name] = schema
            if complaint:
                failed += 1
                line = text[:block.start()].count("\n") + 1
                print(f"{page}:{line}: {complaint}")
    print(f"{total} examples, {failed} failed")
    return 1 if failed or total == 0 else 0


sys.exit(main())
