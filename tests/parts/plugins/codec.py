"""plugin_codec, started once, and payloads to try on it."""
import base64
import json
import random
import struct
import subprocess


class Codec:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def read(self, job, payload):
        """The canonical payload, or None when the generated C refuses this one."""
        self.process.stdin.write(f"{job} {payload.encode().hex()}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n")
        return bytes.fromhex(answer[3:]).decode() if answer.startswith("ok ") else None


def model_of(culexc, *paths):
    """The document of the schemas, and its types by name."""
    printed = subprocess.run([culexc, "ir", *paths], check=True, stdout=subprocess.PIPE).stdout
    document = json.loads(printed)
    types = {one["name"]: one for file in document["files"] for one in file["enums"] + file["structs"]}
    jobs = {job["qualified"]: job for file in document["files"] for job in file["jobs"]}
    return types, jobs


BITS = {f"{sign}int{bits}": (bits, sign == "") for sign in ("", "u") for bits in (8, 16, 32, 64, 128)}


def bounds(field):
    bits, is_signed = BITS[field["kind"]]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    return (low if field["min"] is None else int(field["min"]["int"]),
            high if field["max"] is None else int(field["max"]["int"]))


def text_of(noise, field):
    """A string or bytes value within the limits."""
    low, high = field["min_len"] or 0, field["max_len"]
    size = noise.randint(low, min(high or low + 12, low + 12))
    if field["kind"] == "bytes":
        return base64.b64encode(noise.randbytes(size)).decode()
    text = ""
    while len(text.encode()) < size:
        more = noise.choice(['a', '"', "\\", "\n", "\x01", "é", "€", "\U0001f600", "/", "\u2028", "\x7f"])
        text += more if len((text + more).encode()) <= size else "x"
    return text


def value(noise, types, field):
    """The JSON text of one value that every reader takes; not always the canonical text."""
    kind = field["kind"]
    if kind in BITS:
        low, high = bounds(field)
        number = noise.choice([low, high, max(low, min(high, 0)), noise.randint(low, high)])
        return noise.choice([str(number), f'"{number}"'])
    if kind in ("float32", "float64"):
        number = struct.unpack("<f" if kind == "float32" else "<d", noise.randbytes(4 if kind == "float32" else 8))[0]
        if number != number or number in (float("inf"), float("-inf")):
            return noise.choice(['"NaN"', '"Infinity"', '"-Infinity"'])
        return noise.choice([repr(number), str(noise.randint(-9, 9)), "-0", "1e-400", "0.1"])
    if kind == "duration" and field["min"] is not None:
        return noise.choice(['"1s"', '"3600s"', '"59.5s"'])
    if kind == "enum":
        return json.dumps(noise.choice(types[field["ref"]["name"]]["values"])["name"])
    if kind == "struct":
        return payload(noise, types, types[field["ref"]["name"]]["fields"])
    return {
        "bool": lambda: noise.choice(["true", "false"]),
        "char": lambda: json.dumps(chr(noise.randint(0, 255))),
        "string": lambda: json.dumps(text_of(noise, field), ensure_ascii=noise.choice([True, False])),
        "bytes": lambda: json.dumps(text_of(noise, field)),
        "uuid": lambda: json.dumps(noise.choice([str.upper, str.lower])(
            "-".join(noise.randbytes(size).hex() for size in (4, 2, 2, 2, 6)))),
        "timestamp": lambda: noise.choice(['"2026-11-21T04:20:00.5Z"', '"2262-04-11T23:47:16.854775807Z"',
                                           '"2024-02-29T23:59:59.000000001+02:00"', '"2020-01-01T00:00:00.10Z"']),
        "duration": lambda: noise.choice(['"1.5s"', '"-0.25s"', '"0s"', '"9223372036.854775807s"',
                                          '"-9223372036.854775808s"', '"0.000000001s"', '"1.50s"']),
    }[kind]()


def member(noise, types, field):
    if field["shape"] == "single":
        return value(noise, types, field)
    count = field["count"] if field["shape"] == "array" else noise.randint(0, min(field["count"] or 3, 3))
    return "[" + ",".join(value(noise, types, field) for _ in range(count)) + "]"


def payload(noise, types, fields):
    """A payload that every reader takes."""
    made = []
    for field in fields:
        if not field["required"] and noise.random() < 0.3:
            continue
        made.append(f'{json.dumps(field["wire"])}:{member(noise, types, field)}')
    if noise.random() < 0.2:
        made.append('"not_known":[{"!x":1}]')
    noise.shuffle(made)
    return "{" + ",".join(made) + "}"


def payloads(seed, types, job, count):
    noise = random.Random(f"{seed}/{job['qualified']}")
    return [payload(noise, types, job["params"]) for _ in range(count)]
