"""A service that is changed while clients use it: not one of their requests fails."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from cluster import MUSTER, Cluster

EXAMPLE = pathlib.Path(__file__).parents[3] / "docs/examples/service"

SPEC = """
name = "web"
command = {command}
cpus = 0.3
memory_gib = 0.2

[service]
replicas = 2
ports = ["http"]
ready = {{ http = "/healthz", port = "http", every_s = 0.2, timeout_s = 5 }}
start_within_s = 60
healthy_for_s = 0.5
update_within_s = {within_s}
drain_s = 2
"""


class ServiceChanges(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster("worker.stop_grace=5s", policy="eva,period_s=0.5", nodes=3)
        self.cluster.flags += ["--masters", "1", "--sites", "1"]

    def spec(self, version, within_s=120, command=None):
        command = command or [sys.executable, str(EXAMPLE / "server.py"), "--warm-s", "0.5",
                              "--work-ms", "1", "--version", version]
        file = self.cluster.dir / f"web-{version}.toml"
        file.write_text(SPEC.format(command=json.dumps(command), within_s=within_s),
                        encoding="utf-8")
        return file

    def revisions(self):
        return self.cluster.ask("service", "web")["services"]

    def newest(self):
        return max(self.revisions(), key=lambda each: each["revision"])

    def wait_steady(self, replicas, revision):
        def is_steady():
            all_of_it = self.revisions()
            one = all_of_it[0]
            return (len(all_of_it) == 1 and one["standing"] == "steady" and
                    one["ready"] == replicas and one["revision"] == revision)
        self.cluster.wait_until(f"revision {revision} has {replicas} replicas", is_steady)

    def begin_load(self):
        places = self.cluster.dir / "places"
        follow = subprocess.Popen(
            [MUSTER, "endpoints", "web", "--follow", places],
            env={**os.environ, "MUSTER_CLUSTER": str(self.cluster.dir)},
            stderr=subprocess.DEVNULL)
        self.addCleanup(follow.wait)
        self.addCleanup(follow.kill)
        self.cluster.wait_until("the endpoints are written", lambda: places.exists())
        return subprocess.Popen(
            [sys.executable, EXAMPLE / "load.py", places, "--seconds", "600", "--rate", "30"],
            stdout=subprocess.PIPE, text=True)

    def test_no_request_fails_through_changes(self):
        with self.cluster:
            self.cluster.run("submit", "--quiet", self.spec("v1"))
            self.wait_steady(2, 1)
            load = self.begin_load()

            with self.subTest("a scale up"):
                self.cluster.run("scale", "web", "3", "--wait")
                self.wait_steady(3, 1)

            with self.subTest("a rolling update keeps the number of replicas"):
                self.cluster.run("update", "web", self.without_replicas("v2"), "--wait")
                self.wait_steady(3, 2)

            with self.subTest("an update that does not come about goes back by itself"):
                bad = self.cluster.run("update", "web",
                                       self.spec("bad", 4, ["sleep", "1000"]), "--wait",
                                       check=False)
                self.assertEqual(bad.returncode, 1, bad.stderr)
                self.wait_steady(3, 2)
                failed = self.newest()["failed_update"]
                self.assertEqual(failed, self.newest()["job"] + 1)
                why = self.cluster.run("explain", str(failed)).stdout
                self.assertIn("given up: ", why)
                self.assertIn("/healthz", why)

            with self.subTest("a drain of an instance"):
                where = {each["instance"] for each in self.newest()["replicas"]}
                self.cluster.run("drain", str(min(where)))
                self.cluster.wait_until("no replica is there", lambda: min(where) not in {
                    each["instance"] for each in self.newest()["replicas"]})
                self.wait_steady(3, 2)

            with self.subTest("a scale down, and an earlier revision once more"):
                self.cluster.run("scale", "web", "1", "--wait")
                self.wait_steady(1, 2)
                self.cluster.run("update", "web", "--to", "1", "--wait")
                self.wait_steady(1, 4)  # the third was given up

            self.assertIsNone(load.poll())
            load.terminate()
            said = json.loads(load.communicate(timeout=60)[0])
            print(said, flush=True)
            self.assertEqual(said["failed"], 0, said["failures"])
            self.assertEqual(said["without_place"], 0)
            self.assertGreater(said["requests"], 100)

    def without_replicas(self, version):
        file = self.spec(version)
        text = file.read_text(encoding="utf-8").replace("replicas = 2\n", "")
        file.write_text(text, encoding="utf-8")
        return file


if __name__ == "__main__":
    unittest.main()
