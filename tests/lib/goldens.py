"""Golden files: what a program says beside what a file holds."""

import difflib


def holds(path, actual, is_accepted):
    """True when the file holds `actual`, a text or bytes, or was made to; else the difference is shown."""
    actual = actual.encode() if isinstance(actual, str) else actual
    if is_accepted:
        path.write_bytes(actual)
    expected = path.read_bytes() if path.exists() else b""
    if actual != expected:
        old, new = (text.decode(errors="replace").split("\n") for text in (expected, actual))
        print("\n".join(difflib.unified_diff(old, new, f"{path} expected", "actual", n=1, lineterm="")))
    return actual == expected
