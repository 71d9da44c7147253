"""What the modules of `culexc gen --plugin python` have in common; needs Python 3.10 and nothing else.

A job is a dataclass. Its payload is the one that the C of the same schema would write, byte for
byte. Client hands it to the program culex-enqueue, which comes with Culex and knows the stores.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
import os
import re
import struct
import subprocess
import threading
import time
import uuid
from decimal import Decimal
from typing import Any, Callable, ClassVar, Dict, List, Optional, Sequence, Tuple, Union

# Nanoseconds since 1970, or a datetime that knows its time zone.
Timestamp = Union[int, datetime.datetime]
# Nanoseconds, or a timedelta.
Duration = Union[int, datetime.timedelta]

PAYLOAD_MAX = 1024 * 1024
LIST_MAX = 65535
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
DELAY_MIN = 100000  # 100 us, as in C
TICKET_AGE_MAX = 300  # seconds: half of what a store takes
AT_MIN = 978307200 * 1000000000  # 2001: seconds and milliseconds taken for nanoseconds are in 1970
INT64 = (-(1 << 63), (1 << 63) - 1)


class CulexError(Exception):
    """What culex-enqueue says: `status` is that of culex/error.h. `ticket` is set where the run may be in
    the store all the same (EUNKNOWN): repeat the call with that ticket to be sure. `run` is the id of the run
    that has the unique key (EUNIQUE)."""

    def __init__(self, status: str, text: str, ticket: Optional[uuid.UUID] = None,
                 run: Optional[uuid.UUID] = None) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status
        self.ticket = ticket
        self.run = run


class RunId(uuid.UUID):
    """The id of a run, and how the call came by it: `outcome` is "new", "duplicate" (its idempotency key brought
    the run before), "kept" (the run has the unique key, and stays as it is), "replaced" (it had it, and is now as
    this call wanted it) or "spooled" (it waits for the store in the file CULEX_SPOOL, and the id is all zeroes)."""

    outcome: str

    def __init__(self, text: str, outcome: str) -> None:
        super().__init__(text)
        object.__setattr__(self, "outcome", outcome)


class Encoding(ValueError):
    """A value that the schema does not allow. Names the field; shows no value."""


@dataclasses.dataclass(frozen=True)
class Field:
    name: str
    wire: str  # with the "!" where it has to be understood
    kind: str
    shape: str = "single"
    count: int = 0
    optional: bool = False
    required: bool = False
    min_len: int = 0
    max_len: int = 0
    low: Optional[int] = None
    high: Optional[int] = None
    type: Any = None  # of an enum or a struct: a function that knows its class


@dataclasses.dataclass(frozen=True)
class Unique:
    """What a run is unique by, and for how long. `by` are attributes of the job, in the order of their names
    in the store."""

    by: Tuple[str, ...]
    while_states: int
    for_ms: int
    on_conflict: str
    delay_ms: int


@dataclasses.dataclass(frozen=True)
class Limit:
    """What counts the run. `by` as of Unique."""

    kind: str
    name: str
    count: int
    per_ms: int
    burst: int
    by: Tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Policy:
    """What the schema says of a job, as culex-enqueue reads it."""

    job: str
    queue: str
    fingerprint: int
    priority: int
    retries: int
    timeout_ms: int
    expires_ms: int
    keep_success_ms: int
    keep_failure_ms: int
    tags: Tuple[str, ...] = ()
    retry_for_ms: int = 0
    unique: Optional[Unique] = None
    limits: Tuple[Limit, ...] = ()


class Record:
    """A struct of a schema. No param can have a name that begins or ends with "_". Slots, so that
    a misspelt one is an AttributeError."""

    __slots__ = ()
    _FIELDS: ClassVar[Tuple[Field, ...]] = ()


class Job(Record):
    """The params of a job."""

    __slots__ = ()
    _POLICY: ClassVar[Policy]


def payload_of(job: Job) -> bytes:
    """As the C of the schema writes it. Encoding when a value is not allowed."""
    if not isinstance(job, Job):
        raise Encoding(f"expected an object of a job's class, found {_found(job)}")
    payload = _record_text(job).encode("utf-8")
    if len(payload) > PAYLOAD_MAX:
        raise Encoding(f"the payload has more than {PAYLOAD_MAX} bytes")
    return payload


def _keyed(job: Job, rule: Union[Unique, Limit]) -> Dict[str, Any]:
    """As culex-enqueue reads it, which makes the key: names in the store, and texts of the payload."""
    fields = {field.name: field for field in job._FIELDS}
    key = [(fields[name], getattr(job, name)) for name in rule.by]
    return {**dataclasses.asdict(rule),
            "by": [{"name": field.wire.lstrip("!"), "value": "" if _is_left_out(field, value) else _shaped(field, value)}
                   for field, value in key]}


def _found(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


# --- values to text ---------------------------------------------------------------------------


def _record_text(record: Record) -> str:
    return "{" + ",".join(_member(field, getattr(record, field.name)) for field in record._FIELDS
                          if not _is_left_out(field, getattr(record, field.name))) + "}"


def _is_left_out(field: Field, value: Any) -> bool:
    if value is None and field.optional:
        return True
    return field.shape == "list" and not field.optional and isinstance(value, (list, tuple)) and not value


def _member(field: Field, value: Any) -> str:
    try:
        return json.dumps(field.wire) + ":" + _shaped(field, value)
    except Encoding as error:
        path = str(error)
        raise Encoding(f"{field.name}{'' if path.startswith(('[', ':')) else '.'}{path}") from None


def _shaped(field: Field, value: Any) -> str:
    if field.shape == "single":
        return _one(field, value)
    if not isinstance(value, (list, tuple)):
        raise Encoding(": expected a list")
    if field.shape == "array" and len(value) != field.count:
        raise Encoding(f": expected {field.count} elements, not {len(value)}")
    if len(value) > (field.count or LIST_MAX):
        raise Encoding(f": at most {field.count or LIST_MAX} elements, not {len(value)}")
    texts = []
    for index, item in enumerate(value):
        try:
            texts.append(_one(field, item))
        except Encoding as error:
            path = str(error)
            raise Encoding(f"[{index}]{'' if path.startswith((':', '[')) else '.'}{path}") from None
    return "[" + ",".join(texts) + "]"


def _one(field: Field, value: Any) -> str:
    return _WRITERS[field.kind](field, value)


def _expect(is_good: bool, what: str) -> None:
    if not is_good:
        raise Encoding(f": {what}")


def _bool(field: Field, value: Any) -> str:
    _expect(isinstance(value, bool), "expected True or False")
    return "true" if value else "false"


def _char(field: Field, value: Any) -> str:
    _expect(isinstance(value, str) and len(value) == 1 and value <= "\u00ff", "expected one character up to U+00FF")
    return json.dumps(value, ensure_ascii=False)


def _integer(bits: int, signed: bool) -> Callable[[Field, Any], str]:
    ends = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)

    def write(field: Field, value: Any) -> str:
        _expect(isinstance(value, int) and not isinstance(value, bool), "expected an integer")
        low, high = field.low if field.low is not None else ends[0], field.high if field.high is not None else ends[1]
        _expect(low <= value <= high, f"expected {low} to {high}")
        return str(int(value)) if bits < 128 else f'"{int(value)}"'

    return write


def _float64(field: Field, value: Any) -> str:
    _expect(isinstance(value, (int, float)) and not isinstance(value, bool), "expected a number")
    try:
        return _number(float(value), repr)
    except OverflowError:  # an int
        raise Encoding(": too large for a float64") from None


def _narrow(value: Any) -> Optional[float]:
    """The float32 nearest to it; None when that is none."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", float(value)))[0])
    except OverflowError:
        return None


