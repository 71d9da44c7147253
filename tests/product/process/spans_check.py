"""What a worker writes of traces is OTLP/JSON, as opentelemetry-proto says, and hangs together.

usage: spans_check.py FILE...  prints "OUTCOME NAME ATTEMPT ERROR-TYPE MESSAGE" of each span, by its start
       spans_check.py --tree FILE...  prints each span under its parent, as "DEPTH NAME"
"""
import json
import re
import sys

INT64 = re.compile(r"0|[1-9][0-9]{0,18}")
HEX = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
KNOWN = {"traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
         "attributes", "status"}
VALUES = {"stringValue": str, "boolValue": bool, "intValue": str}


def attributes(items: list) -> dict:
    found = {}
    for item in items:
        assert set(item) == {"key", "value"} and len(item["value"]) == 1, item
        (kind, value), = item["value"].items()
        assert type(value) is VALUES[kind], item
        assert kind != "intValue" or INT64.fullmatch(value), item
        assert item["key"] not in found, item
        found[item["key"]] = int(value) if kind == "intValue" else value
    return found


def span_read(span: dict) -> dict:
    assert set(span) <= KNOWN, set(span) - KNOWN
    for name, size in HEX.items():
        if name in span:
            assert re.fullmatch(rf"[0-9a-f]{{{size}}}", span[name]) and span[name].strip("0"), span
    assert span["kind"] == 5 and span["flags"] == 1, span
    for name in ("startTimeUnixNano", "endTimeUnixNano"):
        assert type(span[name]) is str and INT64.fullmatch(span[name]), span
    assert 1_600_000_000 * 10**9 < int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span
    said = attributes(span["attributes"])
    assert said["messaging.system"] == "culex" and said["messaging.destination.name"], said
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", said["messaging.message.id"]), said
    assert span["name"] == f"process {said['culex.job']}", span
    status = span.get("status", {})
    assert ("error.type" in said) == (status.get("code") == 2), span
    return {**span, "said": said, "message": status.get("message", "")}


def read(path: str) -> list:
    spans = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            assert line.endswith("\n"), "a line without its end"
            (resource,) = json.loads(line)["resourceSpans"]
            who = attributes(resource["resource"]["attributes"])
            assert who["service.name"] and who["service.instance.id"], who
            (scope,) = resource["scopeSpans"]
            assert scope["scope"]["name"] == "culex" and scope["scope"]["version"], scope
            assert scope["spans"], "a line without spans"
            spans += [{**span_read(span), "service": who["service.name"]} for span in scope["spans"]]
    return spans


def tree(spans: list) -> None:
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans), "two spans of one id"
    for span in spans:
        depth, above, trace = 0, span, span["traceId"]
        while (above := by_id.get(above.get("parentSpanId", ""))) is not None:
            assert above["traceId"] == trace, (span, above)
            depth += 1
        root = span
        while root.get("parentSpanId", "") in by_id:
            root = by_id[root["parentSpanId"]]
        print(depth, span["name"], trace, root.get("parentSpanId", "-"), span.get("traceState", "-"))


def main() -> None:
    is_tree = sys.argv[1] == "--tree"
    spans = [span for path in sys.argv[1 + is_tree:] for span in read(path)]
    spans.sort(key=lambda span: int(span["startTimeUnixNano"]))
    if is_tree:
        tree(spans)
        return
    for span in spans:
        said = span["said"]
        print(said["culex.outcome"], span["name"], said["culex.attempt"], said.get("error.type", "-"),
              "dead" if said.get("culex.dead") else "-", span["service"], span["message"])


main()
