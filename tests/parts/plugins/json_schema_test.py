"""What `culexc gen --plugin json-schema` writes, beside the decoder of the generated C.

json_schema_test.py CULEXC CODEC FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import jsonschema  # noqa: E402

from codec import Codec, model_of, payloads  # noqa: E402

CULEXC, CODEC, FOLDER = sys.argv[1:]
SCHEMAS = [f"{FOLDER}/{stem}.job" for stem in ("types", "types_defaults", "types_optional", "attributes")]
JOBS = ["kitchen.defaults_of_all", "kitchen.required_of_all", "kitchen.optional_of_all", "attr.limits"]

# Values of any kind: most of them are wrong for most kinds.
VALUES = [
    "null", "true", "false", "0", "-0", "1", "-1", "01", "127", "128", "-128", "-129", "255", "256", "65535", "65536",
    "2147483648", "-2147483649", "4294967296", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
    "170141183460469231731687303715884105728", "340282366920938463463374607431768211456", "0.5", "-0.0", "3.5e38",
    "3.4028235e38", "-3.5e38", "1e308", "1e-46", '"0"', '"-0"', '"00"', '"+1"', '"1.0"', '"255"', '"256"', '" 1"',
    '"1\\n"', '"-1"', '"99999999999999999999999999999999999999999"', '""', '"x"', '"\\u0000"', '"\\u0100"', '"ab"',
    '"\\u00e9"', '"\\u00ff"', '"NaN"', '"nan"', '"Infinity"', '"-Infinity"', '"inf"', '"AA=="', '"AA="', '"AA"', '"AB=="',
    '"AAA="', '"AAB="', '"AAAA"', '"A"', '"AA==\\n"', '"A A="', '"_-=="', '"AAAAAAAAAAA="',
    '"00000000-0000-4000-8000-00000000abcd"', '"00000000-0000-4000-8000-00000000ABCD"',
    '"00000000000040008000000000000000"', '"00000000-0000-4000-8000-00000000abcd\\n"', '"g0000000-0000-4000-8000-00000000abcd"',
    '"2026-01-01T00:00:00Z"', '"2026-01-01t00:00:00Z"', '"2026-01-01 00:00:00Z"', '"2026-01-01T00:00:00"',
    '"2026-02-30T00:00:00Z"', '"2026-13-01T00:00:00Z"', '"2026-01-01T24:00:00Z"', '"2026-01-01T00:00:60Z"',
    '"2026-01-01T00:00:00.Z"', '"2026-01-01T00:00:00.1234567890Z"', '"2026-01-01T00:00:00+25:00"',
    '"2026-01-01T00:00:00+02:00"', '"2026-01-01T00:00:00.500Z"', '"1600-01-01T00:00:00Z"', '"3000-01-01T00:00:00Z"',
    '"0s"', '"-0s"', '"-0.0s"', '"1s"', '"1.s"', '".5s"', '"01s"', '"1.5s"', '"1.1234567890s"', '"1m"', '"1"', '"10000000000s"',
    '"LOW"', '"low"', '"A"', '"ALL"', '"D"', "[]", "[0]", "[1,2]", '["x"]', "[[]]", "[null]", "{}", '{"x":1}', '{"x":"1"}',
    '{"!x":1}', '{"x":1,"!y":1}', '{"x":1,"y":1}', '{"x":1,"!x":1}', '{"x":1,"weight":null,"tags":["a"]}', '{"x":null}',
    '{"one":{"x":1},"two":[{"x":1},{"x":2}]}', '{"one":{"x":1},"two":[{"x":1}]}',
]

INTEGER = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64, 128)}


def is_unsayable(field, text):
    """What the decoder refuses and JSON Schema has no words for."""
    kind = field["kind"]
    if kind in INTEGER:
        return text == "-0" or "." in text or "e" in text  # a number that equals an integer
    if kind == "string":
        return field["min_len"] is not None  # bytes
    return kind in ("timestamp", "duration") and field["min"] is not None


class JsonSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        out = pathlib.Path(cls.holder.name)
        subprocess.run([CULEXC, "gen", "--plugin", "json-schema", "--out", out, *SCHEMAS,
                        f"{FOLDER}/mail_plain.job"], check=True, timeout=60)
        cls.schemas = {path.name: json.loads(path.read_text()) for path in out.iterdir()}
        cls.valid = {job: jsonschema.Draft202012Validator(cls.schemas[job + ".schema.json"]) for job in JOBS}
        cls.types, cls.jobs = model_of(CULEXC, *SCHEMAS)
        cls.codec = Codec(CODEC)

    @classmethod
    def tearDownClass(cls):
        cls.codec.close()
        cls.holder.cleanup()

    def test_files_are_schemas_of_jobs_and_results(self):
        self.assertEqual(sorted(self.schemas), sorted(
            [job + ".schema.json" for job in JOBS]
            + ["attr.old_report.schema.json", "shop.mail.send_email.schema.json", "shop.mail.send_email.result.schema.json"]))
        for schema in self.schemas.values():
            jsonschema.Draft202012Validator.check_schema(schema)
        # A type that is imported has its definition.
        mail = self.schemas["shop.mail.send_email.schema.json"]
        self.assertEqual(set(mail["$defs"]), set(self.referred(mail)))
        self.assertTrue(mail["$defs"])

    def referred(self, node):
        if isinstance(node, dict):
            if node.get("$ref", "").startswith("#/$defs/") and "/properties/" not in node["$ref"]:
                yield node["$ref"][len("#/$defs/"):]
            for child in node.values():
                yield from self.referred(child)
        if isinstance(node, list):
            for child in node:
                yield from self.referred(child)

    def test_what_c_encodes_is_valid(self):
        for job in JOBS:
            for text in payloads(1, self.types, self.jobs[job], 300):
                canonical = self.codec.read(job, text)
                self.assertIsNotNone(canonical, (job, text))
                for taken in (text, canonical):
                    faults = [fault.message for fault in self.valid[job].iter_errors(json.loads(taken))]
                    self.assertEqual(faults, [], (job, taken))

    def verdicts(self, job, text):
        """Whether C takes it, and whether the schema does; text that is no JSON is nothing to a schema."""
        try:
            parsed = json.loads(text)
        except ValueError:
            return None
        return self.codec.read(job, text) is not None, self.valid[job].is_valid(parsed)

    def test_any_value_in_any_field(self):
        refused = 0
        for job in JOBS:
            fields = self.jobs[job]["params"]
            whole = json.loads(self.codec.read(job, payloads(2, self.types, self.jobs[job], 1)[0]))
            for field in fields:
                others = {name: one for name, one in whole.items() if name.lstrip("!") != field["wire"]}
                inside = [(text, text) for text in VALUES]
                if field["shape"] == "array":
                    inside += [(text, "[" + ",".join([text] * field["count"]) + "]") for text in VALUES]
                elif field["shape"] == "list":
                    inside += [(text, f"[{text}]") for text in VALUES]
                for plain, text in inside:
                    members = [f"{json.dumps(name)}:{json.dumps(one)}" for name, one in others.items()]
                    members.append(f'"{field["wire"]}":{text}')
                    found = self.verdicts(job, "{" + ",".join(members) + "}")
                    if found is None or (found == (False, True) and is_unsayable(field, plain)):
                        continue
                    self.assertEqual(found[0], found[1], (job, field["name"], field["kind"], text))
                    refused += not found[0]
        self.assertGreater(refused, 3000)

    def test_members_are_taken_as_the_decoder_takes_them(self):
        """Missing, null, twice, with and without the "!", and unknown ones."""
        refused = 0
        for job in JOBS:
            whole = json.loads(self.codec.read(job, payloads(3, self.types, self.jobs[job], 1)[0]))
            cases = [{**whole, "other": 1}, {**whole, "!other": 1}, {**whole, "!": 1}, {**whole, "x!": 1}, {}]
            for field in self.jobs[job]["params"]:
                name, loud = field["wire"], "!" + field["wire"]
                rest = {key: one for key, one in whole.items() if key not in (name, loud)}
                one = whole.get(name, whole.get(loud))
                cases += [rest, {**rest, name: None}, {**rest, loud: None}]
                if one is not None:
                    cases += [{**rest, name: one}, {**rest, loud: one}, {**rest, name: one, loud: one},
                              {**rest, name: one, loud + "_": one}]
            for case in cases:
                found = self.verdicts(job, json.dumps(case))
                self.assertEqual(found[0], found[1], (job, case))
                refused += not found[0]
        self.assertGreater(refused, 50)

    def test_lengths_are_held_as_near_as_json_schema_comes(self):
        """In characters and groups of three bytes, which is as near as JSON Schema comes to bytes."""
        for name, text, is_valid in [
                ("code", '"abc"', True), ("code", '"abcd"', False), ("code", '""', False), ("code", '"\\u20ac"', True),
                ("note", '"12345678901"', False), ("note", '""', False), ("key", '""', False), ("key", '"AA=="', True),
                ("tags", '["1","2","3","4","5","6"]', False), ("tags", '["123456789012345678901"]', False)]:
            whole = json.loads(self.codec.read("attr.limits", payloads(4, self.types, self.jobs["attr.limits"], 1)[0]))
            whole[name] = json.loads(text)
            found = self.verdicts("attr.limits", json.dumps(whole))
            self.assertEqual(found, (is_valid, is_valid), (name, text))


unittest.main(argv=sys.argv[:1])