def _float32(field: Field, value: Any) -> str:
    _expect(isinstance(value, (int, float)) and not isinstance(value, bool), "expected a number")
    narrow = _narrow(value)
    if narrow is None:
        raise Encoding(": too large for a float32")
    return _number(narrow, lambda number: next(
        text for text in (f"{number:.{digits}g}" for digits in range(1, 10)) if _narrow(float(text)) == number))


def _number(value: float, shortest: Callable[[float], str]) -> str:
    """Plain from 1e-6 to below 1e21, with an exponent outside."""
    if value != value:
        return '"NaN"'
    if value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    sign, numerals, exponent = Decimal(shortest(value)).as_tuple()
    digits = "".join(map(str, numerals)).lstrip("0")
    point = len(numerals) + int(exponent) - (len(numerals) - len(digits))  # digits before the point
    end = len(digits.rstrip("0"))
    digits = digits[:end]
    return ("-" if sign else "") + _decimal(digits, point)


def _decimal(digits: str, point: int) -> str:
    if not digits:
        return "0"
    if -5 <= point <= 0:
        return "0." + "0" * -point + digits
    if 0 < point <= 21:
        return digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1}"


def _lengths(field: Field, size: int) -> None:
    _expect(size >= field.min_len, f"at least {field.min_len} bytes, not {size}")
    _expect(not field.max_len or size <= field.max_len, f"at most {field.max_len} bytes, not {size}")


