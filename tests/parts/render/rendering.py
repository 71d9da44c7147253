"""What the tests of the renderer share: where it is, and how to run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from typing import Any, Dict, List, Optional, Sequence

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
RENDERER = os.path.join(ROOT, "codegen", "render")
INCLUDE = os.path.join(ROOT, "runtime", "include")
GOLDEN = os.path.join(HERE, "golden")

# The kernel's headers for x86 serve both sizes; Debian keeps them with the 64-bit ones.
M32 = ["-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"]

sys.path[:0] = [HERE, RENDERER]


def run(data: bytes, folder: str = RENDERER, python: Optional[List[str]] = None,
        env: Optional[Dict[str, str]] = None) -> "subprocess.CompletedProcess[bytes]":
    """The renderer as culexc runs it."""
    command = [*(python or [sys.executable, "-I"]), os.path.join(folder, "render.py")]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, timeout=60, check=False)


def files_of(ir: Any) -> Dict[str, str]:
    """The generated files by name, rendered in this process."""
    import emit
    import model

    schemas = model.read_named(document([ir]))
    return {file["name"]: file["content"] for schema in schemas for file in emit.render(schema)}


def write(ir: Any, folder: str) -> None:
    for name, content in files_of(ir).items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(content)


def document(files: Sequence[Any], version: Any = 1) -> Dict[str, Any]:
    """What the renderer gets of these models."""
    return {"ir": version, "compiler": "0.1.0", "options": {}, "files": list(files)}


def encoded(*files: Any, version: Any = 1) -> bytes:
    return json.dumps(document(files, version)).encode("ascii")


def main() -> None:
    unittest.main(verbosity=1)
