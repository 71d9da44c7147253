"""The language server on the wire: framing, states, edits in every encoding, hostile input.

protocol_test.py CULEXC
"""
import json
import pathlib
import random
import re
import sys
import unittest

from client import Client, Gone, position

CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()


class Served(unittest.TestCase):
    def setUp(self):
        self.client = Client(CULEXC)
        self.addCleanup(self.client.close)

    def start(self, *encodings):
        return self.client.start({"general": {"positionEncodings": list(encodings)}}
                                 if encodings else {})

    def fault(self, message):
        self.client.send(message)
        return self.client.until(lambda answer: "error" in answer)["error"]["code"]

    def alive(self):
        self.assertEqual(self.client.result("textDocument/hover",
                                            self.client.at("file:///no.job", 0, 0)), None)


class States(Served):
    def test_nothing_is_answered_before_initialize(self):
        self.assertEqual(self.fault({"id": 7, "method": "textDocument/hover"}), -32002)
        self.assertEqual(self.fault({"id": "a", "method": "no/such"}), -32002)
        self.start()
        self.alive()

    def test_initialize_twice_is_refused(self):
        self.start()
        self.assertEqual(self.fault({"id": 7, "method": "initialize", "params": {}}), -32600)

    def test_exit_after_shutdown_is_success(self):
        self.start()
        self.assertEqual(self.client.stop(), 0)

    def test_exit_without_shutdown_is_a_failure(self):
        self.start()
        self.client.tell("exit")
        self.assertEqual(self.client.process.wait(30), 1)

    def test_exit_before_initialize_is_a_failure(self):
        self.client.tell("exit")
        self.assertEqual(self.client.process.wait(30), 1)

    def test_editor_that_is_gone_is_a_failure(self):
        self.start()
        self.assertEqual(self.client.close(), 1)

    def test_nothing_is_done_after_shutdown(self):
        self.start()
        self.client.result("shutdown")
        self.assertEqual(self.fault({"id": 9, "method": "textDocument/hover"}), -32600)
        self.client.tell("exit")
        self.assertEqual(self.client.process.wait(30), 0)

    def test_unknown_methods_are_answered_and_survived(self):
        self.start()
        self.assertEqual(self.fault({"id": 9, "method": "textDocument/unheardOf"}), -32601)
        self.assertEqual(self.fault({"id": 9, "method": "textDocument/didOpen"}), -32601)
        self.client.tell("$/cancelRequest", {"id": 1})
        self.client.tell("$/setTrace", {"value": "off"})
        self.client.tell("workspace/didChangeConfiguration", {"settings": None})
        self.client.send({"id": 1, "result": None})  # an answer to nothing
        self.alive()

    def test_text_ids_come_back(self):
        self.start()
        self.client.send({"id": "é\n1", "method": "shutdown"})
        self.assertEqual(self.client.until(lambda m: "id" in m)["id"], "é\n1")

    def test_watching_is_asked_for_where_it_can_be(self):
        self.client.start({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}})
        asked = self.client.hear(lambda m: m.get("method") == "client/registerCapability")
        self.assertEqual(asked["params"]["registrations"][0]["method"],
                         "workspace/didChangeWatchedFiles")
        watchers = asked["params"]["registrations"][0]["registerOptions"]["watchers"]
        self.assertEqual([item["globPattern"] for item in watchers], ["**/{*.job,*.lock,culex.yaml}"])
        self.client.send({"id": asked["id"], "result": None})
        self.alive()