def _string(field: Field, value: Any) -> str:
    _expect(isinstance(value, str) and "\0" not in value, "expected a str without a NUL")
    try:
        _lengths(field, len(value.encode("utf-8")))
    except UnicodeEncodeError:
        raise Encoding(": half of a surrogate pair") from None
    return json.dumps(value, ensure_ascii=False)


def _bytes(field: Field, value: Any) -> str:
    _expect(isinstance(value, (bytes, bytearray)), "expected bytes")
    _lengths(field, len(value))
    return f'"{base64.b64encode(value).decode()}"'


def _uuid(field: Field, value: Any) -> str:
    _expect(isinstance(value, uuid.UUID), "expected a uuid.UUID")
    return f'"{value}"'


def _nanoseconds(field: Field, value: int) -> int:
    low, high = field.low if field.low is not None else INT64[0], field.high if field.high is not None else INT64[1]
    _expect(low <= value <= high, f"expected {low} to {high} nanoseconds")
    return value


def timestamp_ns(value: Timestamp) -> int:
    if isinstance(value, datetime.datetime):
        _expect(value.tzinfo is not None, "expected a datetime with a time zone")
        return duration_ns(value - EPOCH)
    _expect(isinstance(value, int) and not isinstance(value, bool), "expected a datetime, or nanoseconds")
    return value


def duration_ns(value: Duration) -> int:
    if isinstance(value, datetime.timedelta):
        return ((value.days * 86400 + value.seconds) * 1000000 + value.microseconds) * 1000
    _expect(isinstance(value, int) and not isinstance(value, bool), "expected a timedelta, or nanoseconds")
    return value


def _fraction(nanoseconds: int) -> str:
    return f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""


def timestamp_text(value: Timestamp) -> str:
    seconds, rest = divmod(timestamp_ns(value), 1000000000)
    moment = EPOCH + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + _fraction(rest) + "Z"


def duration_text(value: Duration) -> str:
    number = duration_ns(value)
    seconds, rest = divmod(abs(number), 1000000000)
    return f"{'-' if number < 0 else ''}{seconds}{_fraction(rest)}s"


def _enum(field: Field, value: Any) -> str:
    _expect(isinstance(value, field.type()), f"expected a {field.type().__name__}")
    return json.dumps(value.value)


def _struct(field: Field, value: Any) -> str:
    _expect(isinstance(value, field.type()), f"expected a {field.type().__name__}")
    return _record_text(value)


_WRITERS: Dict[str, Callable[[Field, Any], str]] = {
    "bool": _bool, "char": _char, "float32": _float32, "float64": _float64, "string": _string,
    "bytes": _bytes, "uuid": _uuid, "enum": _enum, "struct": _struct,
    "timestamp": lambda field, value: f'"{timestamp_text(_nanoseconds(field, timestamp_ns(value)))}"',
    "duration": lambda field, value: f'"{duration_text(_nanoseconds(field, duration_ns(value)))}"',
    **{f"{sign}int{bits}": _integer(bits, sign == "") for sign in ("", "u") for bits in (8, 16, 32, 64, 128)},
}


def _span(name: str) -> Callable[[Duration], str]:
    """As the C of an enqueue refuses what is too short to be meant, in words of Python."""

    def write(value: Duration) -> str:
        if 0 < duration_ns(value) < DELAY_MIN:
            raise CulexError("EINVAL", f"{name} is {duration_ns(value)} nanoseconds, too short to be meant: write "
                                       f"datetime.timedelta(seconds={duration_ns(value)})")
        return duration_text(value)

    return write


