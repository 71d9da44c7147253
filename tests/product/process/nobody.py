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


def wait_for_knock(port):
    """Until the system tells of a connection to the port that is only asked for (state 02)."""
    while True:
        with open("/proc/net/tcp", encoding="ascii") as table:
            if any(f":{port:04X} 02 " in line for line in table):
                return
        time.sleep(0.01)


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
            return [listener, *taken]
        listener.close()


def main():
    how, port = sys.argv[1], int(sys.argv[2])
    held = listen_deaf(port) if how == "deaf" else [listen(port, 64)]
    print("ready", flush=True)
    if how == "deaf":
        wait_for_knock(port)
    else:
        held.append(held[0].accept())
    print("met", flush=True)
    time.sleep(60)


main()
