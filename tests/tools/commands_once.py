"""The commands of a build, one for each file: the first. What is compiled for several libraries is linted once.

usage: commands_once.py COMPILE_COMMANDS_JSON FOLDER
"""
import json
import pathlib
import sys

rows = {}
for row in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    rows.setdefault((row["directory"], row["file"]), row)
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
(folder / "compile_commands.json").write_text(json.dumps(list(rows.values())))