class Framing(Served):
    def test_header_in_pieces_and_messages_in_one(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                           "params": {"capabilities": {}}}).encode()
        whole = (b"content-length:   %d\r\nContent-Type: application/vscode-jsonrpc; "
                 b"charset=utf-8\r\n\r\n%s" % (len(body), body))
        for at in range(0, len(whole), 7):
            self.client.send_bytes(whole[at:at + 7])
        self.assertIn("result", self.client.read())
        ask = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}).encode()
        self.client.send_bytes(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(b), b)
                                        for b in (ask, ask.replace(b"2,", b"3,"))))
        self.assertEqual([self.client.read()["id"], self.client.read()["id"]], [2, 3])

    def broken(self, data):
        client = Client(CULEXC)
        self.addCleanup(client.close)
        client.send_bytes(data)
        client.process.stdin.close()
        answer = client.read()
        self.assertEqual((answer["id"], answer["error"]["code"]), (None, -32700), data[:60])
        self.assertRaises(Gone, client.read)
        self.assertEqual(client.process.wait(30), 1)

    def test_what_is_no_header_ends_the_session(self):
        for data in (b"\r\n\r\n", b"Content-Length: x\r\n\r\n{}", b"Content-Length: -1\r\n\r\n",
                     b"Content-Length: 2\n\n{}", b"Content-Type: x\r\n\r\n{}",
                     b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                     b"Content-Length: 99999999999999999999999\r\n\r\n{}",
                     b"Content-Length: 99999999999\r\n\r\n{}", b"Content-Length:\r\n\r\n{}",
                     b"Content-Length: 10\r\n\r\n{}", b"Content-Length: 1", b"GET / HTTP/1.1\r\n",
                     b"x" * 5000, b"\0" * 100, b"Content-Length: 2 2\r\n\r\n{}"):
            self.broken(data)

    def test_endless_header_is_not_gathered(self):
        client = Client(CULEXC)
        self.addCleanup(client.close)
        with self.assertRaises(BrokenPipeError):
            for _ in range(1 << 12):
                client.send_bytes(b"x" * (1 << 16))
        self.assertEqual(client.process.wait(30), 1)

    def test_too_large_a_message_is_left_out(self):
        self.start()
        size = 9 << 20
        self.client.send_bytes(b"Content-Length: %d\r\n\r\n" % size)
        for _ in range(9):
            self.client.send_bytes(b" " * (1 << 20))
        self.assertEqual(self.client.read()["error"]["code"], -32600)
        self.alive()

    def test_what_is_no_message(self):
        self.start()
        for body, code in ((b"", -32700), (b"{", -32700), (b"[1,", -32700), (b"nul", -32700),
                           (b"{} {}", -32700), (b'{"id":1,"method":"\\ud800"}', -32700),
                           (b'"\\x"', -32700), (b"[" * 100000, -32700),
                           (b"[" * 70 + b"]" * 70, -32700), (b"[" * 60 + b"]" * 60, -32600),
                           (b"[" + b"1," * 60000 + b"1]", -32700), (b'{"a"}', -32700),
                           (b"[]", -32600), (b"17", -32600), (b"null", -32600), (b"{}", -32600),
                           (b'{"id":{},"method":"shutdown"}', -32600),
                           (b'{"id":1.5,"method":"shutdown"}', -32600),
                           (b'{"id":99999999999999999999,"method":"shutdown"}', -32600),
                           (b'{"method":1}', -32600)):
            self.client.send_body(body)
            answer = self.client.read()
            self.assertEqual((answer["id"], answer["error"]["code"]), (None, code), body[:40])
        self.alive()

    def test_malformed_message_is_told_with_fault_and_place(self):
        self.start()
        for body, said in ((b'{"id":01}', "after 8 bytes: malformed number"),
                           (b'{"id":"\t"}', "after 7 bytes: raw control character in a string"),
                           (b'{"id":+1}', "after 6 bytes: no value where one must be"),
                           (b"[" * 65 + b"]" * 65, "after 64 bytes: too many objects and lists inside each other"),
                           (b"{}\0", "after 2 bytes: more behind the end")):
            self.client.send_body(body)
            self.assertEqual(self.client.read()["error"],
                             {"code": -32700, "message": "the message is malformed " + said})
        self.alive()

    def test_json_is_what_another_reader_takes_for_it(self):
        self.start()
        dice = random.Random(3)
        whole = (b'[{"a": -10.25e+3, "b\\n": [true, false, null, {}]}, "x\\u0041\\"", 0, [],'
                 b' "\xc3\xa9", 1E5, -0]')
        told = {True: 0, False: 0}
        for _ in range(3000):
            data = bytearray(whole)
            for _ in range(dice.randrange(1, 3)):
                at = dice.randrange(len(data))
                data[at:at + dice.randrange(2)] = dice.choice([b"", b"0", b"1", b".", b"e", b"-", b"+", b",", b":",
                    b'"', b"\\", b"[", b"]", b"{", b"}", b" ", b"\n", b"\t", b"\0", b"\x7f", b"u", b"n"])
            self.client.send_body(bytes(data))
            code = self.client.read()["error"]["code"]
            self.assertEqual(code, -32600 if is_json(bytes(data)) else -32700, bytes(data))
            told[code == -32600] += 1
        self.assertGreater(min(told.values()), 300, told)

    def test_invalid_utf8_is_carried_through(self):
        self.start()
        self.client.send_body(b'{"id":1,"method":"no/\xff\xc3"}')
        self.assertEqual(self.client.read()["error"]["code"], -32601)
        self.client.send_body(b'{"method":"textDocument/didOpen","params":{"textDocument":{"uri":'
                              b'"file:///t/bad.job","version":1,"text":"job a; // \xff"}}}')
        self.client.versions["file:///t/bad.job"] = 1
        self.assertEqual(self.client.diagnostics("file:///t/bad.job")[0]["code"], "invalid-utf8")

    def test_params_of_any_shape_are_survived(self):
        self.start()
        uri = self.client.open("file:///t/a.job", "job a;")
        shapes = [None, [], 1, "x", {}, {"textDocument": None}, {"textDocument": {"uri": 1}},
                  {"textDocument": {"uri": uri}}, {"textDocument": {"uri": uri}, "position": {}},
                  {"textDocument": {"uri": uri}, "position": {"line": -1, "character": 0}},
                  {"textDocument": {"uri": uri}, "position": {"line": 1.5, "character": 0}},
                  {"textDocument": {"uri": uri}, "position": {"line": "0", "character": True}},
                  {"textDocument": {"uri": uri}, "contentChanges": [1, {}, {"range": 1}]},
                  {"textDocument": {"uri": uri}, "range": {"start": 1}},
                  {"textDocument": {"uri": "\0"}}, {"textDocument": {"uri": "file://%00%zz"}}]
        kinds = ["hover", "completion", "definition", "references", "documentHighlight", "rename",
                 "prepareRename", "documentSymbol", "codeAction", "didOpen", "didChange", "didSave",
                 "didClose"]
        for kind in kinds:
            for shape in shapes:
                message = {"method": "textDocument/" + kind, "params": shape}
                if kind.startswith("did"):
                    self.client.send(message)
                else:
                    self.client.send({"id": 1000, **message})
                    answer = self.client.until(lambda m: m.get("id") == 1000)
                    self.assertTrue(("result" in answer) != ("error" in answer), answer)
        self.alive()


