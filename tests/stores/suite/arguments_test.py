"""What the suite's programs refuse: stores that they do not know, and patterns that match no case.

usage: arguments_test.py CONFORMANCE DIFFERENTIAL
"""
import subprocess
import sys

CONFORMANCE, DIFFERENTIAL = sys.argv[1:]
REFUSED = [
    ([CONFORMANCE, "mem"], 2, "unknown store 'mem'; known are model memory "),
    ([DIFFERENTIAL, "mem", "--ops", "1"], 2, "unknown store 'mem'; known are model memory "),
    ([CONFORMANCE, "model", "nosuch__*"], 1, "no case matches 'nosuch__*'"),
]


def main() -> int:
    wrong = 0
    for words, code, text in REFUSED:
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != code or text not in done.stderr:
            print(f"{words[1:]}: ended with {done.returncode} and said {done.stderr!r}, wanted {code} and {text!r}")
            wrong += 1
    return 1 if wrong else 0


sys.exit(main())
