"""What a real cluster answers, also while a part of it is silent, held against the schemas that it
gives of itself and read by its own command."""

import json
import re
import signal
import unittest
import urllib.error
import urllib.request

from cluster import MUSTER, Cluster

KINDS = {"string": str, "boolean": bool, "object": dict, "array": list, "integer": int,
         "number": (int, float)}


class Schemas:
    """Of an OpenAPI 3.0 document, as far as the API's own document uses them."""

    def __init__(self, document):
        self.document = document

    def of(self, path, method, status):
        content = self.document["paths"][path][method]["responses"][str(status)]["content"]
        return content["application/json"]["schema"]

    def faults(self, value, schema, place=""):
        if "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].split("/")[-1]]
        if value is None and schema.get("nullable"):
            return
        for part in schema.get("allOf", []):
            yield from self.faults(value, part, place)
        kind = schema.get("type")
        if kind is not None and (not isinstance(value, KINDS[kind]) or
                                 (isinstance(value, bool) and kind != "boolean")):
            yield f"{place}: {value!r} is no {kind}"
            return
        if value not in schema.get("enum", [value]):
            yield f"{place}: {value!r} is none of {schema['enum']}"
        if kind in ("integer", "number") and value < schema.get("minimum", value):
            yield f"{place}: {value} is below {schema['minimum']}"
        if kind == "object":
            for name in schema.get("required", []):
                if name not in value:
                    yield f"{place}/{name} is missing"
            for name, inner in schema.get("properties", {}).items():
                if name in value:
                    yield from self.faults(value[name], inner, f"{place}/{name}")
        if kind == "array":
            for i, one in enumerate(value):
                yield from self.faults(one, schema["items"], f"{place}/{i}")