def _at(value: Timestamp) -> str:
    if timestamp_ns(value) < AT_MIN:
        raise CulexError("EINVAL", "at is before 2001: a number is nanoseconds, as time.time_ns() returns them; "
                                   "or give a datetime with a time zone")
    return timestamp_text(value)


def _ticket(value: uuid.UUID) -> str:
    _expect(isinstance(value, uuid.UUID), "expected a uuid.UUID")
    return str(value)


def _key(value: str) -> str:
    _expect(isinstance(value, str), "expected a str")
    return value


def _named(name: str, write: Callable[[Any], str], value: Any) -> str:
    try:
        return write(value)
    except Encoding as error:
        raise Encoding(f"{name}{error}") from None


# --- the store --------------------------------------------------------------------------------


class _Tickets:
    """Those of a client's own calls: of one producer, which culex-enqueue draws, for as long as its calls are
    answered. Each sequence is one greater than the last: 48 bits, the version, 12 bits, before the producer."""

    def __init__(self) -> None:
        self._last: Optional[uuid.UUID] = None
        self._end = 0.0  # on the monotonic clock

    def take(self, ask: Callable[[], uuid.UUID]) -> uuid.UUID:
        """The next one. Its call remains the last of the producer unless the ticket is given back."""
        last, self._last = self._last, None
        if last is None or time.monotonic() > self._end:
            last, self._end = ask(), time.monotonic() + TICKET_AGE_MAX
            return last
        sequence = (last.int >> 80 << 12 | last.int >> 64 & 0xfff) + 1
        return uuid.UUID(int=sequence >> 12 << 80 | 8 << 76 | (sequence & 0xfff) << 64 | last.int & (1 << 64) - 1)

    def give(self, ticket: uuid.UUID) -> None:
        self._last = ticket


