"""The language server's memory over thousands of edits. Not for sanitizers: they keep freed memory.

memory_test.py CULEXC
"""
import pathlib
import re
import sys
import unittest

from client import Client

CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()
EDITS = 5000


class Memory(unittest.TestCase):
    def setUp(self):
        self.client = Client(CULEXC)
        self.addCleanup(self.client.close)

    def resident(self):
        """Of its own memory, in KiB: pages of its file come and go as the kernel likes."""
        text = pathlib.Path(f"/proc/{self.client.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", text)[1])

    def test_edits_and_requests_leave_nothing_behind(self):
        self.client.start()
        text = "enum e { A }\n" + "".join(f"job j{n} {{ params {{ e x = A; }} }}\n" for n in range(50))
        uri = self.client.open("file:///t/a.job", text)
        early, late = [], []  # KiB now and then: a single look may meet what is under way
        for number in range(EDITS):
            self.client.change(uri, {"range": {"start": {"line": 0, "character": 5},
                                               "end": {"line": 0, "character": 6}},
                                     "text": "ef"[number % 2]})
            self.client.result("textDocument/references", self.client.at(uri, 0, 5))
            if number % 10 == 0:
                self.client.result("textDocument/completion", self.client.at(uri, 1, 0))
                for kind in ("semanticTokens/full", "foldingRange"):
                    self.client.result("textDocument/" + kind, {"textDocument": {"uri": uri}})
                self.client.result("workspace/symbol", {"query": "j1"})
                self.client.ask("textDocument/rename",
                                {**self.client.at(uri, 0, 9), "newName": "B"})
                self.client.ask("no/such", {"x": "y" * 10000})
            if number * 10 // EDITS == 1:
                early.append(self.resident())
            if number * 10 // EDITS == 9:
                late.append(self.resident())
            self.client.heard.clear()
        self.assertEqual(len(late), EDITS // 10)
        self.assertLess(min(late), min(early) + 256, "KiB more after eight tenths of the edits")


if __name__ == "__main__":
    unittest.main()
