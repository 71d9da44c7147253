"""Stands in for the renderer: two files that show what the model said."""
import json
import sys

files = []
for ir in json.load(sys.stdin)["files"]:
    if ir["package"] == "fail":
        sys.exit("render: told to fail")
    header = "../" + ir["header"] if ir["package"] == "escape" else ir["header"]
    files += [{"name": header, "content": "/* é " + ir["guard"] + " */\n"},
              {"name": ir["source"], "content": "/* " + " ".join(j["c"] for j in ir["jobs"]) + " */\n"}]
json.dump({"files": files}, sys.stdout)