class Contract(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster("link.request_timeout=1s").__enter__()
        self.addCleanup(lambda: self.cluster.__exit__(None, None, None))
        client = json.loads((self.cluster.dir / "client.json").read_text())
        self.api = client["api"]
        self.token = (self.cluster.dir / client["token_file"]).read_text().strip()
        self.schemas = Schemas(self.ask("/v1/openapi.json")[1])

    def ask(self, path):
        asked = urllib.request.Request(self.api + path,
                                       headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def submit(self, *words):
        return int(self.cluster.run("submit", "--quiet", *words).stdout)

    def check_everything(self, jobs, when):
        """All that can be looked at, by the document and by the command."""
        paths = [("/v1/jobs", "/v1/jobs?state=all", ["jobs"]),
                 ("/v1/instances", "/v1/instances", ["instances"]),
                 ("/v1/usage", "/v1/usage", ["top"]),
                 ("/v1/nodes", "/v1/nodes", ["nodes"]), ("/v1/status", "/v1/status", ["status"]),
                 ("/v1/history", "/v1/history?hours=2", None),
                 ("/v1/decisions", "/v1/decisions", ["decisions"]),
                 ("/v1/services", "/v1/services", ["services"]),
                 ("/v1/cost/today", "/v1/cost/today", None)]
        paths += [("/v1/cost", f"/v1/cost?by={by}", ["cost", "--by", by])
                  for by in ("user", "job", "instance")]
        rented = self.ask("/v1/instances")[1].get("instances", [])
        paths += [("/v1/instances/{id}", f"/v1/instances/{one['instance']}",
                   ["instance", one["instance"]]) for one in rented[:1]]
        for job in jobs:
            paths += [("/v1/jobs/{id}", f"/v1/jobs/{job}", ["job", job]),
                      ("/v1/jobs/{id}", f"/v1/jobs/{job}?attempts=1", ["job", job, "--attempts"]),
                      ("/v1/jobs/{id}/explain", f"/v1/jobs/{job}/explain", ["explain", job]),
                      ("/v1/jobs/{id}/tasks/{index}/log", f"/v1/jobs/{job}/tasks/0/log",
                       ["logs", job, "--task", 0])]
        for path, asked, words in paths:
            status, answer = self.ask(asked)
            faults = list(self.schemas.faults(answer, self.schemas.of(path, "get", status)))
            self.assertEqual(faults, [], f"{asked} {when}: {answer}")
            if words is None:
                continue
            done = self.cluster.run(*words, "--retry-for", "0s", check=False)
            # What can be reached may have changed meanwhile.
            self.assertIn(done.returncode, (0, 1), f"{words} {when}: {done.stderr}")
            self.assertNotIn("of Muster's API", done.stderr, f"{words} {when}")

    def metrics_of(self, job):
        """Of its one task; None while nobody answers."""
        shown = self.cluster.run("job", job, "--json", check=False)
        tasks = json.loads(shown.stdout)["tasks"] if shown.returncode == 0 else []
        return tasks[0]["metrics"] if tasks else None

    def check_metrics(self, over, runs):
        """What the two tasks report of themselves is shown, and has figures while it runs."""
        cluster = self.cluster
        cluster.wait_until("metrics of a task that is over are shown",
                           lambda: self.metrics_of(over) == {"accuracy": 0.5})
        cluster.wait_until("those of one that runs are shown", lambda: self.metrics_of(runs) == {
            "loss": -0.25, "p99_ms": 12.5})
        self.assertIn("reports loss -0.25, p99_ms 12.5", cluster.run("job", runs).stdout)
        asked = urllib.request.Request(self.api + "/metrics",
                                       headers={"Authorization": f"Bearer {self.token}"})

        def figures():
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return re.findall(r'muster_reported_max{name="(\w+)".*} (\S+)',
                                  answer.read().decode())
        cluster.wait_until("/metrics has them",
                           lambda: figures() == [("loss", "-0.25"), ("p99_ms", "12.5")])

    def test_every_answer_has_its_shape_whoever_is_silent(self):
        cluster = self.cluster
        # A number that is reported right before the end is not lost.
        over = self.submit("--", "/bin/sh", "-c", f"{MUSTER} progress --metric accuracy=0.5")
        failed = self.submit("--retries", "0", "--", "false")
        cluster.wait_over([over, failed])
        report = f"{MUSTER} progress 1 --metric p99_ms=12.5 --metric loss=-0.25"
        runs = self.submit("--cpus", "0.5", "--memory", "0.2", "--", "/bin/sh", "-c",
                           f"{report} && exec sleep 600")
        cluster.wait_until("it runs", lambda: cluster.job(runs)["running"] == 1)
        waits = self.submit("--tasks", "64", "--", "sleep", "600")
        held = self.submit("--", "sleep", "600")
        cluster.run("hold", held)
        elastic = self.submit("--elastic", "1-3", "--progress-ends", "9", "--", "sleep", "600")
        jobs = [over, failed, runs, waits, held, elastic]
        self.check_everything(jobs, "while all answer")
        self.check_metrics(over, runs)
        masters = {name: cluster.node(name) for name in ("n2", "n3")}
        for name, pid in masters.items():
            cluster.signal(pid, signal.SIGSTOP)
            self.check_everything([over, runs, waits], f"while {name} is stopped")
            cluster.signal(pid, signal.SIGCONT)
            cluster.wait_until(f"{name} is back", lambda: cluster.ask("status")["complete"])
        for pid in masters.values():
            cluster.signal(pid, signal.SIGSTOP)
        on_its_way = self.submit("--", "true")
        self.check_everything([on_its_way, runs], "while both masters are stopped")
        cluster.signal(masters["n2"], signal.SIGCONT)
        self.check_everything([on_its_way, runs], "while one is back")
        cluster.signal(masters["n3"], signal.SIGCONT)
        cluster.signal(cluster.node("n1"), signal.SIGSTOP)
        self.check_everything([on_its_way, runs], "while a site is stopped")
        cluster.signal(cluster.node("n1"), signal.SIGCONT)
        cluster.signal(cluster.node("n4"), signal.SIGSTOP)
        self.check_everything([on_its_way, runs], "while the cloud is stopped")
        cluster.signal(cluster.node("n4"), signal.SIGCONT)
        for name in ("n2", "n3"):
            cluster.kill(cluster.node(name))
        cluster.wait_until("the masters are back", lambda: cluster.ask("status")["complete"])
        self.check_metrics(over, runs)


if __name__ == "__main__":
    unittest.main()
