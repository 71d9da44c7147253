"""The language server's answers: what an editor shows for a schema.

feature_test.py CULEXC
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from client import Client, edited, slice_of

CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[3]

COMMON = """package shop;

/// Language of a customer's mail.
enum lang : uint8 { EN = 1, IT = 2 }
struct money { int64 minor; string currency [[len(3)]]; }
/// For calls to other people's servers.
retry_policy remote { max 12; backoff exponential 2s factor 2 cap 1h; jitter full; }
"""
MAIL = """package shop.mail;
import "common.job";

defaults { queue "mail"; timeout 30s; }

/// Sends *one* message, see [here](x).
job send_email {
    params {
        string to [[nonempty, max_len(320)]]; ///< RFC 5321 address
        shop.lang lang = EN;
        money price;
        string cc[<=50];
        optional uuid campaign;
        bool urgent = false;
    }
    returns { string message_id; }
    priority 5;
    retry    remote;
    unique by (to, lang) for 10m while (waiting) on_conflict keep;
}
job sweep { every 5m jitter 5s; }
"""
CAPABILITIES = {"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]},
                                 "publishDiagnostics": {"relatedInformation": True}}}


class Feature(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve() / "a b%é"
        self.folder.mkdir()
        self.client = Client(CULEXC)
        self.addCleanup(self.client.close)
        self.write("common.job", COMMON)
        self.write("mail.job", MAIL)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)
        return self.folder / name

    def start(self, folder=True, capabilities=CAPABILITIES):
        self.client.start(capabilities, self.folder if folder else None)

    def open(self, name, text=None):
        path = self.folder / name
        return self.client.open(path, path.read_text() if text is None else text)

    def ask(self, kind, uri, needle, skip=0, nth=0, **more):
        return self.client.result("textDocument/" + kind,
                                  {**self.client.place(uri, needle, skip, nth), **more})


class Diagnostics(Feature):
    def codes(self, uri):
        return [item["code"] for item in self.client.diagnostics(uri)]

    def test_id_range_help_and_the_other_place(self):
        self.start()
        uri = self.open("mail.job", MAIL.replace("uuid", "uuud").replace("job sweep", "job send_email"))
        unknown, twice = self.client.diagnostics(uri)
        self.assertEqual((unknown["code"], unknown["severity"], unknown["source"]),
                         ("unknown-type", 1, "culexc"))
        self.assertEqual(slice_of(self.client.texts[uri], unknown["range"]), "uuud")
        self.assertIn("did you mean 'uuid'?", unknown["message"])
        self.assertEqual(twice["code"], "duplicate-name")
        related = twice["relatedInformation"][0]
        self.assertEqual(related["location"]["uri"], uri)
        self.assertEqual(slice_of(self.client.texts[uri], related["location"]["range"]),
                         "send_email")

    def test_notes_are_told_where_they_cannot_be_shown(self):
        self.start(capabilities={})
        uri = self.open("a.job", "job a; job a;")
        item, = self.client.diagnostics(uri)
        self.assertIn("first declared here", item["message"])
        self.assertNotIn("relatedInformation", item)

    def test_unused_import_is_unnecessary(self):
        self.start()
        uri = self.open("a.job", 'import "common.job"; job a;')
        item, = self.client.diagnostics(uri)
        self.assertEqual((item["code"], item["severity"], item["tags"]), ("unused-import", 2, [1]))

    def test_import_that_is_not_open_gets_its_own(self):
        self.start()
        common = self.write("common.job", COMMON.replace("int64", "imt64")).as_uri()
        uri = self.open("mail.job")
        self.assertEqual(self.codes(common), ["unknown-type"])
        self.client.shut(uri)
        self.assertEqual(self.codes(common), [])

    def test_edit_of_an_open_import_reaches_dependants(self):
        self.start()
        uri = self.open("mail.job")
        self.assertEqual(self.codes(uri), [])
        common = self.open("common.job")
        self.assertEqual(self.codes(common), [])
        self.client.replace(common, COMMON.replace("EN = 1", "DE = 1"))
        self.assertEqual(self.codes(uri), ["unknown-value"])
        self.client.shut(common)
        self.assertEqual(self.codes(uri), [])

    def test_import_that_was_never_saved(self):
        self.start()
        uri = self.open("mail.job", 'import "new.job"; job a { params { t x; } }')
        self.assertEqual(self.codes(uri), ["import-not-found"])
        self.open("new.job", "enum t { A }")
        self.assertEqual(self.codes(uri), [])

    def test_change_on_disk_is_noticed_when_told(self):
        self.start()
        uri = self.open("mail.job")
        self.assertEqual(self.codes(uri), [])
        self.write("common.job", COMMON.replace("retry_policy remote", "retry_policy distant"))
        self.client.tell("workspace/didChangeWatchedFiles", {"changes": []})
        self.assertEqual(self.codes(uri), ["unknown-policy"])

    def test_folder_of_imports_is_searched(self):
        (self.folder / "sub").mkdir()
        client = Client(CULEXC, "-I", str(self.folder))
        self.addCleanup(client.close)
        client.start()
        uri = client.open(self.folder / "sub" / "mail.job", MAIL)
        self.assertEqual(client.diagnostics(uri), [])

    def test_text_of_no_file_is_checked(self):
        self.start()
        uri = self.client.open("untitled:Untitled-1", "sting a;")
        self.assertEqual(self.codes(uri), ["unknown-declaration"])

    def test_other_spellings_of_a_uri_are_one_file(self):
        self.start()
        uri = self.open("mail.job")
        other = uri.replace("mail", "%6dail").replace("file:///", "file://localhost/")
        self.assertEqual(len(self.client.result("textDocument/documentSymbol",
                                                {"textDocument": {"uri": other}})), 3)

    def test_what_would_reorder_the_text_is_not_shown(self):
        self.start()
        uri = self.open("a.job", "job a \u202e;")
        messages = [item["message"] for item in self.client.diagnostics(uri)]
        self.assertIn("U+202E makes this text look other than it is\nremove it; in a string write \\u{202E}", messages)


class Hover(Feature):
    def hover(self, uri, needle, skip=0, nth=0):
        answer = self.ask("hover", uri, needle, skip, nth)
        return answer and answer["contents"]["value"]

    def test_all_that_is_written_is_in_force(self):
        self.start()
        uri = self.open("a.job", 'defaults { tags "shop"; }\n'
                        'job draw {\n    params { string tenant; string doc; }\n    unique by (tenant, doc)\n'
                        '        for 1h;\n    concurrency 8; concurrency 2 by (tenant);\n'
                        '    rate 5 per 1s burst 2; fair by (tenant); needs "gpu" 1;\n}\njob tick { cron "@daily" tz "UTC"; }\n')
        said = self.hover(uri, "draw")
        for text in ("retry {", 'tags "shop";', "unique by (tenant, doc)\n        for 1h;", "concurrency 8;\nconcurrency 2 by (tenant);",
                     "rate 5 per 1s burst 2;", "fair by (tenant);", 'needs "gpu" 1;'):
            self.assertIn(text, said)
        self.assertIn('cron "@daily" tz "UTC";', self.hover(uri, "tick"))

    def test_what_is_said_of_each_thing(self):
        self.start()
        uri = self.open("mail.job")
        for needle, said in (
                ("to [[", ["string to [[nonempty, max_len(320)]]", "RFC 5321 address",
                           'Stored as "to"', "Required", "At least one byte"]),
                ("lang lang", ["enum shop.lang", "Language of a customer's mail",
                               "enum lang : uint8 { EN = 1, IT = 2 }"]),
                ("lang =", ["shop.lang lang = EN", "when it is enqueued"]),
                ("EN;", ["EN = 1", 'Stored as "EN"', "SHOP_LANG_EN in C is 1"]),
                ("money", ["struct shop.money", "int64 minor"]),
                ("cc[", ["string cc[<=50]", "A list, empty by default"]),
                ("campaign", ["optional uuid campaign", "May be absent"]),
                ("uuid", ["16 bytes"]),
                ("remote", ["retry_policy shop.remote", "For calls to other", "max 12"]),
                ("send_email", ["job shop.mail.send_email", "Settings in force", 'queue "mail";',
                                "priority 5;", "timeout 30s;", "expires none;",
                                "keep success 1s, failure 1d;", "memory none;",
                                "retry { max 12; backoff exponential 2s factor 2 cap 1h; "
                                "jitter full; };"]),
                ("sweep", ["retry none;", "priority 0;"]),
                ("retry ", ["What follows a failure", "In force here", "max 12"]),
                ("priority", ["higher first", "priority 5"]),
                ("queue", ["Where the runs wait"]),
                ("jitter", ["Moves each tick"]), ("keep;", ["The earlier run stays"]),
                ("waiting", ["Due, and not taken"]), ("for", ["keeps others out"]),
                ("false", ["default is false"]), ("optional", ["may be absent"]),
                ("max_len", ["Most bytes"]), ("defaults", ["Settings for all jobs"]),
                ("package", ["Prefix of every name"]), ("common", ["common.job"])):
            text = self.hover(uri, needle)
            for part in said:
                self.assertIn(part, text, needle)

    def test_nothing_is_said_of_the_rest(self):
        self.start()
        uri = self.open("mail.job")
        for needle in ("Sends", "RFC", "{", "30s", "(to", "shop.mail"):
            self.assertEqual(self.hover(uri, needle), None, needle)

    def test_schema_text_is_no_markup(self):
        self.start()
        uri = self.open("a.job", "/// <b>*x*</b> [l](u) `c` a_b \u202e\njob a { params "
                                 '{ string s = "```"; } }')
        text = self.hover(uri, "a {")
        self.assertIn("\\<b\\>\\*x\\*\\</b\\> \\[l\\](u) \\`c\\` a_b ?", text)
        self.assertIn('````job\nstring s = "```"\n````', self.hover(uri, "s ="))

    def test_plain_text_where_that_is_wanted(self):
        self.start(capabilities={})
        uri = self.open("mail.job")
        answer = self.ask("hover", uri, "string", 1)
        self.assertEqual(answer["contents"],
                         {"kind": "plaintext", "value": "string: UTF-8 without NUL, const char * in C."})
        self.assertIn("Sends *one* message", self.hover(uri, "send_email"))

    def test_a_word_means_what_its_place_says(self):
        self.start()
        uri = self.open("a.job", "retry_policy keep { jitter none; max 3; }\n"
                                 "job max { params { int8 max [[max(3)]]; int8 queue; } retry none; }")
        self.assertIn("Exactly the delay", self.hover(uri, "none", 1))
        self.assertIn("failure is final", self.hover(uri, "none", 1, 1))
        self.assertIn("Retries after", self.hover(uri, "max", 1))
        self.assertIn("job max", self.hover(uri, "max", 1, 1))
        self.assertIn('Stored as "max"', self.hover(uri, "max", 1, 2))
        self.assertIn("Largest value", self.hover(uri, "max", 1, 3))
        self.assertIn('Stored as "queue"', self.hover(uri, "queue", 1))

    def test_half_written_text_is_explained(self):
        self.start()
        uri = self.open("a.job", "job a {\n    params {\n        string x = ;\n        int8 y\n"
                                 "job b {\n    timeout ")
        self.assertIn("Longest time", self.hover(uri, "timeout"))
        self.assertIn('Stored as "x"', self.hover(uri, "x ="))


class Places(Feature):
    def definition(self, uri, needle, skip=0, nth=0):
        answer = self.ask("definition", uri, needle, skip, nth)
        if answer is None:
            return None
        text = pathlib.Path(self.folder / "common.job").read_text() \
            if answer["uri"].endswith("common.job") else self.client.texts[uri]
        return answer["uri"].rpartition("/")[2], answer["range"]["start"]["line"], \
            slice_of(text, answer["range"])

    def test_each_name_leads_to_its_definition(self):
        self.start()
        uri = self.open("mail.job")
        self.assertEqual(self.definition(uri, "lang lang"), ("common.job", 3, "lang"))
        self.assertEqual(self.definition(uri, "shop.lang", 6), ("common.job", 3, "lang"))
        self.assertEqual(self.definition(uri, "EN"), ("common.job", 3, "EN"))
        self.assertEqual(self.definition(uri, "remote"), ("common.job", 6, "remote"))
        self.assertEqual(self.definition(uri, "common"), ("common.job", 0, ""))
        self.assertEqual(self.definition(uri, "(to", 1), ("mail.job", 8, "to"))
        self.assertEqual(self.definition(uri, ", lang", 3), ("mail.job", 9, "lang"))
        self.assertEqual(self.definition(uri, "uuid"), None)
        self.assertEqual(self.definition(uri, "{"), None)

    def test_file_uris_are_escaped(self):
        self.start()
        uri = self.open("mail.job")
        self.assertEqual(self.ask("definition", uri, "remote")["uri"],
                         (self.folder / "common.job").as_uri())
        self.assertIn("%20b%25%C3%A9", uri)

    def test_references_of_files_that_are_not_open(self):
        self.write("sub/far.job", "package shop.far;\njob a { params { shop.lang l; } }")
        self.write("other.job", 'package other; import "common.job";\n'
                                "job a { params { shop.lang l = IT; } }")
        self.start()
        uri = self.open("common.job")
        files = [item["uri"].rpartition("/")[2]
                 for item in self.ask("references", uri, "lang :")]
        self.assertEqual(sorted(files), ["common.job", "mail.job", "other.job"])
        for kept, count in ((True, 2), (False, 1)):
            self.assertEqual(len(self.ask("references", uri, "IT",
                                          context={"includeDeclaration": kept})), count)

    def test_highlights_tell_reads_from_the_declaration(self):
        self.start()
        uri = self.open("mail.job")
        marks = self.ask("documentHighlight", uri, "(to", 1)
        self.assertEqual(sorted(mark["kind"] for mark in marks), [2, 3])

    def test_outline_has_jobs_and_their_params(self):
        self.start()
        uri = self.open("mail.job")
        outline = self.client.result("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        self.assertEqual([item["name"] for item in outline], ["defaults", "send_email", "sweep"])
        self.assertEqual([item["name"] for item in outline[1]["children"]],
                         ["to", "lang", "price", "cc", "campaign", "urgent", "message_id"])
        self.assertTrue(slice_of(MAIL, outline[1]["range"]).startswith("job send_email {"))
        self.assertTrue(slice_of(MAIL, outline[1]["range"]).endswith("on_conflict keep;\n}"))
        self.assertEqual(slice_of(MAIL, outline[1]["selectionRange"]), "send_email")


class Rename(Feature):
    def renamed(self, uri, needle, name, skip=0):
        """The texts of all files that the rename touches, by their names."""
        answer = self.ask("rename", uri, needle, skip, newName=name)
        texts = {}
        for where, edits in answer["changes"].items():
            file = where.rpartition("/")[2]
            texts[file] = edited(self.client.texts.get(where) or
                                 (self.folder / file).read_text(), edits)
        return texts

    def refused(self, uri, needle, name, skip=0):
        answer = self.client.ask("textDocument/rename",
                                 {**self.client.place(uri, needle, skip), "newName": name})
        return answer["error"]["message"]

    def test_type_is_renamed_in_all_files(self):
        self.start()
        uri = self.open("mail.job")
        texts = self.renamed(uri, "lang lang", "tongue")
        self.assertEqual(texts, {"common.job": COMMON.replace("enum lang", "enum tongue"),
                                 "mail.job": MAIL.replace("shop.lang", "shop.tongue")})

    def test_policy_and_enum_value_are_renamed(self):
        self.start()
        uri = self.open("common.job")
        self.assertEqual(self.renamed(uri, "remote", "distant"),
                         {"common.job": COMMON.replace("remote", "distant"),
                          "mail.job": MAIL.replace("remote", "distant")})
        self.assertEqual(self.renamed(uri, "EN", "GB"),
                         {"common.job": COMMON.replace("EN", "GB"),
                          "mail.job": MAIL.replace("= EN", "= GB")})
        self.client.hear(lambda m: m.get("method") == "window/showMessage"
                         and "old name" in m["params"]["message"])

    def test_param_keeps_its_stored_name(self):
        self.start()
        uri = self.open("mail.job")
        texts = self.renamed(uri, "(to", "recipient", 1)
        self.assertEqual(texts, {"mail.job": MAIL.replace(
            "string to [[", 'string recipient [[was("to"), ').replace("(to,", "(recipient,")})
        self.client.replace(uri, texts["mail.job"])
        again = self.renamed(uri, "recipient", "addressee")["mail.job"]
        self.assertIn('string addressee [[was("to", "recipient"), nonempty', again)
        back = self.renamed(uri, "recipient", "to")["mail.job"]
        self.assertIn('string to [[was("to"), nonempty', back)
        self.client.replace(uri, again)
        self.assertEqual(self.client.diagnostics(uri), [])

    def test_where_no_attribute_was(self):
        self.start()
        uri = self.open("mail.job")
        self.assertIn('string copies[<=50] [[was("cc")]];',
                      self.renamed(uri, "cc[", "copies")["mail.job"])
        self.assertIn('shop.lang tongue [[was("lang")]] = EN;',
                      self.renamed(uri, "lang =", "tongue")["mail.job"])
        self.assertIn('job send_mail [[was("send_email")]] {',
                      self.renamed(uri, "send_email", "send_mail")["mail.job"])
        self.assertIn('string id [[was("message_id")]];',
                      self.renamed(uri, "message_id", "id")["mail.job"])

    def test_names_that_cannot_be_had(self):
        self.start()
        uri = self.open("mail.job")
        for name, reason in (("", "letters, digits"), ("1a", "letters, digits"),
                             ("a-b", "letters, digits"), ("a" * 65, "letters, digits"),
                             ("é", "letters, digits"), ("a b", "letters, digits"),
                             ("lang", "declared twice"), ("int", "keyword"),
                             ("cc_len", "cannot be the name"), ("_x", "cannot be the name")):
            self.assertIn(reason, self.refused(uri, "(to", name, 1), name)
        self.assertIn("declared twice", self.refused(uri, "sweep", "send_email"))
        self.assertIn("nothing to rename", self.refused(uri, "uuid", "x"))
        self.assertIn("nothing to rename", self.refused(uri, "queue", "x"))

    def test_collision_in_a_file_that_is_not_open(self):
        self.write("mail.job", MAIL.replace("shop.lang", "lang") + "enum tongue { EN }\n")
        self.start()
        uri = self.open("common.job")
        self.assertIn("means something else", self.refused(uri, "lang", "tongue"))

    def test_open_files_count_however_many_there_are(self):
        self.start()
        uri = self.open("common.job")
        for number in range(999):
            self.write(f"f{number}.job", f"package f{number}; enum e {{ A }}")
        self.open("all.job", "".join(f'import "f{number}.job";\n' for number in range(999)))
        self.assertEqual(len(self.ask("references", uri, "IT")), 1)
        self.assertIn("more than 1000", self.refused(uri, "IT", "FR"))

    def test_reserved_names_stay_reserved(self):
        self.start()
        uri = self.open("a.job", 'job a { params { string x; reserved "y"; } }')
        self.assertIn("reserved", self.refused(uri, "x;", "y"))

    def test_same_name_changes_nothing(self):
        self.start()
        uri = self.open("mail.job")
        self.assertEqual(self.renamed(uri, "(to", "to", 1), {})

    def test_what_can_be_renamed(self):
        self.start()
        uri = self.open("mail.job")
        self.assertEqual(self.ask("prepareRename", uri, "shop.lang", 6)["placeholder"], "lang")
        self.assertEqual(slice_of(MAIL, self.ask("prepareRename", uri, "shop.lang", 6)["range"]),
                         "lang")
        self.assertEqual(self.ask("prepareRename", uri, "shop.mail"), None)


class Completion(Feature):
    def labels(self, text, name="a.job"):
        """What is offered at the § in `text`."""
        uri = self.client.open(self.folder / name, text)
        items = self.ask("completion", uri, "§")
        self.assertEqual(len({item["label"] for item in items}), len(items), "an item twice")
        for item in items:
            self.assertEqual(item["textEdit"]["range"]["end"],
                             self.client.place(uri, "§")["position"])
        return [item["label"] for item in items]

    def test_words_by_place(self):
        self.start()
        declarations = ["package", "import", "enum", "struct", "type", "retry_policy", "chain", "defaults", "job"]
        table = (ROOT / "codegen/front/settings.def").read_text()
        settings = re.findall(r'^SETTING\(\w+, "(\w+)", SETTING,', table, re.M)
        own = ["params", "returns", "metadata", *re.findall(r'^SETTING\(\w+, "(\w+)", JOB,', table, re.M)]
        for text, words in (
                ("§", declarations), ("job a;\n§", declarations), ("job a { } §", declarations),
                ("job a { params {\njob b { }\n§", None), ("defaults { §", settings),
                ("job a { §", own + settings), ("job a { queue \"x\"; §", own + settings),
                ("job a { keep §", ["success", "failure", "log"]),
                ("job a { keep success 1h, §", ["success", "failure", "log"]),
                ("job a { keep success §", []),
                ("job a { retry { §", ["max", "for", "backoff", "jitter"]),
                ("retry_policy p { max 3; §", ["max", "for", "backoff", "jitter"]),
                ("retry_policy p { backoff §", ["constant", "linear", "polynomial", "exponential",
                                                "steps"]),
                ("retry_policy p { backoff linear 2s §", ["factor", "cap"]),
                ("retry_policy p { backoff constant 2s §", []),
                ("retry_policy p { jitter §", ["none", "full", "equal"]),
                ("job a { unique §", ["by", "for", "while", "on_conflict", "debounce"]),
                ("job a { unique by §", ["all"]), ("job a { fair §", ["by"]), ("job a { fair by (§", []),
                ("job a { unique while (§", ["scheduled", "waiting", "active"]),
                ("job a { unique while (waiting, §", ["scheduled", "waiting", "active"]),
                ("job a { unique on_conflict §", ["keep", "replace", "error"]),
                ("job a { concurrency 8 §", ["by"]), ("job a { rate 5 §", ["per"]),
                ("job a { rate 5 per 1m §", ["by", "burst"]), ("job a { every 5m §", ["jitter", "overlap"]),
                ("job a { every 5m jitter 1s §", ["overlap"]), ("job a { every 5m overlap §", ["skip", "allow"]),
                ('job a { cron "* * * * *" §', ["tz"]),
                ('job a { cron "* * * * *" tz "UTC" §', ["missed", "jitter", "overlap"]),
                ('job a { cron "* * * * *" tz "UTC" jitter 1s §', ["overlap"]),
                ('job a { cron "* * * * *" tz "UTC" missed all §', ["jitter", "overlap"]),
                ('job a { cron "* * * * *" tz "UTC" missed all overlap §', ["skip", "allow"]),
                ('job a { cron "* * * * *" tz "UTC" missed all jitter 1s §', ["overlap"]),
                ('job a { cron "* * * * *" tz "UTC" missed §', ["skip", "once", "all"]),
                ("job a; struct s { int8 x; } job b; chain c { §", ["a", "b"]),
                ("job a; job b; chain c { a; §", ["a", "b"]), ("job a; chain c { a §", []), ("chain §", []),
                ("enum e { §", ["reserved"]),
                ("enum e : §", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                                "uint64"]),
                ("type t = §", ["string"]), ("type t = string §", ["with"]), ("type t §", []),
                ('type t = string with §', []), ('type t = string with "t.h" §', []), ("type t [[§", ["allow_breaking"]),
                ("enum e [[§", ["closed", "allow_breaking"]), ("enum e { A [[§", ["deprecated", "allow_breaking"]),
                ("job a [[§", ["was", "retired", "deprecated", "allow_breaking"]),
                ("struct s { int8 x [[§", ["was", "deprecated", "secret", "min", "max",
                                           "allow_breaking"]),
                ("job a { params { bool b = §", ["true", "false"]),
                ("job a { params { int8 b = §", []), ("job a { params { int8 §", []),
                ("job a { // §", []), ("/// §", []), ("/* job §", []), ("/* */ §", declarations),
                ('job a { queue "§', []), ("job §", []), ("package §", []),
                ("job a [[was(§", []), ("job a { params { } } } } §", declarations)):
            found = self.labels(text)
            self.assertEqual(sorted(found), sorted(words if words is not None else declarations),
                             text)

    def test_types_that_this_file_can_name(self):
        self.start()
        self.write("far.job", "package far; struct thing { int8 x; }")
        labels = self.labels('package shop.x; import "common.job"; import "far.job"; '
                             "enum own { A } "
                             'type texted = string with "t.h" t_parse t_format; job a { params { §')
        for label in ("own", "texted", "lang", "money", "far.thing", "uuid", "optional", "reserved"):
            self.assertIn(label, labels)
        self.assertNotIn("remote", labels)
        self.assertEqual(self.labels("struct s { int8 x; } job a { params { optional §")[-1], "s")

    def test_attributes_that_fit_the_type(self):
        self.start()
        bounds, lengths = {"min", "max"}, {"nonempty", "min_len", "max_len", "len"}
        for field, wanted in [("string a", lengths), ("optional bytes a", lengths), ("string a[]", lengths),
                              ("int32 a", bounds), ("optional timestamp a", bounds), ("int128 a", set()),
                              ("bool a", set()), ("e a", set())]:
            offered = set(self.labels("enum e { A } struct s { %s [[§" % field))
            self.assertEqual(offered & (bounds | lengths), wanted, field)
            self.assertLessEqual({"secret", "was"}, offered, field)

    def test_items_are_documented(self):
        self.start()
        uri = self.open("a.job", "/// Mine.\nenum own { A } struct s { §")
        said = {item["label"]: item.get("documentation")
                for item in self.ask("completion", uri, "§")}
        self.assertEqual(said["own"], "Mine.")
        self.assertEqual(said["bool"], "bool in C.")

    def test_rest_of_a_path(self):
        self.start()
        uri = self.open("b.job", 'package far; import "common.job"; job a { params { shop.l§')
        items = {item["label"]: item for item in self.ask("completion", uri, "§")}
        edit = items["shop.lang"]["textEdit"]
        self.assertEqual(slice_of(self.client.texts[uri], edit["range"]), "shop.l")

    def test_names_of_the_package_that_was_begun(self):
        self.start()
        self.write("far.job", "package far; struct thing { int8 x; }")
        imports = 'import "common.job"; import "far.job"; '
        for head in ("package own; ", "package shop; ", "package shop.mail; ", ""):
            for typed in ("shop.", "shop.l"):
                self.assertEqual(sorted(self.labels(head + imports + "job a { params { " + typed + "§")),
                                 ["shop.lang", "shop.money"], head + typed)
            self.assertEqual(self.labels(head + imports + "job a { retry shop.§"), ["shop.remote"], head)
        self.assertEqual(self.labels("package shop.x; struct y { int8 z; } job a { params { shop.x.§"),
                         ["shop.x.y"])
        self.assertEqual(self.labels(imports + "job a { params { nowhere.§"), [])

    def test_values_policies_and_params(self):
        self.start()
        head = 'package shop; import "common.job"; '
        self.assertEqual(self.labels(head + "job a { params { lang l = §"), ["EN", "IT"])
        self.assertEqual(self.labels(head + "job a { params { shop.lang l [[x_a(1)]] = E§"),
                         ["EN", "IT"])
        self.assertEqual(self.labels(head + "job a { retry §"), ["none", "remote"])
        self.assertEqual(self.labels("job b { params { int8 z; } }\n"
                                     "job a { params { int8 x; int8 y; } unique by (x, §"),
                         ["x", "y"])

    def test_files_to_import_are_offered_folder_by_folder(self):
        self.start()
        self.write("sub/deep.job", "job a;")
        self.write("notes.txt", "")
        self.assertEqual(sorted(self.labels('import "§')), ["common.job", "mail.job", "sub/"])
        self.assertEqual(self.labels('import "sub/§'), ["sub/deep.job"])
        self.assertEqual(self.labels('import "sub/d§";'), ["sub/deep.job"])
        for text in ('import "../§', 'import "/§', 'import "x/§'):
            self.assertEqual(self.labels(text), [], text)

    def test_no_file_is_to_import_itself(self):
        self.start()
        self.assertEqual(self.labels('import "§', "mail.job"), ["common.job"])
        (self.folder / "link.job").symlink_to("mail.job")
        self.assertEqual(self.labels('import "§', "mail.job"), ["common.job"])


    def snippets(self, text):
        uri = self.client.open(self.folder / "s.job", text)
        return [item for item in self.ask("completion", uri, "§") if item.get("insertTextFormat") == 2]

    def test_snippets_filled_in_are_schemas(self):
        self.start(capabilities={"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}})
        seen = 0
        for text in ("§", "job a { §}", "job a { params { §} }", "struct s { §int8 x; }"):
            for item in self.snippets(text):
                filled = re.sub(r"\$\{\d:([^}]*)\}|\$0", lambda place: place.group(1) or "", item["textEdit"]["newText"])
                uri = self.client.open(self.folder / f"f{seen}.job", text.replace("§", filled + " "))
                self.assertEqual(self.client.diagnostics(uri), [], filled)
                seen += 1
        self.assertEqual(seen, 20)

    def test_no_snippets_where_they_would_be_taken_for_text(self):
        self.start()
        self.assertEqual(self.snippets("§"), [])


class Colours(Feature):
    def tokens(self, uri):
        """(text, type, modifiers) of each."""
        legend = self.client.capabilities["semanticTokensProvider"]["legend"]
        data = self.client.result("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})["data"]
        line = character = 0
        for at in range(0, len(data), 5):
            down, right, length, kind, modifiers = data[at:at + 5]
            line, character = line + down, right if down else character + right
            place = {"start": {"line": line, "character": character},
                     "end": {"line": line, "character": character + length}}
            yield (slice_of(self.client.texts[uri], place), legend["tokenTypes"][kind],
                   {name for bit, name in enumerate(legend["tokenModifiers"]) if modifiers >> bit & 1})

    def test_each_name_by_what_it_means(self):
        self.start()
        self.assertEqual(list(self.tokens(self.open("mail.job"))), [
            ("send_email", "function", {"declaration"}), ("string", "type", {"defaultLibrary"}),
            ("to", "property", {"declaration"}), ("lang", "enum", set()), ("lang", "property", {"declaration"}),
            ("EN", "enumMember", set()), ("money", "struct", set()), ("price", "property", {"declaration"}),
            ("string", "type", {"defaultLibrary"}), ("cc", "property", {"declaration"}),
            ("uuid", "type", {"defaultLibrary"}), ("campaign", "property", {"declaration"}),
            ("bool", "type", {"defaultLibrary"}), ("urgent", "property", {"declaration"}),
            ("string", "type", {"defaultLibrary"}), ("message_id", "property", {"declaration"}),
            ("remote", "variable", set()), ("to", "property", set()), ("lang", "property", set()),
            ("sweep", "function", {"declaration"})])

    def test_what_is_deprecated_and_columns_behind_other_scripts(self):
        self.start()
        text = "enum e { A [[deprecated(\"\")]] }\n/* \U0001f600 */ job j [[deprecated(\"ü\")]] { params { e x = A; } }"
        self.assertEqual(list(self.tokens(self.open("a.job", text))), [
            ("e", "enum", {"declaration"}), ("A", "enumMember", {"declaration", "deprecated"}),
            ("j", "function", {"declaration", "deprecated"}), ("e", "enum", set()),
            ("x", "property", {"declaration"}), ("A", "enumMember", {"deprecated"})])

    def test_half_written_text_has_what_is_known(self):
        self.start()
        self.assertEqual([text for text, _, _ in self.tokens(self.open("a.job", "job a { params { int8 x"))],
                         ["a", "int8", "x"])
        self.assertEqual(list(self.tokens(self.open("b.job", ""))), [])


class Project(Feature):
    """What the culex.yaml of a file says, as for the command line."""

    USER = 'import "types.job"; job a { params { lib.point p; } }'

    def setUp(self):
        super().setUp()
        self.write("include/types.job", "package lib; struct point { int32 x; }")
        (self.folder / "jobs").mkdir()
        self.write("jobs/deep/a.job", self.USER)

    def codes(self, uri):
        return [item["code"] for item in self.client.diagnostics(uri)]

    def test_import_is_found_once_the_project_names_its_folder(self):
        self.start()
        uri = self.open("jobs/deep/a.job")
        self.assertEqual(self.codes(uri), ["import-not-found"])
        self.write("culex.yaml", "imports: [include]")
        self.client.tell("workspace/didChangeWatchedFiles", {"changes": []})
        self.assertEqual(self.codes(uri), [])
        place = self.ask("definition", uri, "point")
        self.assertTrue(place["uri"].endswith("/include/types.job"), place)

    def test_imports_are_offered(self):
        self.write("culex.yaml", "imports: [include]")
        self.start()
        text = 'import "t";'
        uri = self.client.open(self.folder / "jobs/b.job", text)
        offered = self.ask("completion", uri, 't"', skip=1)
        items = offered["items"] if isinstance(offered, dict) else offered
        self.assertIn("types.job", [item["label"] for item in items])

    def test_tiers_unless_the_editor_says(self):
        self.write("culex.yaml", "tiers: [comments]")
        self.start()
        uri = self.client.open(self.folder / "jobs/b.job", "job b;")
        self.assertEqual(self.codes(uri), ["undocumented-job"])
        other = Client(CULEXC, "--tier", "minimal")
        self.addCleanup(other.close)
        other.start(CAPABILITIES, self.folder)
        uri = other.open(self.folder / "jobs/b.job", "job b;")
        self.assertEqual(other.diagnostics(uri), [])

    def test_change_is_judged_by_the_lock_of_the_project(self):
        self.write("culex.yaml", "lock: include/all.lock")
        self.write("jobs/b.job", "job b { params { int8 x; } }")
        subprocess.run([CULEXC, "lock", "jobs/b.job"], cwd=self.folder, check=True)
        self.start()
        uri = self.client.open(self.folder / "jobs/b.job", "job b { params { string x; } }")
        self.assertEqual(self.codes(uri), ["field-type-changed"])

    def test_each_file_has_its_own_project(self):
        self.write("culex.yaml", "tiers: [comments]")
        self.write("jobs/culex.yaml", "")
        self.start()
        for name, wanted in (("b.job", ["undocumented-job"]), ("jobs/b.job", [])):
            self.assertEqual(self.codes(self.client.open(self.folder / name, "job b;")), wanted, name)

    def test_what_is_wrong_with_it_is_told_in_the_schema(self):
        self.write("culex.yaml", "# Ours.\ntier: [comments]")
        self.start()
        uri = self.client.open(self.folder / "jobs/b.job", "job b;")
        found = self.client.diagnostics(uri)
        self.assertEqual([item["code"] for item in found], ["project-syntax"])
        self.assertIn("culex.yaml:2: unknown key 'tier'", found[0]["message"])


class Promises(Feature):
    """What jobs.lock has promised, and an edit breaks."""

    def lock(self, *files):
        subprocess.run([CULEXC, "lock", *files], cwd=self.folder, check=True, stderr=subprocess.DEVNULL)

    def codes(self, name, text):
        uri = self.client.open(self.folder / name, text)
        found = [(item["code"], slice_of(text, item["range"])) for item in self.client.diagnostics(uri)]
        self.client.shut(uri)
        return found

    def test_what_breaks_is_told_at_its_place(self):
        self.start()
        self.lock("mail.job")
        self.assertEqual(self.codes("mail.job", MAIL), [])
        self.assertEqual(self.codes("mail.job", MAIL.replace("bool urgent = false;", "bool urgent = false; int8 more;")),
                         [("required-set-changed", "send_email"), ("field-required-added", "more")])
        self.assertIn(("field-type-changed", "urgent"),
                      self.codes("mail.job", MAIL.replace("bool urgent = false;", 'string urgent = "";')))

    def test_of_jobs_in_other_files_nothing_is_said(self):
        self.start()
        self.lock("mail.job")
        self.assertEqual(self.codes("new.job", "job b;"), [])
        self.assertEqual(self.codes("mail.job", MAIL.replace("job sweep { every 5m jitter 5s; }", "")), [])

    def test_the_nearest_lock_counts(self):
        self.start()
        self.write("sub/deep.job", "job deep { params { int8 x; } }")
        self.lock("sub/deep.job")
        changed = "job deep { params { string x; } }"
        self.assertEqual([code for code, _ in self.codes("sub/deep.job", changed)], ["field-type-changed"])
        self.write("sub/jobs.lock", "")
        self.assertEqual(self.codes("sub/deep.job", changed), [], "a lock that cannot be read")
        (self.folder / "sub/jobs.lock").unlink()
        (self.folder / "sub/jobs.lock").mkdir()
        self.assertEqual([code for code, _ in self.codes("sub/deep.job", changed)], ["field-type-changed"])

    def test_a_changed_lock_is_noticed_when_told(self):
        self.start()
        text = "job a { params { int8 x; } }"
        self.write("a.job", "job a;")
        self.lock("a.job")
        uri = self.client.open(self.folder / "a.job", text)
        self.assertEqual([item["code"] for item in self.client.diagnostics(uri)], ["required-set-changed", "field-required-added"])
        (self.folder / "jobs.lock").unlink()
        self.client.tell("workspace/didChangeWatchedFiles", {"changes": []})
        self.assertEqual(self.client.diagnostics(uri), [])

    def test_a_rename_is_not_kept_back_by_the_lock(self):
        self.start()
        self.lock("common.job", "mail.job")
        uri = self.open("mail.job")
        self.assertIn("changes", self.ask("rename", uri, "string to", 7, newName="target"))


class Folding(Feature):
    def folds(self, text, name="a.job"):
        uri = self.open(name, text)
        ranges = self.client.result("textDocument/foldingRange", {"textDocument": {"uri": uri}})
        return sorted((item["startLine"], item["endLine"], item.get("kind", "")) for item in ranges)

    def test_blocks_comments_and_imports(self):
        self.start()
        self.assertEqual(self.folds("// Two\n// lines.\npackage p;\nimport \"common.job\";\nimport \"mail.job\";\n"
                                    "job a {\n    params {\n        int8 x;\n    }\n    // One.\n}\n"
                                    "job b { params { int8 y; } }\n/// Of\n/// c.\njob c;"),
                         [(0, 1, "comment"), (3, 4, "imports"), (5, 9, ""), (6, 7, ""), (12, 13, "comment")])

    def test_what_is_not_closed_or_too_deep(self):
        self.start()
        self.assertEqual(self.folds("job a {\n params {\n"), [])
        self.assertEqual(self.folds("}\n}\n// a\n// b"), [(2, 3, "comment")])
        deep = self.folds("{\n" * 100 + "}\n" * 100)
        self.assertEqual(len(deep), 64)
        self.assertEqual(deep[0], (0, 198, ""))


class Find(Feature):
    def found(self, query):
        return [(item["name"], item.get("containerName"), item["location"]["uri"].rpartition("/")[2])
                for item in self.client.result("workspace/symbol", {"query": query})]

    def test_declarations_are_found_in_all_files(self):
        self.start()
        self.write("sub/deep.job", "job resend;")
        self.open("mail.job", MAIL + "job sent;")
        self.assertEqual(sorted(self.found("sen")), [("resend", None, "deep.job"),
                                                     ("send_email", "shop.mail", "mail.job"),
                                                     ("sent", "shop.mail", "mail.job")])
        self.assertEqual(self.found("SE_ma"), [("send_email", "shop.mail", "mail.job")])
        self.assertEqual(len(self.found("")), 7)
        self.assertEqual(self.found("xyz"), [])
        self.assertEqual(self.found("sweeper"), [])


class Formatting(Feature):
    def formatted(self, text):
        uri = self.open("a.job", text)
        edits = self.client.result("textDocument/formatting", {
            "textDocument": {"uri": uri}, "options": {"tabSize": 8, "insertSpaces": False}})
        return edits, edited(text, edits or [])

    def test_as_the_command_line_does(self):
        self.start()
        text = "// \U0001f600\njob a;\njob  b { params {\n string   x ; } }\n// end\njob c;\n"
        edits, result = self.formatted(text)
        printed = subprocess.run([CULEXC, "fmt", self.write("b.job", text)], capture_output=True,
                                 check=True, timeout=60).stdout.decode()
        self.assertEqual(result, printed)
        self.assertEqual(len(edits), 1)
        self.assertEqual(edits[0]["range"]["start"], {"line": 2, "character": 0})
        self.assertLess(edits[0]["range"]["end"]["line"], 5)
        self.assertEqual(self.formatted(result)[0], [])

    def test_what_changes_at_the_ends(self):
        self.start()
        for text in ("job a;", "\n\njob a;\n", "job a;\n\n\n", "", "\n", "\ufeffjob  a;\n",
                     "job a;\r\njob b;\r\n", "job a;  \n"):
            edits, result = self.formatted(text)
            self.assertIsNotNone(edits, repr(text))
            self.assertEqual(self.formatted(result)[0], [], repr(text))

    def test_what_does_not_parse_stays(self):
        self.start()
        self.assertEqual(self.formatted("job  a {")[0], None)


class Actions(Feature):
    TEXT = 'job a {\n    params {\n        string api_token;\n        string name;\n    }\n}\n'

    def actions(self, uri, first, last):
        span = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
        return self.client.result("textDocument/codeAction", {
            "textDocument": {"uri": uri}, "range": span, "context": {"diagnostics": []}})

    def test_a_fix_where_a_diagnostic_has_one(self):
        client = self.client = Client(CULEXC, "--tier", "minimal")
        self.addCleanup(client.close)
        self.start()
        uri = self.open("a.job", self.TEXT)
        item, = client.diagnostics(uri)
        self.assertEqual((item["code"], item["severity"]), ("secret-name", 2))
        action, = self.actions(uri, 2, 3)
        self.assertEqual((action["title"], action["kind"]), ("Insert ' [[secret]]'", "quickfix"))
        self.assertEqual(action["diagnostics"], [item])
        self.assertNotIn("isPreferred", action)
        fixed = edited(self.TEXT, action["edit"]["changes"][uri])
        self.assertIn("string api_token [[secret]];", fixed)
        self.assertEqual(self.actions(uri, 0, 1), [])
        self.assertEqual(self.actions(uri, 3, 99), [])
        client.replace(uri, fixed)
        self.assertEqual(client.diagnostics(uri), [])

    def test_the_word_that_was_meant_and_a_missing_semicolon(self):
        self.start()
        text = "job a {\n    params {\n        sting x\n    }\n}\n"
        uri = self.open("a.job", text)
        first, second = self.actions(uri, 0, 99)
        self.assertEqual([first["title"], second["title"]], ["Change 'sting' to 'string'", "Insert ';'"])
        # Behind a broken part a type may be missing, so only the one is sure.
        self.assertEqual([first.get("isPreferred"), second.get("isPreferred")], [None, True])
        edits = first["edit"]["changes"][uri] + second["edit"]["changes"][uri]
        self.assertIn("        string x;\n", edited(text, edits))

    def test_what_may_not_be_meant_is_offered_and_not_preferred(self):
        self.start()
        text = ('import "b.job";\nenum e { RED, BLUE }\njob a [[retried]] {\n    params {\n        e x = BLU;\n'
                '        strng y;\n    }\n}\n')
        uri = self.open("a.job", text)
        self.open("b.job", "struct strings { int8 x; }\n")
        found = [(action["title"], action.get("isPreferred")) for action in self.actions(uri, 0, 99)]
        self.assertEqual(found, [("Change 'retried' to 'retired'", None), ("Change 'BLU' to 'BLUE'", None),
                                 ("Change 'strng' to 'string'", None)])

    def test_what_a_file_and_its_import_must_not_both_have(self):
        self.start()
        self.open("m.job", 'package a;\njob m [[was("n")]];\nstruct s { int32 x; }\n')
        uri = self.open("n.job", 'package a;\nimport "m.job";\njob n { params { s t; } }\n')
        item, = self.client.diagnostics(uri)
        self.assertEqual((item["code"], item["range"]["start"]["line"]), ("duplicate-wire-name", 2))

    def test_a_sure_fix_is_preferred(self):
        self.start()
        uri = self.open("a.job", "job a {\n    priorty 3;\n}\n")
        action, = self.actions(uri, 0, 99)
        self.assertEqual((action["title"], action["isPreferred"]), ("Change 'priorty' to 'priority'", True))

    def test_lint_is_not_asked_for_by_itself(self):
        self.start()
        uri = self.open("a.job", self.TEXT)
        self.assertEqual(self.client.diagnostics(uri), [])
        self.assertEqual(self.actions(uri, 0, 99), [])

    def test_unused_and_deprecated_are_tagged(self):
        client = self.client = Client(CULEXC, "--tier", "standard")
        self.addCleanup(client.close)
        self.start()
        uri = self.open("a.job", "package p; retry_policy q { max 1; } enum e { A }\n"
                                 "job a { params { optional int8 x [[deprecated]]; } }")
        tags = {item["code"]: item.get("tags") for item in client.diagnostics(uri)}
        self.assertEqual(tags, {"unused-policy": [1], "unused-type": [1],
                                "deprecated-silent": [2]})

    def test_unknown_tier_is_refused(self):
        client = Client(CULEXC, "--tier", "no")
        self.addCleanup(client.close)
        self.assertEqual(client.process.wait(60), 2)


if __name__ == "__main__":
    unittest.main()
