"""Turns an SQL file into a C text: embed.py IN.sql OUT.h NAME

Its bytes are numbers, for C promises no string literal of more than 4,095."""
import sys

source, target, name = sys.argv[1:]
with open(source, encoding="utf-8") as text:
    lines = [line.split("--")[0].rstrip() for line in text]
with open(target, "w", encoding="utf-8") as out:
    out.write(f"static const char {name}[] = {{\n")
    for line in filter(None, lines):
        out.write("    " + "".join(f"{byte}, " for byte in f"{line}\n".encode()) + "\n")
    out.write("    0};\n")
