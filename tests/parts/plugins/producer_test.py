"""What `culexc gen --plugin python` writes, beside the codec of the generated C and a real worker.

producer_test.py CULEXC CODEC FOLDER WORKER ENQUEUE HELLO KEYS
"""
import base64
import contextlib
import datetime
import importlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
import unittest.mock
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from codec import BITS, Codec, model_of, payloads  # noqa: E402

CULEXC, CODEC, FOLDER, WORKER, ENQUEUE, HELLO, KEYS = sys.argv[1:]
SCHEMAS = [f"{FOLDER}/{stem}.job" for stem in ("types", "types_defaults", "types_optional", "attributes")]
OUT = tempfile.TemporaryDirectory()
subprocess.run([CULEXC, "gen", "--plugin", "python", "--out", OUT.name, *SCHEMAS, f"{FOLDER}/mail_plain.job",
                f"{FOLDER}/common.job", f"{FOLDER}/text.job", f"{FOLDER}/limits.job", HELLO], check=True, timeout=60)
sys.path.insert(0, OUT.name)

import attributes_job  # noqa: E402
import culex_producer  # noqa: E402
import hello_job  # noqa: E402
import limits_job  # noqa: E402
import mail_plain_job  # noqa: E402
import types_defaults_job  # noqa: E402
import types_job  # noqa: E402
import types_optional_job  # noqa: E402
from culex_producer import Client, CulexError, Encoding, payload_of  # noqa: E402

JOBS = {"kitchen.defaults_of_all": types_defaults_job.DefaultsOfAll, "kitchen.required_of_all": types_job.RequiredOfAll,
        "kitchen.optional_of_all": types_optional_job.OptionalOfAll, "attr.limits": attributes_job.Limits}
CLASSES = {"kitchen.level": types_job.Level, "kitchen.plain": types_job.Plain, "kitchen.big": types_job.Big,
           "kitchen.inner": types_job.Inner, "kitchen.outer": types_job.Outer}


def nanoseconds(text):
    whole, _, rest = text.partition(".")
    return int(whole) * 1000000000 + (-1 if whole.startswith("-") else 1) * int((rest or "0").ljust(9, "0"))


def timestamp(text):
    moment, _, rest = text.rstrip("Z").partition(".")
    seconds = datetime.datetime.fromisoformat(moment + "+00:00") - culex_producer.EPOCH
    return (seconds.days * 86400 + seconds.seconds) * 1000000000 + int((rest or "0").ljust(9, "0"))


