"""What the renderer promises besides the text in golden/."""

from __future__ import annotations

import ast
import copy
import json
import os
import random
import re
import sys
import unittest
from typing import Any, Dict, Iterator, List, Set, Tuple

import jinja2

import rendering
from ctokens import skeleton, tokens
from rendering import RENDERER, ROOT, document, encoded, files_of, run
from samples import BANNED_TEXT, CASES, ESSAY, KINDS, enum, enum_ref, essay, field, hello, job, kinds, schema, struct, value

import emit
import literals
import model

# Keys that other readers of the IR use.
UNREAD = {"stem", "package", "was", "attrs"}
DANGEROUS = "\\/*?\"'\n\r\t\0#%{}<>=!()-a \u202e\u2028\u00e9\U0001f600"


class Protocol(unittest.TestCase):
    def test_answer_has_two_files_of_each_that_is_named(self) -> None:
        files = [hello(), {**kinds(), "named": False}, schema("other")]
        answer = json.loads(run(encoded(*files)).stdout)
        self.assertEqual([file["name"] for file in answer["files"]],
                         ["hello_job.h", "hello_job.c", "other_job.h", "other_job.c"])

    def test_files_do_not_depend_on_their_company(self) -> None:
        alone = [json.loads(run(encoded(case())).stdout)["files"] for case in CASES.values()]
        together = json.loads(run(encoded(*[case() for case in CASES.values()])).stdout)["files"]
        self.assertEqual([file for files in alone for file in files], together)

    def test_output_does_not_depend_on_the_run(self) -> None:
        data = encoded(*[case() for case in KINDS])
        outputs = {run(data).stdout}
        for seed in ("0", "1", "4242"):
            env = {**os.environ, "PYTHONHASHSEED": seed}
            outputs.add(run(data, python=[sys.executable, "-s"], env=env).stdout)
        outputs.add(run(data, env={"LC_ALL": "C", "PATH": os.environ["PATH"], "TZ": "Asia/Tokyo"}).stdout)
        self.assertEqual(len(outputs), 1)

    def test_bad_input_is_one_line_and_exit_1(self) -> None:
        versions = [encoded(hello(), version=version) for version in (2, 0, True, 1.0, "1", None)]
        lacking = hello()
        del lacking["jobs"][0]["queue"]
        inputs = [b"", b"{", b"[]", b"\xff", b"[" * 100000, b'{"ir": 1}', b'{"ir": true}', b"7" * 5000,
                  encoded(lacking), *versions]
        for data in inputs:
            with self.subTest(data=data[:40]):
                result = run(data)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, b"")
                self.assertEqual(result.stderr.count(b"\n"), 1)
                self.assertTrue(result.stderr.startswith(b"render: "), result.stderr)
                self.assertNotIn(b"Traceback", result.stderr)
                self.assertNotIn(b"internal error", result.stderr)

    def test_message_says_where(self) -> None:
        lacking = hello()
        del lacking["jobs"][0]["params"][1]["kind"]
        self.assertIn(b"files[1].jobs[0].params[1].kind: missing", run(encoded(hello(), lacking)).stderr)
        self.assertIn(b"ir: this renderer reads version 1 only", run(encoded(version=2)).stderr)


