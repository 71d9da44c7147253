"""Runs every benchmark and prints one table of ratios to a floor measured in the same minute.

usage: bench.py BUILD [--quick]
Figures mean little without their placement: on a small virtual machine a round trip between two
cores costs several times one on the same core. "cross" = server on core 0, we on core 1;
"same" = both on core 0. Absolute numbers are this machine's; compare ratios.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from server import Server


def run(bench: str, core: str, *args: str) -> list[list[str]]:
    done = subprocess.run(["taskset", "-c", core, bench, *args], capture_output=True, text=True,
                          check=False, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(args)} failed:\n{done.stderr}")
    return [line.split() for line in done.stdout.splitlines()]


def show(name: str, placement: str, product: float, floor: float, unit: str) -> None:
    ratio = f"{product / floor:5.2f}" if floor else "    -"
    under = f"{floor:12,.0f}" if floor else f"{'-':>12}"
    print(f"{name:24} {placement:12} {product:12,.1f} {under} {ratio}  {unit}", flush=True)


def bench_redis(bench: str, server: Server, scale: int) -> None:
    unix, tcp = f"redis+unix://{server.path}", f"redis://127.0.0.1:{server.port}"
    places = [("cross", "1"), ("same", "0")]
    for transport, url, address in (("tcp", tcp, f"127.0.0.1:{server.port}"),
                                    ("unix", unix, server.path)):
        for place, core in places:
            for what, count in (("enqueue-single", 20000), ("bulk", 96000)):
                for row in run(bench, core, what, url, address, str(max(3200, count // scale))):
                    show(row[0], f"{transport} {place}", float(row[1]), float(row[2]), row[3])
                server.ask("FLUSHALL")
    for row in run(bench, "0,1", "isolation", unix, "-", str(96000 // scale)):
        show(row[0], "unix free", float(row[1]), float(row[2]), row[3])
    for row in run(bench, "0,1", "latency", tcp, "-", "0"):
        show(row[0], "tcp free", float(row[1]), 0, row[3])


def bench_idle(bench: str, server: Server, seconds: int) -> None:
    with subprocess.Popen([bench, "idle", f"redis+unix://{server.path}", "-", str(seconds)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        worker.stdout.readline()
        server.ask("CONFIG", "RESETSTAT")
        worker.stdout.readline()
        calls = server.calls()
        for line in pathlib.Path(f"/proc/{worker.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                show("worker-rss", "idle", int(line.split()[1]) / 1024, 0, "MiB")
        worker.stdin.close()
    sent = sum(count for name, count in calls.items() if name in ("evalsha", "eval", "blpop", "ping"))
    inside = sum(count for name, count in calls.items() if not re.match(r"config|info|eval", name))
    show("idle-commands-sent", "", sent / seconds, 0, "per second")
    show("idle-commands-in-server", "", inside / seconds, 0, "per second, inside scripts too")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="a tenth of the counts")
    args = parser.parse_args()
    bench = str(args.build / "tests/campaigns/bench/bench")
    scale = 10 if args.quick else 1
    print(f"{'what':24} {'placement':12} {'product':>12} {'floor':>12} ratio  unit")
    for line in run(str(args.build / "tests/parts/codec/bench_codec"), "1"):
        print(" ".join(line))
    compiler = pathlib.Path(__file__).with_name("bench_compiler.py")
    for row in run(sys.executable, "0,1", str(compiler), str(args.build / "codegen/cli/culexc"),
                   str(compiler.parents[3] / "runtime/include")):
        show(row[0], "culexc", float(row[1]), float(row[2]), row[3].replace("-", " "))
    with tempfile.TemporaryDirectory() as folder:
        for row in run(bench, "1", "sqlite", f"sqlite:{folder}/jobs.db", "-", str(50000 // scale)):
            show(row[0], "NORMAL", float(row[1]), float(row[2]), row[3])
        for row in run(bench, "0,1", "isolation", f"sqlite:{folder}/isolation.db", "-",
                       str(50000 // scale)):
            show(row[0], "sqlite free", float(row[1]), float(row[2]), row[3])
        for row in run(bench, "0,1", "latency", f"sqlite:{folder}/latency.db", "-", "0"):
            show(row[0], "sqlite free", float(row[1]), 0, row[3])
        server = Server(folder)
        try:
            bench_redis(bench, server, scale)
            bench_idle(bench, server, 6 if args.quick else 30)
        finally:
            server.stop()


main()
