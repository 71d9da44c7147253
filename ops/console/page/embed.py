"""Turns the files of the page into a C text: embed.py OUT.h FILE...

Their bytes are numbers, for C promises no string literal of more than 4,095. The tag of each changes with its bytes."""
import hashlib
import pathlib
import sys

TYPES = {".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml"}

target, *sources = sys.argv[1:]
rows = []
with open(target, "w", encoding="utf-8") as out:
    for number, source in enumerate(map(pathlib.Path, sorted(sources))):
        data = source.read_bytes()
        tag = hashlib.sha256(data).hexdigest()[:16]
        lines = [", ".join(map(str, data[at : at + 24])) for at in range(0, len(data), 24)]
        out.write(f"static const unsigned char page_{number}[] = {{\n    " + ",\n    ".join(lines) + "};\n")
        rows.append(f'    {{"{source.name}", "{TYPES[source.suffix]}", "\\"{tag}\\"", page_{number}, sizeof page_{number}}},\n')
    out.write("static const struct page_file page_files[] = {\n" + "".join(rows) + "};\n")
