"""A port that Redis listened on, and now nobody who answers: nobody.py HOW PORT

HOW is "mute" (connections are taken, and nothing is said) or "deaf" (they are not even taken).
Prints "ready" when that is so, and "met" when somebody waits there for an answer."""
import socket
import sys
import time


def fill(port):
    """Connections that nobody takes, until there is no room for one more."""
    taken = []
    while True:
        taken.append(socket.socket())
        taken[-1].settimeout(0.2)
        try:
            taken[-1].connect(("127.0.0.1", port))
        except TimeoutError:
            taken.pop().close()
            return taken


def callers(port, state):
    """The local ports from which connections to the port are in that state."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return {int(row[1].split(":")[1], 16) for row in rows if row[2].endswith(f":{port:04X}") and row[3] == state}


def wait_for_knock(port, taken):
    """Until a connection to the port is only asked for (state 02). False: one has got through beside ours (state 01), as happens
    when both ask in the same moment."""
    ours = {each.getsockname()[1] for each in taken}
    while not callers(port, "02"):
        if callers(port, "01") - ours:
            return False
        time.sleep(0.01)
    return True


def listen(port, room):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(room)
    return listener


def listen_deaf(port):
    """Nobody else's connection is to be the one that there is room for."""
    while True:
        listener = listen(port, 0)
        taken = fill(port)
        if taken:
            return listener, taken
        listener.close()


def meet_deaf(port):
    """All that is to be kept open, once somebody asks for a connection."""
    while True:
        listener, taken = listen_deaf(port)
        print("ready", flush=True)
        if wait_for_knock(port, taken):
            return [listener, *taken]
        for each in [listener, *taken]:
            each.close()


def meet_mute(port):
    listener = listen(port, 64)
    print("ready", flush=True)
    return [listener, listener.accept()]


def main():
    how, port = sys.argv[1], int(sys.argv[2])
    held = {"deaf": meet_deaf, "mute": meet_mute}[how](port)
    print("met", flush=True)
    time.sleep(60)
    del held


main()