class Refusal(unittest.TestCase):
    """Whatever the IR looks like: files or IRError, never another exception."""

    def places(self, node: Any) -> Iterator[Tuple[Any, Any]]:
        """Every (container, key) in a JSON value."""
        items = list(node.items()) if isinstance(node, dict) else list(enumerate(node))
        for key, child in items:
            yield node, key
            if isinstance(child, (dict, list)):
                yield from self.places(child)

    def full_ir(self) -> Dict[str, Any]:
        """Small, with at least one of everything."""
        fields = [field("a", "int8", default={"int": "1"}, min={"int": "0"}), field("b", optional=True),
                  field("c", "enum", ref=enum_ref("e"), shape="list"),
                  field("g", "enum", ref=enum_ref("e"), default={"enum": "E_A", "c": "E_A"}),
                  field("d", "bytes", default={"bytes": "00"}),
                  field("f", "float32", default={"float": "0.1"})]
        return schema("full", imports=[{"file": "x.job", "header": "x_job.h"}],
                      enums=[enum("e", "uint8", [value("E_A", 1)])],
                      structs=[struct("s", [field("x")])],
                      jobs=[job("j", fields, result=[field("r")], tags=["t"],
                                every={"interval_ns": "1", "jitter_ns": "0", "overlap": "skip"})])

    def test_every_missing_key_is_named(self) -> None:
        ir = self.full_ir()
        for node, key in list(self.places(ir)):
            if not isinstance(node, dict) or key in UNREAD:
                continue
            kept = node.pop(key)
            with self.subTest(key=key):
                self.assertRaisesRegex(model.IRError, rf"\.{key}\b", files_of, ir)
            node[key] = kept
        self.assertTrue(files_of(ir))

    def test_every_unknown_key_is_named_with_its_place(self) -> None:
        ir = self.full_ir()
        objects = [node[key] for node, key in self.places([ir]) if key not in UNREAD]
        for node in filter(lambda value: isinstance(value, dict), objects):
            node["no_key"] = 1
            with self.subTest(keys=list(node)):
                self.assertRaisesRegex(model.IRError, r"^files\[0\]\S*\.no_key: .* not know", files_of, ir)
            del node["no_key"]
        self.assertTrue(files_of(ir))
        self.assertIn(b"render: no_key: this renderer does not know it",
                      run(json.dumps({**document([ir]), "no_key": 1}).encode("ascii")).stderr)

    def test_files_that_are_only_imported_are_not_read(self) -> None:
        other = {"named": False, "of another form": 1}
        self.assertTrue(model.read_named(document([hello(), other])))

    def test_wrong_values_never_crash_it(self) -> None:
        wrong = [None, True, -1, 1 << 70, 0.5, "", "x y", "*/", "\ud800", "\0", "99999", "1e999", "NaN", "00",
                 [], {}, [None], [[]], {"int": "1"}]
        ir = self.full_ir()
        refused = 0
        for node, key in list(self.places(ir)):
            kept = node[key]
            for bad in wrong:
                node[key] = bad
                try:
                    files_of(ir)
                except model.IRError:
                    refused += 1
            node[key] = kept
        self.assertGreater(refused, 500)

    def test_names_that_are_not_c_are_refused(self) -> None:
        ir = self.full_ir()
        for node, key in list(self.places(ir)):
            if key not in ("c", "has_c", "len_c", "set_c", "type_symbol", "make", "guard", "header", "source"):
                continue
            kept = node[key]
            for bad in ("a b", "a\n", "-a", "a;b", "\u00e9", "../a", "/a", "a\"", ""):
                if isinstance(kept, str):
                    node[key] = bad
                    with self.subTest(key=key, bad=bad):
                        self.assertRaises(model.IRError, files_of, ir)
            node[key] = kept

    def test_contradictions_are_refused(self) -> None:
        bad_fields = [
            field("a", "struct"), field("a", "int8", ref=enum_ref("e")),
            field("a", optional=True, has_c=None), field("a", shape="list", len_c=None),
            field("a", optional=True, set_c=None), field("a", set_c="x"),
            field("a", shape="array"), field("a", count=3), field("a", optional=True, required=True),
            field("a", default={"string": "x"}, required=True), field("a", "int8", max={"int": "128"}),
            field("a", "float64", max={"float": "1"}), field("a", "int8", default={"int": "200"}),
            field("a", "float32", default={"float": "1e39"}), field("a", default={"string": "a\0b"}),
            field("a", "uuid", default={"uuid": "no"}), field("a", "bytes", default={"bytes": "0"}),
        ]
        for bad in bad_fields:
            with self.subTest(bad=bad):
                self.assertRaises(model.IRError, files_of, schema("x", jobs=[job("j", [bad])]))
        for setting in ("cron", "unique"):
            ir = schema("x", jobs=[job("j", **{setting: {}})])
            self.assertRaisesRegex(model.IRError, setting, files_of, ir)

    def test_keys_that_mean_nothing_are_refused(self) -> None:
        unique = {"by": [], "all": False, "for_ns": None, "while": ["active"], "on_conflict": "keep", "delay_ns": "0"}
        limit = {"kind": "concurrency", "name": "j:concurrency", "count": "1", "per_ns": None, "burst": None, "by": []}
        rate = {**limit, "kind": "rate", "per_ns": "1", "burst": "1"}
        files_of(schema("x", jobs=[job("j", unique=unique, limits=[limit, rate])]))
        for key, bad in [("unique", {**unique, "while": ["done"]}), ("unique", {**unique, "while": []}),
                         ("unique", {**unique, "by": ["x"]}), ("unique", {**unique, "on_conflict": "drop"}),
                         ("limits", [{**limit, "count": None}]), ("limits", [{**limit, "count": "0"}]),
                         ("limits", [{**limit, "burst": "1"}]), ("limits", [{**rate, "per_ns": None}]),
                         ("limits", [{**limit, "kind": "fair"}]), ("limits", [{**limit, "by": ["x"]}])]:
            with self.subTest(bad=bad):
                self.assertRaisesRegex(model.IRError, key, files_of, schema("x", jobs=[job("j", **{key: bad})]))

    def test_struct_that_holds_itself_is_refused(self) -> None:
        ref = {"name": "s", "c": "s", "type_symbol": "s_type", "base": None}
        ir = schema("x", structs=[struct("s", [field("s", "struct", ref=ref)])])
        self.assertRaisesRegex(model.IRError, "by value", files_of, ir)


