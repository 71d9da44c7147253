"""Exits with 0 when a text is found in the readable memory of a process, with 1 when it is not, and
with 2 when that cannot be told.

usage: memory_has.py PID TEXT
"""
import re
import sys

CHUNK = 1 << 20


def main() -> int:
    pid, text = sys.argv[1], sys.argv[2].encode()
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        regions = [re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line) for line in maps
                   if "[vvar]" not in line and "[vsyscall]" not in line]
    found = False
    total = 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for region in filter(None, regions):
            at, end = (int(part, 16) for part in region.groups())
            tail = b""
            while at < end:
                try:
                    memory.seek(at)
                    chunk = memory.read(min(CHUNK, end - at))
                except OSError:
                    break
                if not chunk:
                    break
                found = found or text in tail + chunk
                tail = chunk[-len(text):]
                at += len(chunk)
                total += len(chunk)
    if total < CHUNK:
        print(f"only {total} bytes of process {pid} could be read", file=sys.stderr)
        return 2
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
