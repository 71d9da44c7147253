"""What a service manager is told of a worker, by a socket of each kind: that it is ready, what it does, that it reads its
options again, that its loop turns, that it stops; and nothing while its process stands.

usage: manager.py REPOSITORY BUILD
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 60
WATCHDOG_US = 400_000
# A worker that has nothing to do wakes each ten seconds by itself: so many words are not told in time then.
ENOUGH = ["WATCHDOG=1"] * 20


class Manager:
    """Started by nobody, and told all that a manager is."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address[0] == "@" else address)
        self.address = address

    def next(self, seconds=DEADLINE_S):
        self.socket.settimeout(seconds)
        return self.socket.recv(4096).decode()

    def until(self, *wanted):
        """Every word until those wanted have come in this order, others between."""
        words = []
        stop = time.monotonic() + DEADLINE_S
        for each in wanted:
            words.append(self.next())
            while not words[-1].startswith(each):
                words.append(self.next())
                if time.monotonic() > stop:
                    break
            if time.monotonic() > stop:
                sys.exit(f"FAILED: {each} was not told in time, only {words}")
        return words

    def variables(self, **more):
        return dict(os.environ, NOTIFY_SOCKET=self.address, **more)


def worker_start(nap, folder, environment, *options):
    log = open(folder / "log", "wb")
    url = {"CULEX_URL": f"sqlite:{folder}/jobs.db"}
    return subprocess.Popen([nap, "--name", "told", *options], stdout=subprocess.DEVNULL, stderr=log, env=environment | url)


def check(is_true, what, log):
    if not is_true:
        sys.exit(f"FAILED: {what}\n{log.read_text()}")


def life(nap, folder, address):
    manager = Manager(address)
    config = folder / "worker.conf"
    config.write_text("concurrency = 2\n")
    worker = worker_start(nap, folder, manager.variables(WATCHDOG_USEC=str(WATCHDOG_US)), "--config", str(config),
                          "--unlisted", "--uncounted")
    log = folder / "log"
    try:
        words = manager.until("READY=1", "STATUS=serves 2 queues", *ENOUGH)
        check(words[0] == "READY=1", f"ready is not the first word: {words}", log)
        config.write_text("concurrency = 3\n")
        worker.send_signal(signal.SIGHUP)
        told = manager.until("RELOADING=1\nMONOTONIC_USEC=")[-1]
        check(int(told.split("=")[2]) > 0, f"at no time: {told}", log)
        manager.until("READY=1")
        worker.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, worker.pid, os.WSTOPPED | os.WNOWAIT)
        manager.socket.setblocking(False)
        try:
            while True: # what was told before
                manager.socket.recv(4096)
        except BlockingIOError:
            pass
        try:
            check(not manager.next(5 * WATCHDOG_US / 1e6), "a process that stands says something", log)
        except TimeoutError:
            pass
        worker.send_signal(signal.SIGCONT)
        manager.until("WATCHDOG=1")
        worker.terminate()
        manager.until("STOPPING=1", "STATUS=stopping")
        check(worker.wait(DEADLINE_S) == 0, "the worker does not end well", log)
    finally:
        worker.kill()
        worker.wait()


def store_away(nap, folder, address):
    """It is ready all the same, says what is wrong, and its watchdog is fed."""
    manager = Manager(address)
    worker = worker_start(nap, folder, manager.variables(WATCHDOG_USEC=str(WATCHDOG_US)), "--url",
                          f"redis+unix://{folder}/nobody.sock")
    try:
        manager.until("READY=1", "STATUS=the store is in trouble", "WATCHDOG=1", "WATCHDOG=1")
        worker.terminate()
        worker.wait(DEADLINE_S)
    finally:
        worker.kill()
        worker.wait()


def ignored(nap, folder, variables, *words):
    """A manager that nobody can tell anything is no reason not to work."""
    ended = worker_start(nap, folder, dict(os.environ, **variables), "--drain").wait(DEADLINE_S)
    log = folder / "log"
    check(ended == 0, f"status {ended} with {variables}", log)
    for each in words:
        check(each in log.read_text(), f"the log does not say {each}", log)


def foreign_watchdog(nap, folder, address):
    """Meant for the program that started ours."""
    manager = Manager(address)
    variables = manager.variables(WATCHDOG_USEC=str(WATCHDOG_US), WATCHDOG_PID="1")
    check(worker_start(nap, folder, variables, "--drain").wait(DEADLINE_S) == 0, "a drain", folder / "log")
    manager.socket.setblocking(False)
    words = []
    try:
        while True:
            words.append(manager.socket.recv(4096).decode())
    except BlockingIOError:
        pass
    check("READY=1" in words and "WATCHDOG=1" not in words, f"told for another: {words}", folder / "log")


def main():
    nap = pathlib.Path(sys.argv[2]) / "tests/product/process/nap"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        life(nap, folder, f"{folder}/notify")
        life(nap, folder, f"@culex-test-{os.getpid()}")
        store_away(nap, folder, f"{folder}/away")
        foreign_watchdog(nap, folder, f"{folder}/foreign")
        ignored(nap, folder, {"NOTIFY_SOCKET": f"{folder}/nobody"})
        ignored(nap, folder, {"NOTIFY_SOCKET": "vsock:2:1"}, "NOTIFY_SOCKET is no path")
        ignored(nap, folder, {"NOTIFY_SOCKET": "/" + "x" * 200}, "NOTIFY_SOCKET is no path")
        for wrong in ("-1", "0", "1s", "", "99999999999999999999"):
            ignored(nap, folder, {"NOTIFY_SOCKET": f"{folder}/nobody", "WATCHDOG_USEC": wrong}, "make no sense")


if __name__ == "__main__":
    main()