class Hostile(unittest.TestCase):
    """Schema text never becomes code: with other text the code around it stays the same."""

    def ir_with(self, text: str) -> Dict[str, Any]:
        safe = text.replace("\0", "") or "x"
        return schema("h", file=safe, enums=[
            enum("e", "uint8", [value("E_A", 1, name=text, doc=text, deprecated=text)], doc=text, name=text)
        ], structs=[struct("s", [field("x", doc=text, deprecated=text, wire=text)], doc=text)],
            jobs=[job("j", [field("p", doc=text, default={"string": safe})], doc=text, tags=[text],
                      qualified=text, wire=text, queue=text, deprecated=text)])

    def skeletons(self, text: str) -> List[List[str]]:
        return [skeleton(content) for content in files_of(self.ir_with(text)).values()]

    def test_known_tricks_stay_inside_their_comment_or_literal(self) -> None:
        plain = self.skeletons("plain text")
        for text in (*BANNED_TEXT, "\n".join(BANNED_TEXT), "*", "/", "\\", "?", "\n", "\\\n", "*\n/"):
            with self.subTest(text=text):
                self.assertEqual(self.skeletons(text), plain)

    def test_random_text_stays_inside_its_comment_or_literal(self) -> None:
        plain = self.skeletons("plain text")
        dice = random.Random(20)
        for _ in range(300):
            text = "x" + "".join(dice.choice(DANGEROUS) for _ in range(dice.randrange(1, 30)))
            self.assertEqual(self.skeletons(text), plain, repr(text))

    def test_the_check_itself_sees_an_escape(self) -> None:
        """The property above would be worthless if the tokeniser could not tell."""
        for before, after in (("/* a */", "/* a */ */"), ('"a"', '"a" "b"'), ("/* a */ x", "/* a ??/\n*/ y"),
                              ('"a" x', '"??/" x"')):
            try:
                self.assertNotEqual(skeleton(before), skeleton(after))
            except ValueError:
                pass

    def test_list_of_invisible_characters_is_the_one_in_c(self) -> None:
        with open(os.path.join(ROOT, "runtime", "base", "utf8.c"), encoding="utf-8") as file:
            [rows] = re.findall(r"} ranges\[\] = {(.*?)};", file.read(), re.S)
        ranges = [(int(first, 16), int(last, 16)) for first, last in re.findall(r"{(\w+), (\w+)}", rows)]
        self.assertEqual(list(literals.INVISIBLE), ranges)

    def test_no_invisible_or_reordering_character_survives(self) -> None:
        text = "a" + "".join(map(chr, [*range(1, 32), 0x7F, 0x85, 0x202E, 0x2066, 0x200B, 0xFEFF])) + "z"
        for content in files_of(self.ir_with(text)).values():
            self.assertNotRegex(content, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u202e\u2066-\u2069\ufeff]")

    def test_code_outside_comments_is_ascii(self) -> None:
        for content in files_of(self.ir_with("\u4f60 \u00e9")).values():
            for kind, token in tokens(content):
                self.assertTrue(kind == "comment" or token.isascii(), token)

    def test_template_refuses_to_print_plain_text(self) -> None:
        template = emit.make_environment().from_string("{{ x }}")
        self.assertEqual(template.render(x=literals.CText("ok")), "ok")
        self.assertRaises(TypeError, template.render, x="text from a schema")
        self.assertRaises(jinja2.UndefinedError, template.render)
        template = emit.make_environment().from_string("{% if x %}{% endif %}")
        self.assertRaises(jinja2.UndefinedError, template.render)


