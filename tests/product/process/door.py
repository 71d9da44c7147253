"""A door before a Redis server, on a thread of its own: it passes everything on and counts the commands; on the one
that it was armed for it calls a function instead, or behind it, before the client has the answer.
"""
import select
import selectors
import socket
import threading


class Door:
    """Passes what clients send on to the server, up to the command on which `kill` is called."""

    def __init__(self, folder, server):
        self.path, self.server = str(folder / "door.sock"), server
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.lock = threading.Lock()
        self.arm(None, 0, False)
        threading.Thread(target=self.serve, daemon=True).start()

    def arm(self, kill, last, passes_it):
        """From now on: command `last` is the one; `passes_it`: the server still gets it. 0: none is."""
        with self.lock:
            self.kill, self.last, self.passes_it, self.count = kill, last, passes_it, 0

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.attend, args=(client,), daemon=True).start()

    def attend(self, client):
        try:
            self.pass_bytes(client)
        except OSError:  # who is killed resets its connection
            pass

    def pass_bytes(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.server)
        watch = selectors.DefaultSelector()
        watch.register(client, selectors.EVENT_READ)
        watch.register(server, selectors.EVENT_READ)
        asked = b""
        with client, server:
            while True:
                for key, _ in watch.select():
                    data = key.fileobj.recv(65536)
                    if not data:
                        return
                    if key.fileobj is server:
                        client.sendall(data)
                        continue
                    asked += data
                    while (length := command_length(asked)) is not None:
                        command, asked = asked[:length], asked[length:]
                        if not self.pass_on(command, server):
                            return

    def pass_on(self, command, server):
        """Whether the connection goes on."""
        with self.lock:
            self.count += 1
            is_last = self.count == self.last
            if is_last and not self.passes_it:
                self.kill()
                return False
            server.sendall(command)
            if is_last:
                # It has been carried out, but for one that waits for work.
                select.select([server], [], [], 1)
                self.kill()
            return not is_last


def command_length(data):
    """The length of the command that `data` begins with; None while it is not whole."""
    end = data.find(b"\r\n")
    if end < 0:
        return None
    if data[:1] != b"*":
        raise ValueError(f"no command: {data[:40]!r}")
    at = end + 2
    for _ in range(int(data[1:end])):
        end = data.find(b"\r\n", at)
        if end < 0:
            return None
        at = end + 2 + int(data[at + 1:end]) + 2
    return at if at <= len(data) else None