class Positions(Served):
    TEXT = "// \U0001f600 é\r\njob a {\r    params { string té; }\n}\n"

    def test_utf16_unless_something_else_is_agreed_on(self):
        self.assertEqual(self.start()["positionEncoding"], "utf-16")

    def test_first_known_encoding_is_taken(self):
        self.assertEqual(self.start("koi8", "utf-32", "utf-8")["positionEncoding"], "utf-32")

    def test_columns_count_the_units_agreed_on(self):
        text = "job a { params { string \U0001f600é§; } }"
        for encoding, column, length in (("utf-16", 24, 2), ("utf-8", 24, 4), ("utf-32", 24, 1)):
            client = Client(CULEXC)
            client.start({"general": {"positionEncodings": [encoding]}})
            uri = client.open("file:///t/a.job", text)
            spans = [item["range"] for item in client.diagnostics(uri)]
            self.assertIn({"start": {"line": 0, "character": column},
                           "end": {"line": 0, "character": column + length}}, spans, encoding)
            client.close()

    def test_all_line_ends_and_a_byte_order_mark(self):
        self.start()
        uri = self.client.open("file:///t/a.job", "\ufeffsting x;\rjob a { params {\r\nsting y; } }")
        starts = [item["range"]["start"] for item in self.client.diagnostics(uri)]
        # The carriage return alone, a line end to the editor, is refused where it stands.
        self.assertEqual(starts, [{"line": 0, "character": 1}, {"line": 0, "character": 9}, {"line": 2, "character": 0}])

    def test_positions_outside_move_inside(self):
        self.start()
        uri = self.client.open("file:///t/a.job", "job a;")
        for line, character in ((0, 1 << 31), (1 << 31, 0), (5, 5), (0, 99), (0, (1 << 31) - 1)):
            answer = self.client.ask("textDocument/hover", self.client.at(uri, line, character))
            self.assertEqual("error" in answer, max(line, character) > (1 << 31) - 1)


