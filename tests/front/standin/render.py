"""Stands in for the renderer: two files that show what the model said."""
import json
import sys

ir = json.load(sys.stdin)
if ir["package"] == "fail":
    sys.exit("render: told to fail")
header = "../" + ir["header"] if ir["package"] == "escape" else ir["header"]
files = [{"path": header, "content": "/* é " + ir["guard"] + " */\n"},
         {"path": ir["source"], "content": "/* " + " ".join(j["c"] for j in ir["jobs"]) + " */\n"}]
json.dump({"files": files, "inputs": [sys.argv[0]]}, sys.stdout)