class Typed(unittest.TestCase):
    """Payloads of C, read into dataclasses, come out as they were."""

    @classmethod
    def setUpClass(cls):
        cls.types, cls.jobs = model_of(CULEXC, *SCHEMAS)
        cls.codec = Codec(CODEC)

    @classmethod
    def tearDownClass(cls):
        cls.codec.close()

    def one(self, field, value):
        kind = field["kind"]
        if kind == "struct":
            name = field["ref"]["name"]
            return self.record(CLASSES[name], self.types[name]["fields"], value)
        if kind == "enum":
            return CLASSES[field["ref"]["name"]][value]
        if kind in BITS or kind.startswith("float"):
            return (float if kind.startswith("float") else int)(value)
        return {"bytes": base64.b64decode, "uuid": uuid.UUID, "timestamp": timestamp,
                "duration": lambda text: nanoseconds(text.rstrip("s"))}.get(kind, lambda same: same)(value)

    def record(self, made, fields, members):
        values = {}
        for field in fields:
            wire = "!" * field["must_understand"] + field["wire"]
            if wire not in members:
                continue
            value = members[wire]
            single = field["shape"] == "single"
            values[field["name"]] = self.one(field, value) if single else [self.one(field, item) for item in value]
        return made(**values)

    def test_payloads_are_those_of_c(self):
        for name, made in JOBS.items():
            for text in payloads(11, self.types, self.jobs[name], 400):
                canonical = self.codec.read(name, text)
                members = json.loads(canonical, parse_int=str)  # an int would lose the sign of -0
                again = payload_of(self.record(made, self.jobs[name]["params"], members)).decode()
                self.assertEqual(again, canonical)

    def test_numbers_are_those_of_c(self):
        """Floats in all sizes: what is shortest, and where the exponent begins."""
        for exponent in range(-46, 40):
            for digits in ("1", "1.5", "3.4028234", "9.999999", "7.0064923", "123456.7"):
                number = float(f"{digits}e{exponent}")
                for sign in (1, -1):
                    if number * 1.0 > 3.4e38:
                        continue
                    job = types_optional_job.OptionalOfAll(f32=sign * number)
                    text = payload_of(job).decode()
                    self.assertEqual(self.codec.read("kitchen.optional_of_all", text), text)
                    job = types_defaults_job.DefaultsOfAll(f64=sign * number * 1.1, whole=sign * number)
                    text = payload_of(job).decode()
                    self.assertEqual(self.codec.read("kitchen.defaults_of_all", text), text)

    def test_greatest_float32_is_that_of_c(self):
        for number in (3.4028234663852886e38, -3.4028234663852886e38, 3.40282356e38):
            text = payload_of(types_optional_job.OptionalOfAll(f32=number)).decode()
            self.assertEqual(text, self.codec.read("kitchen.optional_of_all", text))

    def test_defaults_are_those_of_c(self):
        everything = self.codec.read("kitchen.defaults_of_all", "{}")
        self.assertEqual(payload_of(types_defaults_job.DefaultsOfAll()).decode(), everything)
        self.assertEqual(payload_of(types_optional_job.OptionalOfAll()), b"{}")

    def test_every_limit_is_kept(self):
        """Refused by the name of the field, without the value; C refuses the text too."""
        good = dict(code="abc", key=b"secret", after=timestamp("2026-01-01T00:00:00"))
        self.assertIsNotNone(self.codec.read("attr.limits", payload_of(attributes_job.Limits(**good)).decode()))
        wrong = [("code", value) for value in ("ab", "abcd", "€€", "a\0b", "\ud800ab", 3, None, b"abc")]
        wrong += [("note", "x"), ("note", "é" * 6), ("key", b""), ("key", "text"), ("percent", -1), ("percent", 101),
                  ("percent", 5.0), ("percent", True), ("percent", "5"), ("wait", 999999999), ("wait", 3600000000001),
                  ("wait", 1.5), ("wait", datetime.timedelta(0)), ("after", 1577836799999999999),
                  ("after", datetime.datetime(2026, 1, 1)), ("account", 1 << 63), ("account", -(1 << 63) - 1),
                  ("tags", ["x"] * 6), ("tags", ["x" * 21]), ("tags", "text"), ("tags", None), ("old", 1),
                  ("colour", 256), ("colour", -1)]
        for name, value in wrong:
            with self.subTest(name=name, value=value):
                with self.assertRaisesRegex(Encoding, rf"^{name}\b"):
                    payload_of(attributes_job.Limits(**{**good, name: value}))

    def test_values_of_other_types_are_refused(self):
        nested = types_job.Outer(one=types_job.Inner(x=1), two=[types_job.Inner(x=1)] * 2)
        payload_of(types_optional_job.OptionalOfAll(st=nested))
        for part, field, value in [("b", "b", 1), ("f32", "f32", "1"), ("f32", "f32", 3.5e38), ("f32", "f32", 3.4028235677973366e38),
                                   ("f32", "f32", 10**400), ("id", "id", "00"),
                                   ("l", "l", "LOW"), ("l", "l", -1), ("st", "st", {}), ("sha", "sha", [0] * 31),
                                   (r"sha\[31\]", "sha", [0] * 31 + [256]), ("u128", "u128", 1 << 128)]:
            with self.assertRaisesRegex(Encoding, rf"^{part}:"):
                payload_of(types_optional_job.OptionalOfAll(**{field: value}))
        with self.assertRaisesRegex(Encoding, "^f64: "):
            payload_of(types_defaults_job.DefaultsOfAll(f64=10**400))
        nested.two[1] = types_job.Inner(x="1")
        with self.assertRaisesRegex(Encoding, r"^st\.two\[1\]\.x: "):
            payload_of(types_optional_job.OptionalOfAll(st=nested))

    def test_slips_are_told(self):
        with self.assertRaises(AttributeError):
            hello_job.Hello(name="Ann").nmae = "Bo"
        with self.assertRaises(AttributeError):
            types_job.Inner(x=1).y = 2
        for value, found in [({"name": "Ann"}, "a dict"), (hello_job.Hello, "the class Hello"), (None, "a NoneType")]:
            with self.assertRaisesRegex(Encoding, f"^expected an object of a job's class, found {found}$"):
                payload_of(value)
        lists = [field.name for field in attributes_job.Limits._FIELDS if field.shape == "list"]
        for value in (types_job.Inner(x=1), None, 5):
            with self.assertRaisesRegex(Encoding, rf"^{lists[0]}: expected a list"):
                payload_of(attributes_job.Limits(code="abc", key=b"hidden", after=1 << 61, **{lists[0]: value}))

    def test_python_types_of_time_are_taken(self):
        at = datetime.datetime(2026, 5, 6, 7, 8, 9, 10, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
        job = types_optional_job.OptionalOfAll(at=at, d=datetime.timedelta(days=-1, microseconds=1))
        self.assertEqual(payload_of(job), b'{"at":"2026-05-06T05:08:09.00001Z","d":"-86399.999999s"}')

    def test_secrets_are_not_shown(self):
        self.assertNotIn("hidden", repr(attributes_job.Limits(code="abc", key=b"hidden", after=0)))

    def test_types_are_imported(self):
        import common_job
        fields = {field.name: field for field in mail_plain_job.SendEmail._FIELDS}
        shared = [field.type() for field in fields.values() if field.type is not None]
        self.assertTrue(any(one.__module__ == common_job.__name__ for one in shared))


class Generated(unittest.TestCase):
    """Schemas whose names are in Python's way."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)

    def gen(self, **files):
        """Each text as NAME.job; what culexc says, and with which status."""
        for name, text in files.items():
            (self.work / name).parent.mkdir(exist_ok=True)
            (self.work / name).write_text(text)
        done = subprocess.run([os.path.abspath(CULEXC), "gen", "--plugin", "python", "--out", OUT.name, *files],
                              cwd=self.work,
                              capture_output=True, text=True, check=False, timeout=60)
        importlib.invalidate_caches()
        return done.returncode, done.stderr

    def test_params_may_be_called_as_what_the_module_uses(self):
        text = """enum lang { EN, IT } struct point { int32 x; }
            job own { params { string bytes = "x"; bytes b2 = x"01"; string list[]; string b[];
                               lang Lang = EN; lang l2 = IT; string Point = ""; optional point p;
                               string str = ""; string field = ""; string MISSING = ""; string self = ""; } }"""
        self.assertEqual(self.gen(**{"shadow.job": text}), (0, ""))
        import shadow_job
        job = shadow_job.Own(l2=shadow_job.Lang.EN, p=shadow_job.Point(x=1), list=["a"])
        self.assertEqual(json.loads(payload_of(job))["b2"], "AQ==")
        hints = typing.get_type_hints(shadow_job.Own)
        self.assertEqual((hints["bytes"], hints["b2"], hints["l2"]), (str, bytes, shadow_job.Lang))

    def test_defaults_of_float32_are_rounded_once(self):
        text = """job edge { params { float32 a = 3.4028235677973366e38; float32 b = 7.0064923216240854e-46;
                                      float32 c = 1.00000017881393432617187499; float32 d = -0.0; } }"""
        self.assertEqual(self.gen(**{"edge.job": text}), (0, ""))
        import edge_job
        self.assertEqual(payload_of(edge_job.Edge()), b'{"a":3.4028235e38,"b":1e-45,"c":1.0000001,"d":-0}')

    def test_two_schemas_of_one_module_are_refused(self):
        for first, second in [("d1/one.job", "d2/one.job"), ("my-one.job", "my_one.job"), ("One.job", "one.job")]:
            with self.subTest(first=first, second=second):
                status, said = self.gen(**{first: "package p1; job a {}", second: "package p2; job b {}"})
                names = [pathlib.Path(name).name for name in (first, second)]
                self.assertEqual(status, 1)
                self.assertIn(f"'{names[0]}' of package 'p1' and '{names[1]}' of package 'p2'", said)
                self.assertFalse(list(pathlib.Path(OUT.name).glob("*one*")))

    def test_encrypted_params_are_refused(self):
        status, said = self.gen(**{"vault.job": "job pay { params { string shop;\n string iban [[encrypted]]; } }"})
        self.assertEqual(status, 1)
        self.assertIn("vault.job:2:1: error: 'iban' is encrypted, which programs in Python cannot do", said)
        self.assertEqual(self.gen(**{"vault.job": "job pay { returns { string receipt [[encrypted]]; } }"}), (0, ""))


class Limit(Exception):
    """A request's time is over, as a web server says it from a signal handler."""


@contextlib.contextmanager
def limit(seconds):
    def end(*_):
        raise Limit

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Stored(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.work = pathlib.Path(holder.name)
        self.url = f"sqlite:{self.work}/jobs.db"

    def client(self, **more):
        client = Client(self.url, program=ENQUEUE, **more)
        self.addCleanup(client.close)
        return client


class Enqueue(Stored):
    def worked(self):
        """What the worker prints, sorted."""
        done = subprocess.run([WORKER, "--drain", "--log-level=error", "--url", self.url], stdout=subprocess.PIPE,
                              text=True, timeout=60, check=True)
        return sorted(done.stdout.splitlines())

    def enqueue_and_work(self):
        with self.client() as client:
            ids = [client.enqueue(hello_job.Hello(name=name)) for name in ("Ann", "Bo")]
            self.assertEqual(len(set(ids)), 2)
            client.enqueue(hello_job.Hello(), delay=datetime.timedelta(milliseconds=50), priority=9, tags=["a"])
            client.enqueue(hello_job.Hello(name="gone"), expires=datetime.timedelta(milliseconds=1))
            time.sleep(0.01)
            client.enqueue(hello_job.Hello(name="late"), at=datetime.datetime.now(datetime.timezone.utc))
        self.assertEqual(self.worked(), ["Hello, Ann!", "Hello, Bo!", "Hello, late!", "Hello, world!"])

    def test_worker_runs_what_python_enqueues(self):
        self.enqueue_and_work()

    @unittest.skipUnless(shutil.which("redis-server"), "needs redis-server")
    def test_worker_runs_what_python_enqueues_in_redis(self):
        socket = self.work / "redis"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "",
                                   "--dir", str(self.work)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for line in server.stdout:
            if "ready to accept connections" in line.lower():
                break
        self.url = f"redis+unix://{socket}"
        self.enqueue_and_work()

    def test_same_key_enqueues_once(self):
        first = self.client().enqueue(hello_job.Hello(name="once"), idempotency_key="greet|\u00e9")
        client = self.client()
        more = {"idempotency_key": "greet|\u00e9", "idempotency_window": datetime.timedelta(hours=1)}
        self.assertEqual(client.enqueue(hello_job.Hello(name="once"), **more), first)
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello(name="other"), **more)
        self.assertEqual((caught.exception.status, caught.exception.ticket), ("ECONFLICT", None))
        self.assertIn(str(first), str(caught.exception))
        self.assertEqual(self.worked(), ["Hello, once!"])

    def test_a_trace_makes_no_other_run(self):
        client = self.client()
        traces = [f"00-{digit * 32}-00f067aa0ba902b7-01" for digit in "ab"]
        runs = {client.enqueue(hello_job.Hello(name="once"), idempotency_key="k", traceparent=trace, tracestate="a=1")
                for trace in traces}
        self.assertEqual(len(runs), 1)
        self.assertEqual(self.worked(), ["Hello, once!"])

    def test_same_ticket_enqueues_once(self):
        client = self.client()
        ticket = client.new_ticket()
        first = client.enqueue(hello_job.Hello(name="once"), ticket=ticket)
        client.enqueue(hello_job.Hello(name="else"))
        self.assertEqual(self.client().enqueue(hello_job.Hello(name="once"), ticket=ticket), first)
        self.assertEqual(client.enqueue(hello_job.Hello(name="once"), ticket=ticket), first)
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello(name="other"), ticket=ticket)
        self.assertEqual(caught.exception.status, "ECONFLICT")
        self.assertEqual(self.worked(), ["Hello, else!", "Hello, once!"])

    def test_calls_of_a_client_are_of_one_producer(self):
        tickets = [uuid.UUID("01a20350-d5ff-8ffe-91b7-8dd9e584129d"), uuid.UUID("01a20350-d600-8000-b1b7-8dd9e584129d")]
        ones, asked = culex_producer._Tickets(), iter(tickets)
        taken = [ones.take(lambda: next(asked))]
        for _ in range(2):
            ones.give(taken[-1])
            taken.append(ones.take(lambda: next(asked)))
        self.assertEqual([str(one) for one in taken],
                         [str(tickets[0]), "01a20350-d5ff-8fff-91b7-8dd9e584129d", "01a20350-d600-8000-91b7-8dd9e584129d"])
        self.assertEqual(ones.take(lambda: next(asked)), tickets[1])  # the third was not given back
        ones.give(tickets[1])
        with unittest.mock.patch("time.monotonic", return_value=time.monotonic() + 301):
            with self.assertRaises(StopIteration):
                ones.take(lambda: next(asked))

    def test_refusals_leave_the_client_usable(self):
        client = self.client()
        for more, status in [({"priority": 10}, "EINVAL"), ({"queue": "a b"}, "EINVAL"), ({"tags": ["a,b"]}, "EINVAL"),
                             ({"delay": 1000000000, "at": datetime.datetime.now(datetime.timezone.utc)}, "EINVAL"),
                             ({"ticket": uuid.uuid4()}, "EINVAL"), ({"idempotency_key": ""}, "EINVAL"),
                             ({"traceparent": "00-"}, "EINVAL"), ({"tracestate": "a=b"}, "EINVAL"),
                             ({"idempotency_key": "a\nb"}, "EINVAL"), ({"idempotency_key": "k" * 256}, "EINVAL"),
                             ({"idempotency_window": datetime.timedelta(hours=1)}, "EINVAL")]:
            with self.assertRaises(CulexError) as caught:
                client.enqueue(hello_job.Hello(), **more)
            self.assertIn(status, (None, caught.exception.status), more)
        for more, text in [({"delay": 30}, r"write datetime.timedelta\(seconds=30\)"),
                           ({"idempotency_key": "k", "idempotency_window": 3600},
                            r"write datetime.timedelta\(seconds=3600\)"),
                           ({"idempotency_key": "k", "idempotency_window": datetime.timedelta(days=31)},
                            "more than 30 days"),
                           ({"ticket": client.enqueue(hello_job.Hello(name="fine"))}, "is the id of a run"),
                           ({"at": 1790000000}, r"before 2001: .* time.time_ns\(\)")]:
            with self.assertRaisesRegex(CulexError, "^EINVAL: .*" + text):
                client.enqueue(hello_job.Hello(), **more)
        with self.assertRaisesRegex(Encoding, "^at: expected a datetime"):
            client.enqueue(hello_job.Hello(), at=1790000000.5)
        with self.assertRaises(Encoding):
            client.enqueue(hello_job.Hello(name=7))
        with self.assertRaisesRegex(Encoding, "^ticket: expected a uuid"):
            client.enqueue(hello_job.Hello(), ticket="01a20350-d5ff-8ffe-91b7-8dd9e584129d")
        with self.assertRaisesRegex(Encoding, "^idempotency_key: expected a str"):
            client.enqueue(hello_job.Hello(), idempotency_key=7)
        client.enqueue(hello_job.Hello(name="too"))
        self.assertEqual(self.worked(), ["Hello, fine!", "Hello, too!"])

    def test_store_that_is_none_is_told(self):
        self.url = "sqlite:/nonexistent/folder/jobs.db"
        client = self.client()
        for _ in range(2):  # the program has ended, and is started again
            with self.assertRaises(CulexError) as caught:
                client.enqueue(hello_job.Hello())
            self.assertIn("/nonexistent/folder", str(caught.exception))

    def test_program_that_ends_is_told_and_started_again(self):
        client = self.client()
        client.enqueue(hello_job.Hello(name="one"))
        client._process.kill()
        client._process.wait()
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello(name="lost"))
        self.assertEqual((caught.exception.status, caught.exception.ticket.version), ("EUNKNOWN", 8))
        ticket = client.new_ticket()
        client._process.kill()
        client._process.wait()
        with self.assertRaises(CulexError) as caught:  # before it had more than to make a ticket
            client.enqueue(hello_job.Hello(name="lost"))
        self.assertEqual((caught.exception.status, caught.exception.ticket), ("ECONNECT", None))
        client.new_ticket()
        client._process.kill()
        client._process.wait()
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello(name="lost"), ticket=ticket)
        self.assertEqual((caught.exception.status, caught.exception.ticket), ("EUNKNOWN", ticket))
        client.enqueue(hello_job.Hello(name="two"))
        self.assertEqual(self.worked(), ["Hello, one!", "Hello, two!"])

    def test_interrupted_call_takes_no_answer_of_another(self):
        client = self.client()
        client.enqueue(hello_job.Hello(name="one"))
        for name in ("small", "x" * 200000):  # waiting for the answer; and in the midst of writing the request
            stopped = client._process
            self.addCleanup(stopped.kill)
            stopped.send_signal(signal.SIGSTOP)  # stands for a slow store
            with self.assertRaises(Limit), limit(0.2):
                client.enqueue(hello_job.Hello(name=name))
            self.assertIsNotNone(stopped.poll(), "the program it was said to is still there")
            with self.assertRaises(CulexError) as caught, limit(30):
                client.enqueue(hello_job.Hello(), priority=10)
            self.assertEqual(caught.exception.status, "EINVAL")
        with limit(30):
            client.enqueue(hello_job.Hello(name="two"))
        self.assertEqual(self.worked(), ["Hello, one!", "Hello, two!"])

    def test_answer_to_another_request_is_none(self):
        program = self.work / "program"
        program.write_text(f"""#!{sys.executable}
import sys
for line in sys.stdin:
    print('{{"status":"OK","id":"01a20350-d5ff-728e-91b7-8dd9e584129d","number":7}}', flush=True)
""")
        program.chmod(0o755)
        client = Client(self.url, program=str(program))
        self.addCleanup(client.close)
        ticket = self.client().new_ticket()
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello(), ticket=ticket)
        self.assertEqual((caught.exception.status, caught.exception.ticket), ("EUNKNOWN", ticket))
        self.assertIsNone(client._process)

    def test_lost_answer_leaves_the_ticket_for_the_repeat(self):
        program = self.work / "program"  # ends as soon as a run is in the store, and says nothing of it
        program.write_text(f"""#!{sys.executable}
import subprocess
program = subprocess.Popen(["{ENQUEUE}"], stdout=subprocess.PIPE)
print(program.stdout.readline().decode(), end="", flush=True)  # the ticket
program.stdout.readline()
""")
        program.chmod(0o755)
        client = Client(self.url, program=str(program))
        self.addCleanup(client.close)
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello(name="once"))
        self.assertEqual(caught.exception.status, "EUNKNOWN")
        with self.assertRaises(CulexError):  # as another producer, so that the repeat is possible after it
            client.enqueue(hello_job.Hello(name="twice"))
        more = {"ticket": caught.exception.ticket}
        self.assertEqual(len({self.client().enqueue(hello_job.Hello(name="once"), **more) for _ in range(2)}), 1)
        self.assertEqual(self.worked(), ["Hello, once!", "Hello, twice!"])

    def program_that_says_first(self, status, name):
        """Of its first enqueue call, and takes all others."""
        program = self.work / "program"
        program.write_text(f"""#!{sys.executable}
import json, sys
answers = [("{status}", "{name}")]
for line in sys.stdin:
    request = json.loads(line)
    if "new_ticket" in request:
        status, name = "OK", "ticket"
    else:
        sys.stdin.readline()
        status, name = answers.pop() if answers else ("OK", "id")
    print(json.dumps({{"status": status, "number": request["number"],
                       name: "01a20350-d5ff-" + ("8" if name == "ticket" else "7") + "abc-91b7-8dd9e584129d"}}), flush=True)
""")
        program.chmod(0o755)
        client = Client(self.url, program=str(program))
        self.addCleanup(client.close)
        return client

    def test_clock_that_jumps_is_asked_again(self):
        client = self.program_that_says_first("EEXPIRED", "text")
        self.assertEqual(client.enqueue(hello_job.Hello()).version, 7)
        self.assertEqual(client._number, 4)  # a ticket, a call, and both again
        client = self.program_that_says_first("EEXPIRED", "text")
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello(), ticket=client.new_ticket())
        self.assertEqual((caught.exception.status, client._number), ("EEXPIRED", 2))

    def test_unknown_call_is_the_last_of_its_producer(self):
        client = self.program_that_says_first("EUNKNOWN", "ticket")
        with self.assertRaises(CulexError) as caught:
            client.enqueue(hello_job.Hello())
        self.assertEqual((caught.exception.status, caught.exception.ticket.version), ("EUNKNOWN", 8))
        for number in (4, 5):  # asks for another ticket, and goes on from that
            client.enqueue(hello_job.Hello())
            self.assertEqual(client._number, number)

    def test_threads_share_a_client(self):
        client = self.client()
        threads = [threading.Thread(target=lambda at=at: [client.enqueue(hello_job.Hello(name=f"{at}.{n}"))
                                                          for n in range(10)]) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.worked(), sorted(f"Hello, {at}.{n}!" for at in range(8) for n in range(10)))

    def test_store_named_in_code_stands_over_the_environment(self):
        elsewhere = {"CULEX_URL": "sqlite:/nowhere/x", "CULEX_URL_FILE": "/nowhere/url"}
        for name in elsewhere:
            with unittest.mock.patch.dict(os.environ, {name: elsewhere[name]}):
                self.client().enqueue(hello_job.Hello(name=name))
        self.assertEqual(self.worked(), ["Hello, CULEX_URL!", "Hello, CULEX_URL_FILE!"])
        with self.assertRaises(CulexError) as caught:
            self.client(url_file="/nowhere/url").enqueue(hello_job.Hello(name="x"))
        self.assertEqual(caught.exception.status, "EUSAGE")

    def test_forked_process_is_refused(self):
        client = self.client()
        client.enqueue(hello_job.Hello(name="parent"))
        child = os.fork()
        if child == 0:
            try:
                client.enqueue(hello_job.Hello(name="child"))
            except CulexError as error:
                os._exit(0 if error.status == "EINVAL" else 1)
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        client.enqueue(hello_job.Hello(name="again"))
        self.assertEqual(self.worked(), ["Hello, again!", "Hello, parent!"])