class LongText(unittest.TestCase):
    """A text beyond what every compiler takes as one literal."""

    ROW = re.compile(r"static const char \w+_data\[\] = \{\n((?:    '.+',?\n)*    '.+')\};")

    def test_array_of_characters_ends_with_a_zero(self) -> None:
        self.assertEqual(literals.c_char_array("a'\u00e9"), "{'a', '\\047', '\\303', '\\251', '\\000'}")

    def test_longest_literal_has_4000_characters(self) -> None:
        self.assertFalse(literals.is_long_string("x" * 3998))
        self.assertTrue(literals.is_long_string("x" * 3999))
        self.assertFalse(literals.is_long_string("\u00e9" * 499 + "123456"))
        self.assertTrue(literals.is_long_string("\u00e9" * 499 + "1234567"))

    def test_message__longer_than_a_compiler_must_take__is_cut(self) -> None:
        self.assertEqual(literals.c_message("x" * 4000), '"' + "x" * 4000 + '"')
        self.assertEqual(literals.c_message("x" * 5026), '"' + "x" * 4000 + ' ..."')

    def test_each_array_of_a_file_is_the_text_whole(self) -> None:
        for name, content in files_of(essay()).items():
            arrays = self.ROW.findall(content)
            self.assertEqual(len(arrays), 2, f"struct and job in {name}")
            for rows in arrays:
                letters = [ast.literal_eval("b" + letter) for letter in re.findall(r"'\\?\w+'|' '", rows)]
                self.assertEqual(b"".join(letters), ESSAY.encode() + b"\0", name)


class Literals(unittest.TestCase):
    def test_string_escapes_all_but_plain_characters(self) -> None:
        self.assertEqual(literals.c_string("a.B_9,:/- "), '"a.B_9,:/- "')
        self.assertEqual(literals.c_string('\\"?%\n7'), '"\\134\\042\\077\\045\\0127"')
        self.assertEqual(literals.c_string("\u00e9"), '"\\303\\251"')

    def test_integer_fits_its_type_without_a_warning(self) -> None:
        self.assertEqual(literals.c_int64(-(1 << 63)), "(-INT64_C(9223372036854775807) - 1)")
        self.assertEqual(literals.c_int64(-(1 << 31)), "(-2147483647 - 1)")
        self.assertEqual(literals.c_int64(1 << 31), "INT64_C(2147483648)")
        self.assertEqual(literals.c_int(4294967295, 32, False), "UINT32_C(4294967295)")
        self.assertEqual(literals.c_bits64(-1), "UINT64_C(0xffffffffffffffff)")
        self.assertEqual(literals.c_int64_bits((1 << 64) - 1), "-1")
        self.assertEqual(literals.c_int64_bits(1 << 63), literals.c_int64(-(1 << 63)))
        self.assertEqual(literals.c_int128(-1, True), "{UINT64_C(18446744073709551615), -1}")
        self.assertEqual(literals.c_int128(1 << 64, False), "{0, 1}")

    def test_float_has_the_digits_of_its_type_or_is_refused(self) -> None:
        self.assertEqual(literals.c_float32("0.17"), "0.17f")
        self.assertEqual(literals.c_float32("3.4028235e38"), "3.4028235e+38f")
        self.assertEqual(literals.c_float64("1"), "1.0")
        self.assertEqual(literals.c_float64("-0"), "-0.0")
        self.assertRaises(ValueError, literals.c_float32, "3.5e38")
        self.assertRaises(ValueError, literals.c_float32, "1e999")
        self.assertRaises(ValueError, literals.c_float64, "1e999")

    def test_float32_is_rounded_once(self) -> None:
        """By way of a double this one, a hair below the middle, would be rounded up."""
        self.assertEqual(literals.c_float32("1.00000017881393432617187499"), "1.0000001f")
        self.assertEqual(literals.c_float32("1.00000017881393432617187501"), "1.0000002f")
        # The last and the first number that C rounds to a float32 that is finite, or not zero.
        self.assertEqual(literals.c_float32("-3.4028235677973366e38"), "-3.4028235e+38f")
        self.assertRaises(ValueError, literals.c_float32, "340282356779733661637539395458142568448.0")
        self.assertEqual(literals.c_float32("7.0064923216240854e-46"), "1e-45f")
        self.assertEqual(literals.c_float32("0e999999999"), "0.0f")

    def test_comment_cannot_be_left_or_spliced(self) -> None:
        self.assertEqual(literals.c_comment("a */ b /* c ??/ d \\"), "a * / b / * c ? ?/ d <U+005C>")
        self.assertEqual(literals.c_comment("keep \\d+ and caf\u00e9"), "keep \\d+ and caf\u00e9")
        self.assertEqual(literals.c_comment("\\ \\\t"), "<U+005C> <U+005C>")


