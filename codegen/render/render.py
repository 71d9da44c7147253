"""The models of schemas on stdin become one JSON object with the generated C on stdout.

    culexc ir mail.job | python3 -I render.py

A plug-in as schemas/plugin.md has it. A bad model is one line on stderr and exit 1.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any, Dict, Union

HERE = os.path.dirname(os.path.abspath(__file__))

# Isolated mode (-I) leaves out the script's folder; vendor/ holds Jinja2 once installed.
sys.path[:0] = [HERE, os.path.join(HERE, "vendor")]
sys.dont_write_bytecode = True


def answer(data: bytes) -> Dict[str, Any]:
    """What is written to stdout for what was read from stdin."""
    from emit import render
    from model import IRError, read_named

    try:
        value = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise IRError(f"stdin is not JSON: {error}") from None
    return {"files": [file for schema in read_named(value) for file in render(schema)]}


def main() -> Union[int, str]:
    """Every failure is one line: the caller is a program that shows it to a person."""
    gc.disable()  # all that is made is needed to the end; looking for garbage took a fifth of the time
    try:
        result = answer(sys.stdin.buffer.read())
        sys.stdout.buffer.write(json.dumps(result, ensure_ascii=True).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()
    except ImportError as error:
        return f"render: {one_line(error)} (this Python has no Jinja2)"
    except Exception as error:  # anything else is our bug; say where it came from
        from model import IRError

        name = "" if isinstance(error, IRError) else f"internal error: {type(error).__name__}: "
        return f"render: {name}{one_line(error)}"
    return 0


def one_line(error: Exception) -> str:
    text = str(error).encode("ascii", "backslashreplace").decode("ascii")
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


if __name__ == "__main__":
    sys.exit(main())
