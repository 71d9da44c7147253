"""Turns an SQL file into a C string literal: embed.py IN.sql OUT.h NAME"""
import sys

source, target, name = sys.argv[1:]
with open(source, encoding="utf-8") as text:
    lines = [line.split("--")[0].rstrip() for line in text]
with open(target, "w", encoding="utf-8") as out:
    out.write(f"static const char {name}[] =\n")
    for line in filter(None, lines):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"')
        out.write(f'    "{escaped}\\n"\n')
    out.write("    ;\n")