class Client:
    """One connection to a store, by a process of culex-enqueue. Threads may share it; a forked process
    opens its own. `url` or `url_file` says where the store is, whatever the environment does; without
    both the environment says it. Both at once are refused (EUSAGE)."""

    def __init__(self, url: Optional[str] = None, *, url_file: Optional[str] = None,
                 program: str = "culex-enqueue") -> None:
        self._environment = dict(os.environ)
        told = {"CULEX_URL": url, "CULEX_URL_FILE": url_file}
        for name, value in told.items():
            if url is not None or url_file is not None:
                self._environment.pop(name, None)
            if value is not None:
                self._environment[name] = value
        self._program = program
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._number = 0  # of the newest request
        self._tickets = _Tickets()
        self._owner = os.getpid()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            if process is not None and self._owner == os.getpid():
                _close(process)

    def new_ticket(self) -> uuid.UUID:
        """A ticket for one call of enqueue(): who keeps it can repeat that call for ten minutes, whatever exception
        interrupted it. CulexError."""
        with self._lock:
            return self._asked_ticket()

    def enqueue(self, job: Job, *, ticket: Optional[uuid.UUID] = None, idempotency_key: Optional[str] = None,
                idempotency_window: Optional[Duration] = None, delay: Optional[Duration] = None,
                at: Optional[Timestamp] = None, expires: Optional[Duration] = None, queue: Optional[str] = None,
                priority: Optional[int] = None, tags: Sequence[str] = (), traceparent: Optional[str] = None,
                tracestate: Optional[str] = None) -> RunId:
        """Enqueues one run and returns its id, which the store makes. CulexError, Encoding.
        Of a job that is `unique` it may be the id of a run that was there: RunId.outcome tells.
        With an `idempotency_key` the queue has one run for that key within the window, a day unless
        `idempotency_window` says another: a second call returns the id of the first.
        A `traceparent`, as W3C Trace Context writes it, goes with the run to what its handler enqueues.
        An exception of another kind, from a signal handler for example, leaves open whether it is enqueued:
        repeat with the same `ticket`, of new_ticket(), where that matters."""
        payload = payload_of(job)
        request = {name: value for name, value in dataclasses.asdict(job._POLICY).items()
                   if name not in ("tags", "unique", "limits")}
        if job._POLICY.unique is not None:
            request["unique"] = _keyed(job, job._POLICY.unique)
        if job._POLICY.limits:
            request["limits"] = [_keyed(job, limit) for limit in job._POLICY.limits]
        request["fingerprint"] = str(job._POLICY.fingerprint)
        request["tags"] = list(tags or job._POLICY.tags)
        for name, write, value in (("ticket", _ticket, ticket), ("idempotency_key", _key, idempotency_key),
                                   ("idempotency_window", _span("idempotency_window"), idempotency_window),
                                   ("delay", _span("delay"), delay), ("at", _at, at), ("expires", _span("expires"), expires),
                                   ("traceparent", _key, traceparent), ("tracestate", _key, tracestate)):
            if value is not None:
                request[name] = _named(name, write, value)
        for name, plain in (("queue", queue), ("priority", priority)):
            if plain is not None:
                request[name] = plain
        with self._lock:
            return self._repeated(request, payload) if ticket is not None else self._called(request, payload)

    def _repeated(self, request: Dict[str, Any], payload: bytes) -> RunId:
        return self._run(self._exchange(request, payload))

    def _called(self, request: Dict[str, Any], payload: bytes) -> RunId:
        """With a ticket of its own. Another one, once, where the store's clock has jumped: nothing has come of it."""
        for _ in range(2):
            ticket = self._tickets.take(self._asked_ticket)
            answer = self._exchange({**request, "ticket": str(ticket)}, payload)
            if answer["status"] not in ("EUNKNOWN", "EEXPIRED"):
                self._tickets.give(ticket)
            if answer["status"] != "EEXPIRED":
                break
        return self._run(answer)

    def _run(self, answer: Dict[str, Any]) -> RunId:
        return RunId(str(self._result(answer, "id")), answer.get("outcome", "new"))

    def _asked_ticket(self) -> uuid.UUID:
        return self._result(self._exchange({"new_ticket": True}), "ticket")

    def _exchange(self, request: Dict[str, Any], payload: Optional[bytes] = None) -> Dict[str, Any]:
        """One request and its answer. The process is this client's again when that has come whole; an
        exception from anywhere, a signal's too, ends it: what it would say yet is about this request."""
        if self._owner != os.getpid():
            raise CulexError("EINVAL", "this client belongs to the process that opened it")
        process, self._process = self._process or self._started(), None
        try:
            self._number += 1
            answer = _asked(process, {**request, "number": self._number}, payload)
            if answer.get("number") == self._number:
                self._process = process
        finally:
            if self._process is None:
                _kill(process)
        if self._process is None and ("number" in answer or not answer):
            raise self._unanswered(request)
        return answer  # without a number: why no other follows

    def _started(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment)

    def _unanswered(self, request: Dict[str, Any]) -> CulexError:
        text = f"{self._program} ended without an answer"
        if "ticket" not in request:
            return CulexError("ECONNECT", text)
        return CulexError("EUNKNOWN", f"{text}: the run may be in the store, repeat with the ticket that this error "
                                      "has", uuid.UUID(request["ticket"]))

    def _result(self, answer: Dict[str, Any], name: str) -> uuid.UUID:
        """Of an answer that is OK, what it has under that name."""
        if answer["status"] == "OK" and name in answer:
            return uuid.UUID(answer[name])
        ticket = uuid.UUID(answer["ticket"]) if "ticket" in answer else None
        run = uuid.UUID(answer["id"]) if "id" in answer else None
        raise CulexError(answer["status"], answer.get("text", ""), ticket, run)


def _asked(process: "subprocess.Popen[bytes]", request: Dict[str, Any], payload: Optional[bytes]) -> Dict[str, Any]:
    """Its answer; {} when it ends without one."""
    assert process.stdin is not None and process.stdout is not None
    if payload is not None:
        request["length"] = len(payload)
    head = json.dumps(request, ensure_ascii=False).encode("utf-8")
    try:
        process.stdin.write(head + b"\n" + (b"" if payload is None else payload + b"\n"))
        process.stdin.flush()
    except BrokenPipeError:
        pass  # it may have said why
    line = process.stdout.readline()
    answer: Dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
    return answer


def _kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()  # first, for closing its input would write the rest of a request
    _close(process)


def _close(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    process.stdout.close()
    process.wait()