class Templates(unittest.TestCase):
    """Loops and names only: what a template may say is listed here."""

    NAME = r"[a-z_]+(\.[a-z_]+)*"
    ALLOWED = [
        rf"{{{{ {NAME} }}}}",
        rf"{{% for [a-z_]+ in {NAME} %}}", r"{% endfor %}",
        rf"{{% if {NAME} %}}", r"{% endif %}",
        r'{% include "[a-z_.0-9]+" %}',
    ]

    def offences(self, text: str) -> List[str]:
        tags = re.findall(r"{[{%#].*?[#%}]}", text, re.DOTALL)
        return [tag for tag in tags if not any(re.fullmatch(rule, tag) for rule in self.ALLOWED)]

    def texts(self) -> Dict[str, str]:
        names = os.listdir(emit.TEMPLATES)
        texts = {}
        for name in names:
            with open(os.path.join(emit.TEMPLATES, name), encoding="utf-8") as file:
                texts[name] = file.read()
        return texts

    def test_templates_take_no_decisions(self) -> None:
        for name, text in self.texts().items():
            self.assertEqual(self.offences(text), [], name)

    def test_the_check_itself_sees_an_offence(self) -> None:
        for bad in ("{{ a + b }}", "{{ a|default(1) }}", "{% if a is defined %}", "{{ a ~ '_type' }}",
                    "{% set a = 1 %}", "{% if a == 1 %}", "{{ a['b'] }}", "{{ f(1) }}", "{# note #}"):
            self.assertEqual(self.offences(bad), [bad])

    def test_every_line_is_rendered_by_some_sample(self) -> None:
        environment = emit.make_environment()
        wanted: Set[Tuple[str, int]] = set()
        templates = {}
        for name in self.texts():
            template = environment.get_template(name)
            templates[template.filename] = (name, template)
            wanted |= {(name, line) for line, _ in template.debug_info}
        seen: Set[Tuple[str, int]] = set()

        def trace(frame: Any, event: str, _: Any) -> Any:
            entry = templates.get(frame.f_code.co_filename)
            if entry is None:
                return None
            if event == "line":
                seen.add((entry[0], entry[1].get_corresponding_lineno(frame.f_lineno)))
            return trace

        schemas = model.read_named(document([case() for case in CASES.values()]))
        view = [emit.schema_view(schema) for schema in schemas]
        sys.settrace(trace)
        try:
            for schema_view in view:
                for name in ("job.h.j2", "job.c.j2"):
                    environment.get_template(name).render(schema=schema_view)
        finally:
            sys.settrace(None)
        self.assertGreater(len(wanted), 60)
        self.assertEqual(sorted(wanted - seen), [])


class Layout(unittest.TestCase):
    def test_lines_fit_a_screen(self) -> None:
        """But for names that are too long for any line, and text of a schema."""
        for case in CASES.values():
            if case.__name__ in ("names", "hostile"):
                continue
            for name, content in files_of(case()).items():
                self.assertEqual([line for line in content.split("\n") if len(line) > 100], [], name)

    def test_limits_are_told_where_a_param_is_set(self) -> None:
        fields = [field("a", min_len=3, max_len=3), field("b", min_len=1), field("c", shape="list", count=7, max_len=9),
                  field("d", "int8", min={"int": "-1"}, max={"int": "5"}), field("e", "bytes", secret=True), field("f")]
        header = files_of(schema("x", jobs=[job("j", fields)]))["x_job.h"]
        self.assertEqual(re.findall(r"x.job:5(?:; (.*?))? \*/", header), [
            "exactly 3 bytes", "not empty", "at most 7 values, at most 9 bytes", "-1 to 5", "secret", ""])


class Sources(unittest.TestCase):
    def test_renderer_is_python_3_9(self) -> None:
        for name in os.listdir(RENDERER):
            if name.endswith(".py"):
                with open(os.path.join(RENDERER, name), encoding="utf-8") as file:
                    ast.parse(file.read(), name, feature_version=(3, 9))

    def test_samples_are_fresh_each_time(self) -> None:
        """The tests above change what they get."""
        for case in CASES.values():
            first = case()
            self.assertEqual(copy.deepcopy(first), case())


if __name__ == "__main__":
    rendering.main()
