"""A small client of the language server: messages over pipes, every wait bounded."""
import json
import os
import pathlib
import select
import subprocess
import time

LIMIT_S = 30


class Gone(Exception):
    """The server closed its output."""


class Client:
    """One server process. `texts` are what the editor would show."""

    def __init__(self, culexc, *options, cwd=None):
        self.process = subprocess.Popen([culexc, "lsp", *options], cwd=cwd, bufsize=0,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.input = b""
        self.count = 0
        self.heard = []  # notifications and requests of the server, in order
        self.texts = {}
        self.versions = {}

    def close(self):
        """Ends the process as an editor that crashes would; returns its exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            return self.process.wait(LIMIT_S)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()

    # Messages.

    def send_bytes(self, data):
        self.process.stdin.write(data)

    def send_body(self, body):
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def send(self, message):
        self.send_body(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode(
            "utf-8", "surrogatepass"))

    def read_some(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
            raise TimeoutError(f"nothing came for {LIMIT_S} s; heard {self.heard[-3:]}")
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            raise Gone()
        self.input += data

    def read(self):
        """The next message."""
        deadline = time.monotonic() + LIMIT_S
        while b"\r\n\r\n" not in self.input:
            self.read_some(deadline)
        head, _, rest = self.input.partition(b"\r\n\r\n")
        length = int(head.partition(b":")[2])
        while len(rest) < length:
            self.read_some(deadline)
            rest = self.input.partition(b"\r\n\r\n")[2]
        self.input = rest[length:]
        return json.loads(rest[:length].decode())

    def until(self, wanted):
        """Reads on until wanted(message) is true; what else comes is kept in `heard`."""
        while True:
            message = self.read()
            if wanted(message):
                return message
            self.heard.append(message)

    def hear(self, wanted):
        """The same, also of what has come already."""
        for index, message in enumerate(self.heard):
            if wanted(message):
                return self.heard.pop(index)
        return self.until(wanted)

    def ask(self, method, params=None):
        """The whole answer to a request."""
        self.count += 1
        number = self.count
        self.send({"id": number, "method": method, "params": params or {}})
        return self.until(lambda message: message.get("id") == number and "method" not in message)

    def result(self, method, params=None):
        answer = self.ask(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def tell(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    # The protocol.

    def start(self, capabilities=None, folder=None):
        params = {"processId": None, "capabilities": capabilities or {},
                  "rootUri": folder.as_uri() if folder else None}
        result = self.result("initialize", params)
        self.tell("initialized")
        self.capabilities = result["capabilities"]
        return self.capabilities

    def stop(self):
        self.result("shutdown")
        self.tell("exit")
        return self.close()

    def open(self, uri, text):
        uri = uri.as_uri() if isinstance(uri, pathlib.Path) else uri
        self.texts[uri] = text
        self.versions[uri] = 1
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "culex-job", "version": 1, "text": text}})
        return uri

    def change(self, uri, *changes):
        self.versions[uri] += 1
        self.tell("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": self.versions[uri]},
            "contentChanges": list(changes)})

    def replace(self, uri, text):
        self.texts[uri] = text
        self.change(uri, {"text": text})

    def diagnostics(self, uri):
        """What is published for `uri`, of its present version if it is open."""
        def wanted(message):
            params = message.get("params", {})
            return (message.get("method") == "textDocument/publishDiagnostics"
                    and params["uri"] == uri
                    and params.get("version") == self.versions.get(uri))
        return self.hear(wanted)["params"]["diagnostics"]

    def shut(self, uri):
        del self.versions[uri]
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def at(self, uri, line, character):
        return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}

    def place(self, uri, needle, skip=0, nth=0):
        """Parameters for the place `skip` characters into the nth `needle`, in UTF-16."""
        text = self.texts[uri]
        offset = -1
        for _ in range(nth + 1):
            offset = text.index(needle, offset + 1)
        return {"textDocument": {"uri": uri}, "position": position(text, offset + skip)}


def units(text):
    return len(text.encode("utf-16-le")) // 2


def position(text, offset):
    before = text[:offset]
    start = before.rfind("\n") + 1
    return {"line": before.count("\n"), "character": units(before[start:])}


def offset_of(text, place):
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[:place["line"]])
    taken = 0
    for index, character in enumerate(lines[place["line"]] + "\n"):
        if taken >= place["character"]:
            return start + index
        taken += units(character)
    return start + len(lines[place["line"]])


def slice_of(text, span):
    return text[offset_of(text, span["start"]):offset_of(text, span["end"])]


def edited(text, edits):
    for edit in sorted(edits, key=lambda edit: offset_of(text, edit["range"]["start"]),
                       reverse=True):
        start = offset_of(text, edit["range"]["start"])
        end = offset_of(text, edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text
