"""The document of the API: well formed, the one in the source tree, and true of each answer that the server gives.

usage: openapi_test.py CULEX-CONSOLE CULEX NAP HELD STORE [Class.test_NAME]...
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema
from served import CONSOLE, CULEX, HELD, Served

KEPT = pathlib.Path(__file__).resolve().parents[3] / "docs" / "openapi.json"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
METHODS = {"get", "post"}
NOBODY = "01a22d7f-4f59-7826-b394-100000000fff"


def operations(document):
    """(method, path, operation) of each."""
    return [(method, path, operation) for path, item in document["paths"].items() for method, operation in item.items()]


def references(value):
    if isinstance(value, dict):
        yield from [value["$ref"]] if "$ref" in value else []
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


class Document(unittest.TestCase):
    def setUp(self):
        text = subprocess.run([CONSOLE, "--openapi"], capture_output=True, text=True, check=True).stdout
        self.document = json.loads(text)

    def test_it_is_the_one_that_is_kept(self):
        self.assertEqual(json.loads(KEPT.read_text()), self.document,
                         "culex-console --openapi | python3 -m json.tool --indent 1 > docs/openapi.json")

    def test_it_is_well_formed(self):
        document = self.document
        self.assertEqual(document["openapi"], "3.1.0")
        self.assertLessEqual({"title", "version"}, set(document["info"]))
        schemas = document["components"]["schemas"]
        used = {reference.removeprefix("#/components/schemas/") for reference in references(document)}
        self.assertEqual(used, set(schemas), "shapes that are missing, or that nothing has")
        for schema in schemas.values():
            jsonschema.Draft202012Validator.check_schema(schema)
        names = [operation["operationId"] for _, _, operation in operations(document)]
        self.assertEqual(len(names), len(set(names)))
        for method, path, operation in operations(document):
            self.assertIn(method, METHODS)
            self.assertEqual(re.findall(r"\{(\w+)\}", path),
                             [each["name"] for each in operation["parameters"] if each["in"] == "path"])
            self.assertTrue(all(each["required"] == (each["in"] == "path") for each in operation["parameters"]))
            self.assertIn("default", operation["responses"])
            self.assertTrue(all(answer["description"] and answer["content"] for answer in operation["responses"].values()))
            self.assertEqual("requestBody" in operation, method == "post")

    def test_each_change_needs_a_token(self):
        for method, path, operation in operations(self.document):
            if method == "post":
                self.assertNotIn("security", operation, path)
                self.assertIn("operate", operation["x-roles"], path)

    def test_a_validator_takes_it(self):
        try:
            from openapi_spec_validator import OpenAPIV31SpecValidator, validate  # Debian has none
        except ImportError:
            self.skipTest("no openapi_spec_validator")
        validate(self.document, cls=OpenAPIV31SpecValidator)


class Answers(Served):
    def setUp(self):
        super().setUp()
        self.fill()
        self.serve()
        _, _, self.document = self.send("GET", "/api/v1/openapi.json")
        self.seen = set()

    def check(self, schema, value):
        """By the document, which leaves room for members of later versions: this one has none."""
        shapes = {name: {"additionalProperties": False, **shape}
                  for name, shape in self.document["components"]["schemas"].items()}
        whole = {**schema, "components": {"schemas": shapes}}
        jsonschema.validate(value, whole)

    def ask(self, method, template, body=None, query="", code=200, **parts):
        """The answer, which is as the document says."""
        operation = self.document["paths"][template][method]
        path = template.format(**parts) + query
        status, headers, value = self.send(method.upper(), path, body)
        self.assertEqual(status, code, (path, value))
        content = operation["responses"][str(status) if status < 300 else "default"]["content"]
        [(kind, its)] = content.items()
        self.assertEqual(headers["Content-Type"].split(";")[0], kind)
        if its["schema"]:
            self.check(its["schema"], value)
        if body is not None and status < 300:
            self.check(operation["requestBody"]["content"]["application/json"]["schema"], body)
        if status < 300:
            self.seen.add((method, template))
        return value

    def worker(self):
        worker = subprocess.Popen([HELD, "--name", "one", "--isolation", "none"], env=self.env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.until(lambda: self.get("/workers")["workers"])
        self.until(lambda: any(queue["schedules"] for queue in self.get("/schedules")["queues"]))

    def batch(self):
        """The id of one: a callback has it in its params."""
        self.nap("batch", "1")
        self.drain()
        [run, *_] = self.get("/runs?queue=claps&limit=1")["runs"]  # about so many
        shown = subprocess.run([CULEX, "show", f"claps/{run['id']}", "--params", "--json"], env=self.env,
                               capture_output=True, text=True, check=True).stdout
        return re.search(r"naps/([0-9a-f-]{36})", shown)[1]

    def test_each_route_answers_as_it_is_told(self):
        self.worker()
        self.seen.add(("get", "/api/v1/stream"))  # has no end: see stream_test.py
        for name in ("openapi.json", "health", "queues", "workers", "schemas", "schedules"):
            self.ask("get", f"/api/v1/{name}")
        new = {"params": {"words": "x"}, "tags": ["red"], "priority": 1, "delay": "1h", "idempotency_key": "k",
               "traceparent": TRACE, "tracestate": "a=1"}
        run = self.ask("post", "/api/v1/jobs/{queue}/{job}", new, code=201, queue="naps", job="tell")
        self.ask("post", "/api/v1/jobs/{queue}/{job}", new, queue="naps", job="tell")
        several = [{"queue": "naps", "job": "wink"}, {"queue": "naps", "job": "nothing"}]
        self.ask("post", "/api/v1/jobs", several)
        self.ask("get", "/api/v1/tags")
        self.ask("get", "/api/v1/tags/{tag}", tag="red")
        self.ask("get", "/api/v1/schemas/{queue}/{job}", queue="naps", job="tell")
        self.ask("get", "/api/v1/live", query="?queue=naps")
        one = "/api/v1/runs/{queue}/{id}"
        for state in ("dead", "done", "waiting", "scheduled"):
            for each in self.ask("get", "/api/v1/runs", query=f"?state={state}")["runs"]:
                self.ask("get", one, queue=each["queue"], id=each["id"])
        self.ask("get", "/api/v1/runs", query="?limit=1")
        [dead, *_] = self.get("/runs?state=dead")["runs"]
        for each in (run, dead):
            self.ask("get", one + "/wait", query="?timeout=0s", queue="naps", id=each["id"])
        self.ask("post", one + "/retry", {}, queue="naps", id=dead["id"])
        self.ask("post", one + "/cancel", queue="naps", id=run["id"])
        self.ask("post", one + "/delete", queue="naps", id=run["id"])
        claims = "/api/v1/claims/{token}/"
        self.get("/queues/naps")
        held = self.ask("post", "/api/v1/queues/{queue}/claim", {"lease": "5s", "wait": "0s"}, queue="naps")["claim"]
        self.ask("post", claims + "heartbeat", {"progress": 5, "progress_text": "five"}, token=held["token"])
        self.ask("post", claims + "release", {"delay": "1ms"}, token=held["token"])
        held = self.ask("post", "/api/v1/queues/{queue}/claim", {"wait": "10s"}, queue="naps")["claim"]
        self.ask("post", claims + "fail", {"error": "no", "final": True}, token=held["token"])
        self.post("/jobs/naps/wink", {"traceparent": TRACE, "tracestate": "a=1"}, 201)
        held = self.ask("post", "/api/v1/queues/{queue}/claim", {"wait": "10s"}, queue="naps")["claim"]
        self.ask("post", claims + "complete", {}, token=held["token"])
        self.ask("post", "/api/v1/queues/{queue}/claim", {}, queue="nops")
        self.ask("get", "/api/v1/queues/{queue}", queue="naps")
        self.ask("post", "/api/v1/queues/{queue}/pause", {"for": "1h"}, queue="naps")
        self.ask("post", "/api/v1/queues/{queue}/resume", queue="naps")
        many = {"action": "delete", "states": "dead,cancelled", "job": "tell", "tag": "red", "error": "x", "since": "1h", "before": "0s",
                "limit": 1, "dry": True}
        self.ask("post", "/api/v1/queues/{queue}/bulk", many, queue="naps")
        self.assertIn("next_cursor", self.ask("post", "/api/v1/queues/{queue}/bulk", {"action": "delete", "states": "dead", "limit": 1},
                                              queue="naps"))
        self.ask("get", "/api/v1/queues/{queue}", queue="nops", code=404)
        self.ask("get", "/api/v1/queues/{queue}/figures", queue="naps")
        self.ask("get", "/api/v1/limits")
        self.post("/jobs/held/pen", {}, 201)
        limit = {"queue": "held", "limit": "pen:concurrency"}
        self.ask("get", "/api/v1/limits", query="?queue=held")
        self.ask("get", "/api/v1/limits/{queue}/{limit}/keys", **limit)
        self.ask("post", "/api/v1/limits/{queue}/{limit}/set", {"count": 2}, **limit)
        self.ask("post", "/api/v1/limits/{queue}/{limit}/reset", {}, **limit)
        schedule = {"queue": "held", "schedule": "chime"}
        self.ask("post", "/api/v1/schedules/{queue}/{schedule}/pause", {}, **schedule)
        self.ask("post", "/api/v1/schedules/{queue}/{schedule}/resume", **schedule)
        self.until(lambda: not self.get("/runs?queue=held&job=chime&state=waiting,active")["runs"])
        self.post("/queues/held/pause")
        self.ask("post", "/api/v1/schedules/{queue}/{schedule}/run", {}, **schedule)
        self.ask("post", "/api/v1/schedules/{queue}/{schedule}/run", {}, code=409, **schedule)
        self.ask("post", "/api/v1/schedules/{queue}/{schedule}/delete", {}, **schedule)

        [worker] = self.get("/workers")["workers"]
        order = {"quiet": True, "concurrency": 1}
        self.assertEqual(self.ask("post", "/api/v1/workers/{id}/set", order, id=worker["id"]), {"worker": worker["id"], **order})
        self.ask("post", "/api/v1/workers/{id}/set", {"stop": True}, id=worker["id"])
        self.ask("post", "/api/v1/workers/{id}/set", {"stop": True}, id="one", code=404)
        self.ask("get", "/api/v1/batches/{queue}/{id}", queue="naps", id=self.batch())
        self.assertEqual(self.seen, {(method, path) for method, path, _ in operations(self.document)})

    def test_a_body_is_required_where_none_is_refused(self):
        parts = {"queue": "naps", "job": "wink", "id": NOBODY}
        for method, path, operation in operations(self.document):
            if method == "post":
                asked = re.sub(r"\{(\w+)\}", lambda part: parts.get(part[1], "x"), path)
                status, _, value = self.send("POST", asked)
                told = str(value.get("error", {}).get("message"))
                is_refused = told.startswith("required and not given") or told.startswith("expected a list")
                self.assertEqual(operation["requestBody"]["required"], is_refused, (path, status, value))

    def test_each_parameter_is_taken(self):
        """Those that are told do not get the answer of one that is not, which each path has."""
        for method, path, operation in operations(self.document):
            names = [each["name"] for each in operation["parameters"] if each["in"] == "query"]
            for name in names + ["nonsense"] * (method == "get"):
                _, _, value = self.send(method.upper(), path.replace("{", "").replace("}", "") + f"?{name}=x")
                is_taken = f"there is no parameter {name} here" != value.get("error", {}).get("message")
                self.assertEqual(is_taken, name in names, (path, name, value))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