class Edits(Served):
    def symbols(self, uri):
        return [item["name"] for item in self.client.result("textDocument/documentSymbol",
                                                            {"textDocument": {"uri": uri}})]

    def test_edits_by_range_full_text_and_in_one_message(self):
        self.start()
        uri = self.client.open("file:///t/a.job", "// \U0001f600\njob a;\n")
        def span(line, start, end, text):
            return {"range": {"start": {"line": line, "character": start},
                              "end": {"line": line, "character": end}}, "text": text}
        self.client.change(uri, span(1, 4, 5, "bb"))
        self.assertEqual(self.symbols(uri), ["bb"])
        self.client.change(uri, span(0, 5, 5, "\njob c;"), span(2, 4, 6, "d"))
        self.assertEqual(self.symbols(uri), ["c", "d"])
        self.client.change(uri, {"text": "job e;"}, span(0, 4, 5, "f"), span(9, 9, 9, "job g;"))
        self.assertEqual(self.symbols(uri), ["f", "g"])
        self.client.change(uri, {"range": {"start": {"line": 0, "character": 6},
                                           "end": {"line": 0, "character": 0}}, "text": ""})
        self.assertEqual(self.symbols(uri), ["g"])

    def test_random_edits_end_in_the_same_text(self):
        self.start()
        dice = random.Random(4)
        text = "enum e { A, B }\r\n// \U0001f600 mixed\njob j { params { e x = A; } }\r"
        pieces = ["\n", "\r\n", "\r", "\U0001f600", "é", "job k;", "x", "{", "}", "", "enum f { C }"]
        uri = self.client.open("file:///t/a.job", text)
        for _ in range(300):
            start, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
            if "\r\n" in (text[start - 1:start + 1], text[end - 1:end + 1]):
                continue  # no editor has a place in the middle of a line end
            piece = dice.choice(pieces)
            self.client.change(uri, {"range": {"start": place(text, start),
                                               "end": place(text, end)}, "text": piece})
            text = text[:start] + piece + text[end:]
        again = Client(CULEXC)
        self.addCleanup(again.close)
        again.start()
        again.open(uri, text)
        self.assertEqual(self.client.diagnostics(uri), again.diagnostics(uri))
        self.assertEqual(*(client.result("textDocument/documentSymbol",
                                         {"textDocument": {"uri": uri}})
                           for client in (self.client, again)))

    def test_too_large_a_text_is_said_and_forgotten(self):
        self.start()
        uri = self.client.open("file:///t/a.job", "//" + "x" * (1 << 20))
        self.assertIn("1 MiB", self.client.diagnostics(uri)[0]["message"])
        self.client.change(uri, {"range": {"start": {"line": 0, "character": 0},
                                           "end": {"line": 0, "character": 1}}, "text": ""})
        self.assertEqual(self.client.result("textDocument/documentSymbol",
                                            {"textDocument": {"uri": uri}}), None)
        self.client.change(uri, {"text": "job a;"})
        self.assertEqual(self.symbols(uri), ["a"])

    def test_largest_text_with_everything_escaped(self):
        self.start()
        text = "//" + "\x01" * ((1 << 20) - 9) + "\njob a;"
        self.client.send_body(json.dumps({"method": "textDocument/didOpen", "params": {
            "textDocument": {"uri": "file:///t/a.job", "version": 1, "text": text}}}).encode())
        self.assertEqual(self.symbols("file:///t/a.job"), ["a"])

    def test_as_many_documents_as_there_may_be(self):
        self.start()
        for number in range(257):
            self.client.open(f"file:///t/a{number}.job", "job a;")
        shown = self.client.hear(lambda m: m.get("method") == "window/showMessage")
        self.assertIn("too many", shown["params"]["message"])


class Noise(Served):
    def test_random_bytes_never_crash(self):
        dice = random.Random(8)
        good = [{"id": 1, "method": "initialize", "params": {"capabilities": {}}},
                {"method": "textDocument/didOpen", "params": {"textDocument": {
                    "uri": "file:///t/a.job", "version": 1,
                    "text": "enum e { A } job a { params { e x = A; } unique by (x); }"}}},
                {"id": 2, "method": "textDocument/hover", "params": {
                    "textDocument": {"uri": "file:///t/a.job"},
                    "position": {"line": 0, "character": 20}}},
                {"id": 3, "method": "textDocument/rename", "params": {
                    "textDocument": {"uri": "file:///t/a.job"}, "newName": "f",
                    "position": {"line": 0, "character": 5}}},
                {"id": 4, "method": "shutdown"}, {"method": "exit"}]
        whole = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(b), b)
                         for b in (json.dumps({"jsonrpc": "2.0", **m}).encode() for m in good))
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(dice.randrange(1, 6)):
                data[dice.randrange(len(data))] = dice.choice([0, 32, 34, 57, 92, 125, 128, 255])
            client = Client(CULEXC)
            client.send_bytes(bytes(data))
            try:
                status = client.close()
            finally:
                client.process.kill()
            self.assertIn(status, (0, 1), bytes(data))


def no_constant(name):
    raise ValueError(name)


def is_json(data):
    """As Python reads it, which takes NaN and Infinity besides."""
    try:
        json.loads(data.decode("utf-8", "surrogateescape"), parse_constant=no_constant)
    except ValueError:
        return False
    return True


def place(text, offset):
    """As an editor for which a lone carriage return ends a line."""
    flat = re.sub("\r(?!\n)", "\n", text)
    spot = position(flat, offset)
    return spot


if __name__ == "__main__":
    unittest.main()
