"""Closes a test run with one line of counts, read from Meson's own log.

usage: count.py LOGDIR
Exit code 1 when nothing ran or something failed.
"""
import json
import pathlib
import sys

FAILED = {"FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"}


def main() -> int:
    logs = sorted(pathlib.Path(sys.argv[1]).glob("testlog*.json"), key=lambda p: p.stat().st_mtime)
    if not logs:
        print("0 passed, 1 failed")
        return 1
    results = [json.loads(line)["result"] for line in logs[-1].read_text().splitlines() if line]
    failed = sum(result in FAILED for result in results)
    skipped = results.count("SKIP")
    passed = len(results) - failed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


sys.exit(main())
