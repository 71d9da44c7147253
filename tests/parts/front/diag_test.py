"""What culexc does with diagnostics: explanations, switches, comments that allow, fixes, formats.

diag_test.py CULEXC
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import zones

ROOT = pathlib.Path(__file__).resolve().parents[3]
CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()
NOBODY = 65534
UNUSED = 'import "types.job";\njob a;\n'
TYPES = "struct point { int32 x; }\n"


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)
        self.write("types.job", TYPES)
        self.zones = pathlib.Path(holder.name + ".zones")
        self.addCleanup(shutil.rmtree, self.zones)
        zones.write(self.zones)

    def write(self, name, text):
        (self.work / name).parent.mkdir(exist_ok=True)
        (self.work / name).write_text(text, encoding="utf-8")

    def text(self, name="a.job"):
        return (self.work / name).read_text(encoding="utf-8")

    def run_culexc(self, *words, **options):
        env = {**os.environ, "TZDIR": str(self.zones), **options.pop("env", {})}
        done = subprocess.run([CULEXC, *words], cwd=self.work, env=env, capture_output=True,
                              timeout=60, check=False, **options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def check(self, text, *options):
        """Status, and (id, severity) of what is said about a schema."""
        self.write("a.job", text)
        status, out, _ = self.run_culexc("check", "--message-format=json", *options, "a.job")
        found = [json.loads(line) for line in out.splitlines()]
        return status, [(one["id"], one["severity"]) for one in found]

    def assert_usage(self, done, *words):
        self.assertEqual(done[0], 2, done)
        for word in words:
            self.assertIn(word, done[2])


class Explain(Case):
    def ids(self):
        _, out, _ = self.run_culexc("explain", "--list")
        return [line.split()[0] for line in out.splitlines()]

    def test_list_has_every_id_once_with_its_severity(self):
        _, out, _ = self.run_culexc("explain", "--list")
        lines = out.splitlines()
        self.assertGreater(len(lines), 60)
        self.assertEqual(len(self.ids()), len(set(self.ids())))
        for line in lines:
            self.assertRegex(line, r"^[a-z0-9-]+ +((lint|breaking) \w+, )?(error|warning\b)")

    def test_explanations_are_wrapped_prose(self):
        status, out, _ = self.run_culexc("explain", *self.ids())
        self.assertEqual(status, 0)
        for line in out.splitlines():
            self.assertTrue(len(line) <= 78 or line.startswith("    "), line)
        self.assertEqual(out.count("\n\n\n"), 0)

    def test_wrong_examples_get_the_id_and_right_ones_nothing(self):
        counts = {"wrong": 0, "right": 0}
        for slug in self.ids():
            _, out, _ = self.run_culexc("explain", slug)
            if out.startswith((f"{slug}: lint", f"{slug}: breaking")):
                continue
            for kind, text in re.findall(r"^    (wrong|right): (.*)$", out, re.M):
                counts[kind] += 1
                switch = [] if ": error" in out else [f"-W{slug}"]
                _, found = self.check(text + "\n", *switch)
                with self.subTest(slug=slug, text=text):
                    if kind == "wrong":
                        self.assertIn(slug, [one for one, _ in found])
                    else:
                        self.assertEqual(found, [])
        self.assertGreater(min(counts.values()), 50, counts)

    def test_unknown_id_is_a_wrong_usage(self):
        self.assert_usage(self.run_culexc("explain", "unknwon-type"), "did you mean 'unknown-type'?")
        self.assert_usage(self.run_culexc("explain", "zzz"), "--list")
        self.assert_usage(self.run_culexc("explain"))
        self.assert_usage(self.run_culexc("explain", "--list", "syntax"))


class Once(Case):
    """What is wrong in an import is not said again by way of each file that imports it."""

    def importers(self, text):
        self.write("lib.job", text)
        for name in "abc":
            self.write(f"{name}.job", f'import "lib.job";\njob {name} {{ params {{ s v; }} }}\n')
        return ["a.job", "b.job", "./lib.job", "c.job"]

    def test_an_error_of_an_import_is_told_once(self):
        files = self.importers("struct s { sting x; } struct t { strin x; }\n")
        for verb, form in [("check", "human"), ("check", "short"), ("check", "json"), ("check", "sarif"),
                           ("check", "github"), ("lint", "short"), ("gen", "short")]:
            out = ["--out", "out"] if verb == "gen" else []
            status, text, messages = self.run_culexc(verb, *out, f"--message-format={form}", *files)
            with self.subTest(verb=verb, form=form):
                self.assertEqual(status, 1)
                self.assertEqual((text + messages).count("unknown type 'sting'"), 1)
                self.assertEqual((text + messages).count("unknown type 'strin'"), 1)

    def test_each_importer_of_what_is_broken_is_broken(self):
        files = self.importers("struct s { sting x; }\n")
        self.assertEqual(self.run_culexc("gen", "--out", "out", *files)[0], 1)
        self.assertFalse((self.work / "out").exists())

    def test_a_warning_of_an_import_is_told_once(self):
        files = self.importers('import "types.job";\nstruct s { int32 x; }\n')
        status, _, messages = self.run_culexc("check", *files)
        self.assertEqual((status, messages.count("[unused-import]")), (0, 1))
        self.assertEqual(self.run_culexc("check", "-Werror", *files)[0], 1)

    def test_fix_counts_what_is_told(self):
        files = self.importers("struct s { nothing_like_it x; }\n")
        self.assertIn("fixes applied: 0; left: errors 1, warnings 0", self.run_culexc("check", "--fix", *files)[2])

    def test_what_is_wrong_in_two_files_is_told_of_both(self):
        for name in "ab":
            self.write(f"{name}.job", "job a { priority 10; }\n")
        self.assertEqual(self.run_culexc("check", "a.job", "b.job", "a.job")[2].count("[out-of-range]"), 2)


class Whole(Case):
    """A name behind a dot is looked up in no package around."""

    def test_what_a_nearer_one_hides_can_be_named(self):
        self.write("plain.job", "struct money { int64 minor; }\nretry_policy calm { max 7; }\n")
        self.write("shop.job", 'package shop.mail;\nimport "plain.job";\nstruct money { bool local; }\n'
                               "retry_policy calm { max 1; }\njob a {\n    params { money near; .money far; "
                               "optional .shop.mail.money own; }\n    retry .calm;\n}\n")
        status, out, messages = self.run_culexc("ir", "shop.job")
        self.assertEqual((status, messages), (0, ""))
        job = next(job for file in json.loads(out)["files"] for job in file.get("jobs", []))
        self.assertEqual({field["name"]: field["ref"]["name"] for field in job["params"]},
                         {"near": "shop.mail.money", "far": "money", "own": "shop.mail.money"})
        self.assertEqual(job["retry"]["max"], 7)

    def test_lint_knows_it_is_used(self):
        self.write("plain.job", "struct money { int64 minor; }\njob own { queue \"q\"; }\njob b { queue \"q\"; }\n")
        self.write("shop.job", 'package shop;\nimport "plain.job";\njob a { params { .money m; } }\n')
        self.assertEqual(self.run_culexc("lint", "plain.job", "shop.job"), (0, "", ""))


class Switches(Case):
    def test_a_warning_is_switched_off_on_and_into_an_error(self):
        warning, error = [("unused-import", "warning")], [("unused-import", "error")]
        for options, status, found in [
                ([], 0, warning), (["-Wno-unused-import"], 0, []), (["-Werror"], 1, error),
                (["-Wno-unused-import", "-Wunused-import"], 0, warning),
                (["-Wunused-import", "-Wno-unused-import"], 0, []),
                (["-Werror=unused-import"], 1, error), (["-Werror=bad-allow"], 0, warning),
                (["-Werror", "-Wno-error=unused-import"], 0, warning),
                (["-Wno-error=unused-import", "-Werror"], 0, warning),
                (["-Werror", "-Wno-error"], 0, warning),
                (["-Wno-unused-import", "-Werror"], 0, []),
                (["-Wno-unused-import", "-Werror=unused-import"], 1, error)]:
            with self.subTest(options=options):
                self.assertEqual(self.check(UNUSED, *options), (status, found))

    def test_every_warning_can_be_switched(self):
        _, out, _ = self.run_culexc("explain", "--list")
        slugs = [line.split()[0] for line in out.splitlines() if not line.endswith("error")]
        switches = [f"-W{form}{slug}" for slug in slugs for form in ["", "no-", "error=", "no-error="]]
        self.assertGreater(len(slugs), 10)
        self.write("a.job", "job a;\n")
        self.assertEqual(self.run_culexc("check", *switches, "a.job"), (0, "", ""))

    def test_an_error_stays_one(self):
        for switch in ["-Wno-unknown-type", "-Wno-error=unknown-type"]:
            self.assert_usage(self.run_culexc("check", switch, "a.job"), "'unknown-type' is an error")
        self.assertEqual(self.check("job a { params { x y; } }", "-Wunknown-type")[0], 1)

    def test_an_unknown_switch_is_a_wrong_usage(self):
        for switch in ["-Wunused-imprt", "-Wno-unused-imprt", "-Werror=unused-imprt"]:
            done = self.run_culexc("check", switch, "a.job")
            self.assert_usage(done, "'unused-imprt'", "did you mean 'unused-import'?")
        self.assert_usage(self.run_culexc("check", "-W", "a.job"), "explain --list")

    def test_every_verb_that_takes_schemas_has_them(self):
        self.write("a.job", UNUSED)
        self.assertEqual(self.run_culexc("ir", "-Werror", "a.job")[:2], (1, ""))
        status, out, messages = self.run_culexc("ir", "-Wno-unused-import", "a.job")
        self.assertEqual((status, messages), (0, ""))
        self.assertEqual(json.loads(out)["files"][0]["file"], "a.job")

    def test_errors_end_at_the_most_that_is_asked_for(self):
        text = "".join(f"job a{at} {{ priority 10; }}\n" for at in range(30))
        self.assertEqual(len(self.check(text)[1]), 20)
        self.assertEqual(len(self.check(text, "--max-errors", "3")[1]), 3)
        self.assertEqual(len(self.check(text, "--max-errors=30")[1]), 30)
        self.assertIn("more than 3 errors", self.run_culexc("check", "--max-errors=3", "a.job")[2])
        self.assertNotIn("more than", self.run_culexc("check", "--max-errors=30", "a.job")[2])
        for wrong in ["0", "-1", "x", "3x", "1001", "99999999999999999999"]:
            self.assert_usage(self.run_culexc("check", f"--max-errors={wrong}", "a.job"), "1 to 1000")

    def test_more_warnings_than_are_kept_is_said(self):
        self.write("a.job", "".join(f"job a{at} {{ every 1m; timeout 5m; }}\n" for at in range(101)))
        status, _, messages = self.run_culexc("check", "--message-format=short", "a.job")
        self.assertEqual((status, messages.count("[periodic-overlap]")), (0, 100))
        self.assertIn("more than 100 warnings", messages)

    def test_a_warning_made_an_error_hides_no_other_warning(self):
        text = UNUSED + "job b { every 1m; timeout 5m; }\n"
        found = self.check(text, "-Werror=periodic-overlap")[1]
        self.assertIn(("unused-import", "warning"), found)


class Allow(Case):
    def test_allow_counts_behind_the_line_or_before_it(self):
        for text in ['import "types.job"; // culexc:allow(unused-import) later\njob a;\n',
                     '// culexc:allow(unused-import)\nimport "types.job";\njob a;\n',
                     '/* culexc:allow(unused-import) */ import "types.job";\njob a;\n',
                     '// culexc:allow( unused-import )\r\n\r\n// more\r\nimport "types.job";\njob a;\n',
                     '//culexc:allow(unused-import)\n/// A doc.\nimport "types.job";\njob a;\n']:
            with self.subTest(text=text):
                self.assertEqual(self.check(text, "-Werror"), (0, []))

    def test_allow_reaches_no_further_than_its_line(self):
        text = '// culexc:allow(unused-import)\njob a;\n'
        self.assertEqual(self.check(text)[1], [("unused-allow", "warning")])
        text = 'import "types.job";\n// culexc:allow(unused-import)\njob a;\n'
        self.assertEqual([one for one, _ in self.check(text)[1]], ["unused-import", "unused-allow"])

    def test_allow_counts_in_comments_only(self):
        text = 'job a { params { string s = "// culexc:allow(nonsense)"; } } /// culexc:allow(x)\n'
        self.assertEqual(self.check(text), (0, []))

    def test_of_a_warning_that_is_off_is_used(self):
        text = 'import "types.job"; // culexc:allow(unused-import)\njob a;\n'
        self.assertEqual(self.check(text, "-Wno-unused-import"), (0, []))

    def test_a_hostile_comment_costs_little(self):
        for item in ["a,", "unused-import,", "unused-imprt,"]:
            self.write("a.job", f"// culexc:allow({item * (1000000 // len(item))})\njob a;\n")
            status, _, messages = self.run_culexc("check", "--message-format=short", "a.job")
            self.assertEqual((status, messages.count("warning:")), (0, 100))
            self.assertIn("more than 100 warnings", messages)

    def test_behind_an_error_none_is_called_unused(self):
        self.assertEqual(self.check("// culexc:allow(unused-import)\njob a { priority 10; }")[1],
                         [("out-of-range", "error")])


class Fix(Case):
    def fix(self, text, *options):
        self.write("a.job", text)
        return self.run_culexc("check", "--fix", *options, "a.job")

    def fixes(self, text="", *options):
        """(what it says, new text, applicability) of each fix of a schema."""
        self.write("a.job", text)
        _, out, _ = self.run_culexc("check", "--message-format=json", *options, "a.job")
        return [(one["id"], fix["text"], fix["applicability"])
                for one in map(json.loads, out.splitlines()) for fix in one["fixes"]]

    def test_sure_ones_are_applied(self):
        for before, after in [
                ("job a { params { sting x; } }", "job a { params { string x; } }"),
                ("job a { priorty 3; }", "job a { priority 3; }"),
                ("job a { parms { string x; } }", "job a { params { string x; } }"),
                ("jobb a;", "job a;"),
                ("job a {\n    priority 3\n}\n", "job a {\n    priority 3;\n}\n"),
                (UNUSED, "job a;\n"),
                ('import "types.job"; // kept\njob a;\n', " // kept\njob a;\n"),
                ("job a { params { string s [[secret, nonempty, secret]]; } }",
                 "job a { params { string s [[secret, nonempty]]; } }"),
                ("job a { params { bool b = 0; } }", "job a { params { bool b = false; } }"),
                ("job a { params { bool b = 0; } }", "job a { params { bool b = false; } }"),
                ('job a { params { char c = "x"; } }', "job a { params { char c = 'x'; } }"),
                ("job a { params { string s = 'x'; } }", 'job a { params { string s = "x"; } }'),
                ("job a { params { int32 x; } unique by (x) for 1m while (actve); }",
                 "job a { params { int32 x; } unique by (x) for 1m while (active); }"),
                # Two of these overlap: one waits for the next round.
                ("job a [[retired, retired, retired]];", "job a [[retired]];"),
                ("job a { params { int32 x = 5u; float64 y = 0.5f; } }",
                 "job a { params { int32 x = 5; float64 y = 0.5; } }"),
                ("job a { params { double d; } }", "job a { params { float64 d; } }"),
                ("job\u00a0a { queue \u201cmail\u201d\uff1b }", 'job a { queue "mail"; }'),
                ("// culexc:allow(unused-imprt) long ago\n" + UNUSED,
                 "// culexc:allow(unused-import) long ago\n" + UNUSED)]:
            with self.subTest(before=before):
                status, _, messages = self.fix(before)
                self.assertEqual((status, self.text()), (0, after))
                self.assertRegex(messages, "(?m)^a.job:1?[0-9]:[0-9]+: fix: (change|insert|remove) '.*' ?.*\\[[a-z-]+\\]$")
                self.assertRegex(messages, "\nculexc: fixes applied: [1-4]; left: errors 0, warnings 0\n$")

    # What is offered, and not applied: names, attributes, words that are near two, whole parts.
    OFFERED = [
        ("job a [[retried]];", "retired"),
        ("job a [[retierd]];", "retired"),
        ("job a { return { int32 x; } }", "returns"),
        ("struct pointer { int32 x; } job a { params { pointr p; } }", "pointer"),
        ("struct strings { int32 x; } job a { params { strng p; } }", "string"),
        ("struct doubled { int32 x; } job a { params { double p; } }", "float64"),
        ("job a { params { int32 x = 0f; } }", "0"),  # 0xf
        ("job a { timeout 1h, 2h; }", ";"),
        ("job a { params { int x; } }", "int32"),  # int8, int16, int32 ...
        ("job a { params { float x; } }", "float32"),  # 64 bits in other languages
        ("job a { params { sting string; } }", "string"),  # swapped?
        ("jobs job { queue \"x\"; }", "job"),
        ("enum e : unit8 { A } job a { params { e x = A; } }", "uint8"),
        ("enum e { RED, BLUE } job a { params { e x = BLU; } }", "BLUE"),
        ("enum e { RED, REX } job a { params { e x = REY; } }", "RED"),
        ("retry_policy far { max 1; } job a { retry farr; }", "far"),
        ("job a { retry non; }", "none"),
        ("job a { params { int32 user; } unique by (usr); }", "user"),
        ('import "types.job";\nimport "types.job";\njob a { params { point p; } }', ""),
        ("job a { params { optional  int32 x[]; } }", ""),
        ('job a { tags "x1", "x2", "x1"; }', ""),
        ("job a { params { int32 x; } unique by (x, x); }", ""),
        ("job a { params { string s [[x_a, x_a]]; } }", ""),
        ('job a { cron "@daily" tz "Rome"; }', "Europe/Rome"),
        ("// culexc:allow(unused-import) long ago\njob a;\n", ""),
    ]

    def test_what_is_not_sure_is_offered(self):
        for text, new in self.OFFERED:
            with self.subTest(text=text):
                offers = self.fixes(text)
                self.assertEqual([(at[1], at[2]) for at in offers[:1]], [(new, "maybe-incorrect")])
                _, _, messages = self.fix(text)
                self.assertEqual(self.text(), text)
                self.assertIn("fixes applied: 0;", messages)

    def test_where_a_name_may_be_missing_nothing_is_sure(self):
        broken = "job b { params { ] } }\njob a { params { sting x; } }\n"
        self.assertIn(("unknown-type", "string", "maybe-incorrect"), self.fixes(broken))
        self.fix('import "none.job";\n' + broken.splitlines()[1])
        self.assertIn("sting", self.text())

    def test_what_is_not_plain_is_left(self):
        for text in ["job a { params { bool b = 2; } }",
                     'job a { params { char c = "\'"; } }',
                     "job a { params { string s [[secret, /* so */ secret]]; } }",
                     "job a { params { optional int32 x = 1; } }"]:
            with self.subTest(text=text):
                status, _, messages = self.fix(text)
                self.assertEqual((status, self.text()), (1, text))
                self.assertIn("fixes applied: 0; left: errors 1, warnings 0", messages)

    def test_a_fix_that_leads_nowhere_is_taken_back(self):
        # A type at the place of a setting's word uncovers three errors more.
        text = "job a {\n  param { int x; long y; byte z; }\n}\n"
        status, _, messages = self.fix(text)
        self.assertEqual((status, self.text()), (1, text))
        self.assertIn("culexc: a.job: fixes left out: 1; with them there would be no fewer errors\n", messages)

    def test_a_semicolon_is_sure_where_an_item_follows(self):
        for text in ["  unique by (x)\n    whle (active);", "  rate 5 per 1m\n    brst 3;",
                     "  retry {\n    backoff exponential 1s\n      cp 1h;\n  }"]:
            with self.subTest(text=text):
                text = f"job a {{\n  params {{ int32 x; }}\n{text}\n}}\n"
                self.assertIn(("syntax", ";", "maybe-incorrect"), self.fixes(text))
                self.fix(text)
                self.assertEqual(self.text(), text)

    def test_a_fix_with_placeholders_says_so(self):
        self.write("a.job", "package p;\njob a { params { optional int32 x [[deprecated]]; } }\n")
        _, out, _ = self.run_culexc("lint", "--message-format=json", "a.job")
        fixes = [fix for one in map(json.loads, out.splitlines()) if one["id"] == "deprecated-silent"
                 for fix in one["fixes"]]
        self.assertEqual([(fix["text"], fix["applicability"]) for fix in fixes],
                         [('("use ...")', "has-placeholders")])

    def test_a_warning_waits_until_no_error_is_left(self):
        text = 'import "types.job";\njob a { params { pont p; } }\n'
        self.fix(text)
        self.assertEqual(self.text(), text)

    def test_more_errors_than_are_shown(self):
        self.fix("".join(f"job a{at} {{ priorty 3; }}\n" for at in range(70)))
        self.assertEqual(self.text().count("priority"), 70)

    def test_what_was_done_is_said(self):
        _, _, messages = self.fix("job a {\n    priorty 3\n    params { bool x; }\n}\n")
        self.assertEqual(messages.splitlines()[:2],
                         ["a.job:2:5: fix: change 'priorty' to 'priority' [unknown-setting]",
                          "a.job:2:15: fix: insert ';' [syntax]"])

    def test_a_dry_run_shows_and_writes_nothing(self):
        text = "job a {\n    priorty 3;\n}\n"
        self.write("b.job", text)
        status, out, messages = self.run_culexc("check", "--fix", "--dry-run", "b.job", "b.job")
        self.assertEqual((status, self.text("b.job")), (0, text))
        self.assertEqual(out, "--- b.job\n+++ b.job\n@@ -1,3 +1,3 @@\n job a {\n-    priorty 3;\n+    priority 3;\n }\n")
        self.assertIn("b.job:2:5: fix: change 'priorty' to 'priority'", messages)
        self.assertIn("culexc: fixes not written: 1; left: errors 0, warnings 0\n", messages)
        patched = subprocess.run(["patch", "-p0"], cwd=self.work, input=out.encode(), capture_output=True, check=False)
        self.assertEqual((patched.returncode, self.text("b.job")), (0, text.replace("priorty", "priority")))

    def test_a_dry_run_checks_what_would_be_written(self):
        self.write("types.job", "struct point { sting x; }\n")
        self.write("a.job", 'import "types.job"; job a { params { point p; sting q; } return { int32 x; } }')
        status, out, messages = self.run_culexc("check", "--fix", "--dry-run", "--message-format=json",
                                                "types.job", "a.job")
        self.assertEqual(status, 1)
        self.assertTrue(out.startswith("--- types.job\n"), out)
        left = [json.loads(line)["id"] for line in messages.splitlines() if line.startswith("{")]
        self.assertEqual(left, ["unknown-type", "unknown-setting"])
        self.assertIn("sting", self.text("types.job"))
        self.assert_usage(self.run_culexc("check", "--dry-run", "a.job"), "--dry-run is for --fix")

    def test_one_fix_may_uncover_another(self):
        status, _, messages = self.fix("job a {\n    priorty 3\n    timeot 5s;\n}\n")
        self.assertEqual((status, self.text()), (0, "job a {\n    priority 3;\n    timeout 5s;\n}\n"))
        self.assertIn("fixes applied: 3", messages)

    def test_a_byte_order_mark_and_line_ends_stay(self):
        self.fix("\ufeffjob a {\r\n    priorty 3;\r\n}\r\n")
        self.assertEqual((self.work / "a.job").read_bytes(),
                         b"\xef\xbb\xbfjob a {\r\n    priority 3;\r\n}\r\n")

    def test_nothing_to_fix_touches_nothing(self):
        self.write("a.job", "job a;\n")
        before = (self.work / "a.job").stat()
        self.assertEqual(self.run_culexc("check", "--fix", "a.job")[0], 0)
        after = (self.work / "a.job").stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))

    def test_an_import_is_fixed_only_when_it_is_named(self):
        self.write("types.job", "struct point { sting x; }\n")
        status, _, messages = self.fix('import "types.job"; job a { params { point p; priorty q; } }')
        self.assertEqual(status, 1)
        self.assertIn("sting", self.text("types.job"))
        self.assertIn("unknown-type", messages)
        self.assertEqual(self.run_culexc("check", "--fix", "a.job", "types.job")[0], 1)
        self.assertEqual(self.text("types.job"), "struct point { string x; }\n")

    def test_a_link_stays_and_its_target_keeps_its_mode(self):
        self.write("real/b.job", "jobb a;\n")
        (self.work / "real" / "b.job").chmod(0o640)
        (self.work / "a.job").symlink_to("real/b.job")
        self.assertEqual(self.run_culexc("check", "--fix", "a.job")[0], 0)
        self.assertTrue((self.work / "a.job").is_symlink())
        self.assertEqual(self.text("real/b.job"), "job a;\n")
        self.assertEqual((self.work / "real" / "b.job").stat().st_mode & 0o7777, 0o640)

    def test_a_file_that_may_not_be_written_is_said(self):
        self.write("a.job", "jobb a;\n")
        (self.work / "a.job").chmod(0o444)
        self.work.chmod(0o777)
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        status, _, messages = self.run_culexc("check", "--fix", "a.job", **who)
        self.assertEqual(status, 3, messages)
        self.assertIn("culexc: cannot write 'a.job': Permission denied\n", messages)
        self.assertEqual(self.text(), "jobb a;\n")
        self.assertEqual(sorted(path.name for path in self.work.iterdir()), ["a.job", "types.job"])

    def test_a_file_that_cannot_be_read_is_said_once(self):
        self.write("a.job", "jobb a;\n")
        status, _, messages = self.run_culexc("check", "--fix", "none.job", "a.job")
        self.assertEqual((status, self.text()), (3, "job a;\n"))
        self.assertEqual(messages.count("cannot read 'none.job'"), 1, messages)

    def test_fixes_are_in_the_formats_for_programs(self):
        self.write("a.job", "\ufeffjobb é;\n")
        _, out, _ = self.run_culexc("check", "--message-format=json", "a.job")
        fix = json.loads(out.splitlines()[0])["fixes"][0]
        self.assertEqual((fix["offset"], fix["length"], fix["column"], fix["text"]), (3, 4, 1, "job"))
        self.assertEqual((self.work / "a.job").read_bytes()[3:7], b"jobb")


class Clean(Case):
    def test_no_false_alarm_about_our_own_schemas(self):
        files = [*ROOT.glob("schemas/feature/*.job"), *ROOT.glob("examples/*/*.job")]
        self.assertGreater(len(files), 8)
        for file in files:
            self.assertEqual(self.run_culexc("check", "-Werror", str(file)), (0, "", ""))


class Zones(Case):
    TEXT = 'job a { cron "@daily" tz "Europe/Roma"; }'

    def test_no_database_is_warned_of(self):
        self.write("a.job", self.TEXT)
        status, _, messages = self.run_culexc("check", "a.job", env={"TZDIR": str(self.work / "none")})
        self.assertEqual(status, 0)
        self.assertIn("warning: zone 'Europe/Roma' is not looked up: this machine has no tz database "
                      "[no-tz-database]", messages)

    def test_zone_is_looked_up_in_the_machines_own_database(self):
        known = self.TEXT.replace("Roma", "Rome")
        has_database = pathlib.Path("/usr/share/zoneinfo/Europe/Rome").exists()
        for text, is_said in [(self.TEXT, has_database), (known, False)]:
            self.write("a.job", text)
            status, _, messages = self.run_culexc("check", "a.job", env={"TZDIR": ""})
            self.assertEqual(status, 1 if is_said else 0)
            self.assertEqual("did you mean 'Europe/Rome'" in messages, is_said, messages)

    def test_many_unknown_zones_cost_little(self):
        self.write("a.job", "".join(f'job a{at} {{ cron "@daily" tz "Z{at}"; }}\n' for at in range(20000)))
        status, _, messages = self.run_culexc("check", "--message-format=short", "a.job", env={"TZDIR": ""})
        self.assertIn((status, messages.count("[unknown-time-zone]")), [(0, 0), (1, 20)])

    def test_a_database_may_be_hostile(self):
        rome = self.zones / "Europe" / "Rome"
        for content in [b"", b"TZif", b"TZif\n", b"TZif2\n\n", b"TZif2\nCET-1CEST,M3\n", b"TZif2\n<\n",
                        b"TZif2\nA99999999999B,M3.5.0/99999999999,M99.1.1\n", b"TZif2\n" + b"A" * 500 + b"\n",
                        b"TZif2\nA1B,M0.0.0,M13.0.0\n", b"TZif2\nA1<B,M3.5.0,M10.5.0/3\n", b"x" * 100000]:
            rome.write_bytes(content)
            status, found = self.check('job a { cron "30 2 * * *" tz "Europe/Rome"; }', "-Wcron-dst")
            is_zone = content.startswith(b"TZif")
            self.assertEqual((status, [one for one, _ in found]),
                             (1, ["bad-time-zone"] if is_zone else ["unknown-time-zone"]), content)

    def test_a_zone_that_no_worker_can_read_is_refused(self):
        leap = zones.content("UTC0", leap_seconds=1)
        (self.zones / "right").mkdir()
        (self.zones / "right" / "UTC").write_bytes(leap)
        self.write("a.job", 'job a { cron "@daily" tz "right/UTC"; }')
        status, _, messages = self.run_culexc("check", "a.job")
        self.assertEqual(status, 1)
        self.assertIn("no job can go by the time zone 'right/UTC': it counts leap seconds [bad-time-zone]", messages)


class Junit(Case):
    def junit(self, *words):
        """Status and the root of the document, which stands on standard output alone."""
        status, out, said = self.run_culexc(*words, "--message-format=junit")
        return status, xml.etree.ElementTree.fromstring(out), said

    def counts(self, root):
        return [root.get(name) for name in ("tests", "failures", "errors")]

    def test_file_without_a_word_about_it_is_a_test_that_passed(self):
        status, root, _ = self.junit("check", "types.job")
        self.assertEqual((status, self.counts(root)), (0, ["1", "0", "0"]))
        self.assertEqual(root.find("testsuite").get("name"), "types.job")

    def test_failures_are_what_the_status_tells(self):
        self.write("a.job", UNUSED)
        status, root, _ = self.junit("check", "a.job", "types.job")
        self.assertEqual((status, self.counts(root)), (0, ["2", "0", "0"]))
        self.assertIn("[unused-import]", root.find(".//system-out").text)
        status, root, _ = self.junit("check", "-Werror", "a.job", "types.job")
        self.assertEqual((status, self.counts(root)), (1, ["2", "1", "0"]))
        self.assertEqual(root.find(".//failure").get("type"), "error")
        status, root, _ = self.junit("lint", "--tier", "strict", "types.job")
        self.assertEqual((status, root.get("failures")), (1, root.get("tests")))

    def test_file_that_cannot_be_read_is_an_error(self):
        status, root, said = self.junit("check", "nowhere.job", "types.job")
        self.assertEqual((status, self.counts(root)), (3, ["2", "0", "1"]))
        self.assertEqual(root.find(".//error/..").get("classname"), "nowhere.job")
        self.assertIn("nowhere.job", said)

    def test_hostile_text_stays_text(self):
        self.write("a&b<'\".job", 'job \x07<b>&"\u202e"; // ]]>\n')
        status, root, _ = self.junit("check", "a&b<'\".job")
        self.assertEqual(status, 1)
        names = {one.get("classname") for one in root.iter("testcase")}
        self.assertEqual(names, {"a&b<'\".job"})

    def test_standard_output_of_another_use_stays_clean(self):
        status, out, said = self.run_culexc("ir", "types.job", "--message-format=junit")
        self.assertEqual(status, 0)
        self.assertIn("types.job", json.dumps(json.loads(out)))
        self.assertEqual(xml.etree.ElementTree.fromstring(said).tag, "testsuites")


class Formats(Case):
    def test_for_people_on_stderr_and_for_programs_on_stdout(self):
        self.write("a.job", "jobb a;\n")
        for form in ["human", "short"]:
            status, out, messages = self.run_culexc("check", f"--message-format={form}", "a.job")
            self.assertEqual((status, out), (1, ""))
            self.assertIn("a.job:1:1: error: ", messages)
        for form in ["json", "sarif", "github", "junit"]:
            status, out, messages = self.run_culexc("check", f"--message-format={form}", "a.job")
            self.assertEqual((status, messages), (1, ""))
            self.assertIn("unknown-declaration", out)
            status, out, messages = self.run_culexc("ir", f"--message-format={form}", "a.job")
            self.assertEqual((status, out), (1, ""))
            self.assertIn("unknown-declaration", messages)
        self.assert_usage(self.run_culexc("check", "--message-format=xml", "a.job"), "'xml'")

    def test_sarif_is_one_document_also_when_clean_or_unreadable(self):
        self.write("a.job", "job a;\n")
        self.write("b c.job", "jobb a;\n")
        self.write("d.job", "jobb a;\n")
        for files, status, results, is_complete in [
                (["a.job"], 0, 0, True), (["a.job", "types.job"], 0, 0, True),
                (["b c.job", "a.job", "d.job", "b c.job"], 1, 3, True), (["none.job", "a.job"], 3, 0, False)]:
            done = self.run_culexc("check", "--message-format=sarif", *files)
            document = json.loads(done[1])
            run = document["runs"][0]
            self.assertEqual((done[0], document["version"], len(run["results"])),
                             (status, "2.1.0", results))
            self.assertEqual(run["invocations"], [{"executionSuccessful": is_complete}])
        self.assertEqual(self.run_culexc("check", "--message-format=sarif")[1], "")

    def test_sarif_paths_are_uris(self):
        self.write("é %:.job", "job a;\n")
        for path, uri in [("é %:.job", "%C3%A9%20%25%3A.job"),
                          (f"{self.work}/é %:.job", f"file://{self.work}/%C3%A9%20%25%3A.job")]:
            _, out, _ = self.run_culexc("check", "--message-format=sarif", path)
            place = json.loads(out)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
            self.assertEqual(place["artifactLocation"]["uri"], uri)

    def test_github_escapes_what_would_end_a_command(self):
        self.write("a,b:%\n.job", "job a;\n")
        _, out, _ = self.run_culexc("check", "--message-format=github", "a,b:%\n.job")
        self.assertEqual(out.count("\n"), 1)
        self.assertTrue(out.startswith("::error file=a%2Cb%3A%25%0A.job,line=1,col=1,title=bad-file-name"
                                       "::'a,b:%25%0A.job' is not a good name"), out)

    def test_hostile_text_reaches_no_format_raw(self):
        self.write("a.job", 'import "\x1b[31m\u202e.job"; job a;\n')
        for form in ["human", "short", "json", "sarif", "github", "junit"]:
            _, out, messages = self.run_culexc("check", "--color=never", f"--message-format={form}", "a.job")
            self.assertIn("import-not-found", out + messages)
            self.assertNotRegex(out + messages, "[\x1b\u202e]")

    def test_colour_is_off_in_a_pipe_unless_asked_for(self):
        self.write("a.job", "jobb a;\n")
        for options, env, is_coloured in [([], {}, False), (["--color=always"], {}, True),
                                          (["--color=always"], {"NO_COLOR": "1"}, True),
                                          (["--color", "never"], {}, False)]:
            _, _, messages = self.run_culexc("check", *options, "a.job", env=env)
            self.assertEqual("\x1b[" in messages, is_coloured, options)
        self.assert_usage(self.run_culexc("check", "--color=blue", "a.job"), "'blue'")

    def test_colour_on_a_terminal_unless_no_color(self):
        self.write("a.job", "jobb a;\n")
        for env, is_coloured in [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)]:
            master, slave = os.openpty()
            base = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
            subprocess.run([CULEXC, "check", "a.job"], cwd=self.work, env={**base, **env},
                           stderr=slave, timeout=60, check=False)
            os.close(slave)
            shown = os.read(master, 65536)
            os.close(master)
            self.assertEqual(b"\x1b[" in shown, is_coloured, env)

    def test_a_caret_is_as_wide_as_what_it_marks(self):
        self.write("a.job", 'job a { params { string s = "日本e\u0301\U0001F600"; sting t; } }\n')
        _, _, messages = self.run_culexc("check", "a.job")
        line, caret = messages.splitlines()[1:3]
        column = line.index("sting")
        cells = column + 3 - 1  # Three characters take two cells each, one takes none.
        self.assertEqual(caret.index("^"), cells)
        self.assertIn("a.job:1:38: ", messages)

    def test_every_place_ends_behind_where_it_starts(self):
        self.write("a.job", "job a {\n    priority 3\n}\nimport \"x.job\";\njob b { queue \"é\"; }\n")
        _, out, _ = self.run_culexc("check", "--message-format=json", "a.job")
        found = [json.loads(line) for line in out.splitlines()]
        self.assertGreater(len(found), 2)
        for one in found:
            self.assertLessEqual((one["line"], one["column"]), (one["end_line"], one["end_column"]))


if __name__ == "__main__":
    unittest.main()