def limits_of(url, run=None):
    """What a run in an SQLite file is counted by, NAME=KEY;..., or the only run."""
    with contextlib.closing(sqlite3.connect(url[len("sqlite:"):])) as file:
        [(text,)] = file.execute("SELECT limits FROM run WHERE ? IS NULL OR id = ?", (run, run))
        return text


class Keys(Stored):
    """Runs that are unique or counted by their params."""

    def page_of_c(self, *params):
        done = subprocess.run([KEYS, self.url, *map(str, params)], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        return uuid.UUID(done.stdout.strip())

    def test_c_and_python_make_the_same_keys(self):
        client = self.client()
        for tenant, document, page in [("acme", "report", 1), ("acme", "report", 2), ("m\u00fc \"\n", "", 0), ("a", "creport", 1),
                                       ("x" * 10000, "report", 4294967295)]:
            job = limits_job.RenderPage(tenant=tenant, document=document, page=page)
            first = self.page_of_c(tenant, document, page)
            again = client.enqueue(job)
            self.assertEqual((again, again.outcome), (first, "kept"))
            self.assertEqual(self.page_of_c(tenant, document, page), first)
        own = client.enqueue(limits_job.RenderPage(tenant="other", document="report", page=1))
        self.assertEqual(own.outcome, "new")
        self.assertEqual(self.page_of_c("other", "report", 1), own)

    def test_needs_are_those_of_the_schema(self):
        run = self.client().enqueue(limits_job.CutFilm(film="m"))
        self.assertEqual(limits_of(self.url, run.bytes), "shop.cut_film:concurrency=;needs gpu:2,tape-robot:1=")

    def test_limits_of_c_and_python_count_together(self):
        client = self.client()
        for tenant, document in [("acme", "report"), ("m\u00fc \"\n", ""), ("x" * 10000, "report"), ("1", "2")]:
            runs = [self.page_of_c(tenant, document, 1), client.enqueue(limits_job.RenderPage(tenant=tenant, document=document, page=2))]
            of_c, of_python = (limits_of(self.url, run.bytes) for run in runs)
            self.assertEqual(of_c, of_python)
            self.assertEqual(of_c.count("="), 5)
        self.assertEqual(of_c, "shop.render_page:concurrency_by_tenant=1;shop.render_page:concurrency=;"
                               "shop.render_page:rate_by_tenant=1;shop.render_page:rate_by_doc.tenant=2+1;shop.render_page:fair_by_tenant=1")

    def test_conflict_has_the_id_of_the_run_that_is_there(self):
        client = self.client()
        first = client.enqueue(limits_job.RebuildEverything())
        with self.assertRaises(CulexError) as caught:
            client.enqueue(limits_job.RebuildEverything())
        self.assertEqual((caught.exception.status, caught.exception.run, caught.exception.ticket), ("EUNIQUE", first, None))

    def test_idempotency_key_that_was_used_is_told(self):
        client = self.client()
        outcomes = [client.enqueue(hello_job.Hello(), idempotency_key="k").outcome for _ in range(2)]
        self.assertEqual(outcomes, ["new", "duplicate"])

    def test_requests_have_the_keys_as_texts_of_the_payload(self):
        client, asked = self.client(), []

        def answer(request, payload=None):
            asked.append(request)
            return {"status": "OK", "id": str(uuid.uuid4()), "ticket": str(uuid.uuid4())}

        with unittest.mock.patch.object(client, "_exchange", answer):
            client.enqueue(limits_job.RenderPage(tenant="a\"b", document="d", page=7))
            client.enqueue(limits_job.IndexDocument(document="d"))
            client.enqueue(hello_job.Hello())
        page, index, hello = (request for request in asked if "new_ticket" not in request)
        document, number, tenant = ({"name": name, "value": value} for name, value in
                                    [("doc", '"d"'), ("page", "7"), ("tenant", '"a\\"b"')])
        self.assertEqual(page["unique"], {"by": [document, number, tenant], "while_states": 7, "for_ms": 0,
                                          "on_conflict": "keep", "delay_ms": 0})
        limits = [(limit["kind"], limit["name"], limit["count"], limit["per_ms"], limit["burst"], limit["by"])
                  for limit in page["limits"]]
        self.assertEqual(limits, [
            ("concurrency", "shop.render_page:concurrency_by_tenant", 8, 0, 0, [tenant]),
            ("concurrency", "shop.render_page:concurrency", 100, 0, 0, []),
            ("rate", "shop.render_page:rate_by_tenant", 1000, 60000, 50, [tenant]),
            ("rate", "shop.render_page:rate_by_doc.tenant", 10, 1000, 10, [document, tenant]),
            ("fair", "shop.render_page:fair_by_tenant", 0, 0, 0, [tenant])])
        self.assertEqual(index["unique"], {"by": [{"name": "document", "value": '"d"'}], "while_states": 1, "for_ms": 0, "on_conflict": "replace",
                                           "delay_ms": 5000})
        self.assertNotIn("unique", hello)
        self.assertNotIn("limits", hello)


class Program(unittest.TestCase):
    """culex-enqueue itself, on input that no producer of ours writes."""

    HEAD = {"job": "hello", "queue": "hello", "fingerprint": "1", "priority": 0, "retries": 0, "timeout_ms": 0,
            "expires_ms": 0, "keep_success_ms": 0, "keep_failure_ms": 0}

    def run_program(self, data, *arguments, url="memory:"):
        return subprocess.run([ENQUEUE, *arguments], input=data, env={**os.environ, "CULEX_URL": url},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)

    def request(self, payload, **more):
        return json.dumps({**self.HEAD, "length": len(payload), **more}).encode() + b"\n" + payload + b"\n"

    def test_requests_follow_each_other(self):
        done = self.run_program(self.request(b"{}") + self.request(b'{"name":"\n"}') + self.request(b""))
        answers = [json.loads(line)["status"] for line in done.stdout.splitlines()]
        self.assertEqual((done.returncode, answers), (0, ["OK", "OK", "OK"]))

    def test_time_for_retries_reaches_the_store(self):
        done = self.run_program(self.request(b"{}", retry_for_ms=172800000) + self.request(b"{}", retry_for_ms=-1))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["status"] for answer in answers], ["OK", "EINVAL"])
        self.assertIn("time for retries", answers[1]["text"])

    def test_expiry_of_a_call_reaches_the_store(self):
        done = self.run_program(self.request(b"{}", expires="5400s") + self.request(b"{}", expires="-1s"))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["status"] for answer in answers], ["OK", "EINVAL"], answers)
        self.assertIn("options.expires is below 0", answers[1]["text"])

    UNIQUE = {"by": [{"name": "a", "value": "1"}], "while_states": 7, "for_ms": 0, "on_conflict": "error", "delay_ms": 0}

    def test_unique_request_is_answered_with_the_run_that_is_there(self):
        other = {**self.UNIQUE, "by": [{"name": "a", "value": "2"}]}
        done = self.run_program(b"".join(self.request(b"{}", unique=unique) for unique in (self.UNIQUE, self.UNIQUE, other)))
        first, second, third = (json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual((first["status"], first["outcome"]), ("OK", "new"))
        self.assertEqual((second["status"], second["id"]), ("EUNIQUE", first["id"]))
        self.assertNotIn("outcome", second)
        self.assertEqual(third["status"], "OK")

    LIMIT = {"kind": "concurrency", "name": "a:concurrency", "count": 1, "per_ms": 0, "burst": 0, "by": []}

    def test_limits_of_a_request_have_the_key_of_its_values(self):
        for values, key in [([], r""), (['"acme"'], r"acme"), (['"acme"', "3"], r"acme\+3"), (['"a b"'], r"#[0-9a-f]{40}"),
                            ([""], r"#[0-9a-f]{40}"), (['"acme"', ""], r"#[0-9a-f]{40}")]:
            with self.subTest(values), tempfile.TemporaryDirectory() as folder:
                url = f"sqlite:{folder}/jobs.db"
                by = [{"name": f"p{number}", "value": value} for number, value in enumerate(values)]
                done = self.run_program(self.request(b"{}", limits=[{**self.LIMIT, "by": by}]), url=url)
                self.assertEqual(json.loads(done.stdout)["status"], "OK")
                self.assertRegex(limits_of(url), f"^a:concurrency={key}$")

    NEEDS = {"kind": "needs", "name": "needs gpu:1,tape:2", "count": 0, "per_ms": 0, "burst": 0, "by": []}

    def test_needs_of_a_request_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:{folder}/jobs.db"
            done = self.run_program(self.request(b"{}", limits=[self.LIMIT, self.NEEDS]), url=url)
            self.assertEqual(json.loads(done.stdout)["status"], "OK")
            self.assertEqual(limits_of(url), "a:concurrency=;needs gpu:1,tape:2=")

    def test_limits_that_no_store_takes_are_told(self):
        part = {"name": "a", "value": "acme"}
        for more, words in [({"limits": [{**self.LIMIT, "count": 0}]}, "the number is 1 to"),
                            ({"limits": [{**self.LIMIT, "name": "a|b"}]}, "the name of a limit"),
                            ({"limits": [self.LIMIT, self.LIMIT]}, "is there twice"),
                            ({"limits": [{**self.LIMIT, "kind": "rate"}]}, "the period of a rate"),
                            ({"limits": [{**self.NEEDS, "name": "needs gpu:0"}]}, "needs gpu:0"),
                            ({"limits": [self.NEEDS, self.LIMIT]}, "needs"),
                            ({"limits": [self.LIMIT, {**self.LIMIT, "by": [part]}]}, "limit 2: the value of param 1"),
                            ({"unique": {**self.UNIQUE, "by": [*self.UNIQUE["by"], part]}}, "unique: the value of param 2"),
                            ({"unique": {**self.UNIQUE, "by": [{"name": "a", "value": " "}]}}, "unique: the value of param 1"),
                            ({"unique": {**self.UNIQUE, "by": [{"name": "a", "value": "1 2"}]}}, "unique: the value of param 1"),
                            ({"unique": {**self.UNIQUE, "while_states": 0}}, "needs states that keep it"),
                            ({"unique": {**self.UNIQUE, "while_states": 8}}, "in no other state")]:
            with self.subTest(words):
                done = self.run_program(self.request(b"{}", **more) + self.request(b"{}"))
                refusal, other = (json.loads(line) for line in done.stdout.splitlines())
                self.assertEqual((refusal["status"], other["status"], done.returncode), ("EINVAL", "OK", 0))
                self.assertIn(words, refusal["text"])

    def test_wrong_keys_are_refused(self):
        limit = self.LIMIT
        for more in [{"unique": {**self.UNIQUE, "on_conflict": "drop"}}, {"unique": {}}, {"unique": True},
                     {"limits": [{**limit, "kind": "speed"}]}, {"limits": [limit] * 10}, {"limits": [{**limit, "by": ["a"]}]}]:
            with self.subTest(more):
                done = self.run_program(self.request(b"{}", **more))
                self.assertEqual(done.returncode, 2)
                self.assertIn(json.loads(done.stdout)["status"], ("EDECODE", "EUNDERSTAND"))

    def test_whatever_else_comes_is_told_and_ends_it(self):
        for data in [b"x\n", b"{}\n", b"\n", b"[]\n", b"\xff\n", b"\0\n", b'{"job":"a"', b"{" * 5000 + b"\n",
                     self.request(b"", length=1 << 20)[:-1], self.request(b"{}", length=1), self.request(b"{}", length=3),
                     self.request(b"{}", length=(1 << 20) + 1), self.request(b"{}", length=-1),
                     self.request(b"{}", priority="x"), self.request(b"{}", tags=["x"] * 1000)]:
            done = self.run_program(data)
            self.assertEqual((done.returncode, done.stderr), (2, b""), data[:60])
            self.assertNotEqual(json.loads(done.stdout)["status"], "OK")

    def test_unknown_member_is_refused_with_the_one_that_was_meant(self):
        for line, word in [(self.request(b"{}", dealy="3600s"), "'dealy'; did you mean delay?"),
                           (self.request(b"{}", new_ticket=False, tiket=str(uuid.UUID(int=8 << 76))), "'tiket'; did you mean ticket?"),
                           (self.request(b"{}", zebra=[{"delay": None}]), "'zebra'"),
                           (self.request(b"{}", **{"a\nb" + "\u00e9" * 300: 1}), "'a\\nb\u00e9"),
                           (self.request(b"{}", **{"\0": 1}), "request"),
                           (b'{"new_ticket":true,"nubmer":1}\n', "'nubmer'; did you mean number?")]:
            done = self.run_program(line + self.request(b"{}"))
            answers = [json.loads(answer) for answer in done.stdout.splitlines()]
            self.assertEqual((done.returncode, [answer["status"] for answer in answers]), (2, ["EDECODE"]), line)
            self.assertIn(word, answers[0]["text"])
        self.assertEqual(self.run_program(self.request(b'{"nmae":"Ann"}', new_ticket=False, number=1)).returncode, 0)

    def test_payload_is_bounded(self):
        for size, status in [(1 << 20, "OK"), ((1 << 20) + 1, "ELIMIT"), (1 << 25, "ELIMIT")]:
            done = self.run_program(self.request(b" " * size))
            self.assertEqual((json.loads(done.stdout)["status"], done.stderr), (status, b""))

    def test_answer_has_the_number_of_its_request(self):
        done = self.run_program(self.request(b"{}", number=5) + b'{"new_ticket":true,"number":6}\n' + self.request(b"{}"))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(one["status"], one.get("number")) for one in answers], [("OK", 5), ("OK", 6), ("OK", None)])
        self.assertEqual([(uuid.UUID(one.get("id", "0" * 32)).version, uuid.UUID(one.get("ticket", "0" * 32)).version)
                          for one in answers], [(7, None), (None, 8), (7, None)])

    def test_ticket_and_key_bring_the_same_run(self):
        for more in ({"ticket": "%s"}, {"idempotency_key": "k", "idempotency_window": "60s"}, {"idempotency_key": "l"}):
            with self.subTest(**more), tempfile.TemporaryDirectory() as folder:
                url = f"sqlite:{folder}/jobs.db"
                ticket = json.loads(self.run_program(b'{"new_ticket":true}\n', url=url).stdout)["ticket"]
                line = self.request(b"{}", **{name: ticket if text == "%s" else text for name, text in more.items()})
                answers = [json.loads(one) for one in self.run_program(line + line + self.request(b"{}"),
                                                                       url=url).stdout.splitlines()]
                self.assertEqual([one["status"] for one in answers], ["OK"] * 3)
                self.assertEqual(answers[0]["id"], answers[1]["id"])
                self.assertNotEqual(answers[0]["id"], answers[2]["id"])

    def test_id_in_a_request_is_refused_with_what_replaced_it(self):
        done = self.run_program(self.request(b"{}", id=str(uuid.UUID(int=7 << 76)), number=1)
                                + self.request(b"{}", number=2))
        refusal, other = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((refusal["status"], refusal["number"], "id" in refusal), ("EINVAL", 1, False))
        self.assertIn("'ticket' repeats a call, and 'idempotency_key'", refusal["text"])
        self.assertEqual((other["status"], other["number"], done.returncode), ("OK", 2, 0))

    def test_request_for_an_id_is_refused_with_what_replaced_it(self):
        done = self.run_program(b'{"new_id":true,"number":1}\n')
        self.assertEqual((json.loads(done.stdout)["status"], done.returncode), ("EINVAL", 2))
        self.assertIn("'new_ticket' asks for what makes a call repeatable", json.loads(done.stdout)["text"])

    def test_last_answer_has_no_number(self):
        done = self.run_program(self.request(b"{}", number=5, length=3))
        self.assertEqual((json.loads(done.stdout)["status"], "number" in json.loads(done.stdout)), ("EDECODE", False))

    def test_refusal_of_one_leaves_the_next(self):
        done = self.run_program(self.request(b"{}", priority=11) + self.request(b"{}"))
        self.assertEqual([json.loads(line)["status"] for line in done.stdout.splitlines()], ["EINVAL", "OK"])

    def test_wrong_use_ends_with_the_code_that_says_so(self):
        self.assertIn(b"CULEX_URL", self.run_program(b"", "--help").stdout)
        self.assertEqual(self.run_program(b"", "--wrong").returncode, 2)
        self.assertEqual(self.run_program(b"").returncode, 0)
        self.assertEqual(self.run_program(b"", url="sqlite:").returncode, 1)


unittest.main(argv=sys.argv[:1])
