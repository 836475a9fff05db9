"""A service on a live cluster: its replicas are found, restarted, and kept out of the way."""

import json
import pathlib
import sys
import time
import unittest
import urllib.request

from cluster import Cluster

SERVER = pathlib.Path(__file__).parents[3] / "docs/examples/service/server.py"

SPEC = """
name = "web"
command = ["{python}", "{server}", "--warm-s", "0.5", "--version", "v1"]
cpus = 0.3
memory_gib = 0.2

[service]
replicas = 2
ports = ["http"]
ready = {{ http = "/healthz", port = "http", every_s = 0.2, timeout_s = 5 }}
start_within_s = 60
drain_s = 0.5
"""


class Service(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster("worker.stop_grace=5s", "link.timeout=3s",
                               policy="eva,period_s=0.5", nodes=3)
        self.cluster.flags += ["--masters", "1", "--sites", "1"]

    def submit(self):
        spec = self.cluster.dir / "web.toml"
        spec.write_text(SPEC.format(python=sys.executable, server=SERVER), encoding="utf-8")
        return int(self.cluster.run("submit", "--quiet", spec).stdout)

    def endpoints(self):
        """The address and port of each ready replica, by its index."""
        done = self.cluster.run("endpoints", "web", "--json", check=False)
        # The master may just be starting.
        listed = json.loads(done.stdout)["endpoints"] if done.returncode == 0 else []
        return {each["index"]: (each["address"], each["ports"][0]["number"]) for each in listed}

    def wait_ready(self, replicas):
        self.cluster.wait_until(f"{replicas} replicas are ready",
                                lambda: len(self.endpoints()) == replicas)
        return self.endpoints()

    @staticmethod
    def get(place, path):
        address, port = place
        with urllib.request.urlopen(f"http://{address}:{port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def replica(self, index):
        return self.cluster.ask("service", "web")["services"][0]["replicas"][index]

    def test_replicas_are_found_restarted_and_ended(self):
        with self.cluster:
            self.cluster.up()
            job = self.submit()
            places = self.wait_ready(2)
            self.assertEqual(len(set(places.values())), 2, "no port is given twice")
            for place in places.values():
                self.assertTrue(self.get(place, "/work").startswith("v1 "))

            with self.subTest("a crash is a restart where it was"):
                before = self.replica(0)
                try:
                    self.get(places[0], "/stop")
                except OSError:
                    pass  # it ends without an answer
                self.cluster.wait_until("the crash is known",
                                        lambda: self.replica(0)["restarts"] > 0)
                self.assertEqual(self.wait_ready(2)[0], places[0])
                after = self.replica(0)
                self.assertEqual(after["attempt"], before["attempt"])
                self.assertEqual(after["exit_code"], 1)

            with self.subTest("a worker that is killed leaves its replicas alone"):
                self.cluster.kill(self.cluster.workers()[0])
                time.sleep(1)
                for place in places.values():
                    self.assertTrue(self.get(place, "/work").startswith("v1 "))
                self.assertEqual(self.wait_ready(2), places)

            with self.subTest("its name is taken while it runs"):
                again = self.cluster.run("submit", self.cluster.dir / "web.toml", check=False)
                self.assertEqual(again.returncode, 1, again.stderr)
                self.assertEqual(len(self.cluster.ask("services")["services"]), 1)

            with self.subTest("a replica of which everything is killed is placed again"):
                before = self.replica(1)["attempt"]
                keepers = self.cluster.replica_keepers()
                self.assertEqual(len(keepers), 2)
                for pid in keepers:
                    self.cluster.kill(pid)
                self.cluster.wait_until("both have another attempt", lambda: all(
                    self.replica(index)["attempt"] > before for index in (0, 1)))
                self.wait_ready(2)

            with self.subTest("a master that is killed finds its replicas again"):
                places = self.endpoints()
                master = next(node["node"] for node in self.cluster.ask("nodes")["nodes"]
                              if any(role.startswith("master") for role in node["roles"]))
                self.cluster.kill(self.cluster.node(master))
                for place in places.values():
                    self.assertTrue(self.get(place, "/work").startswith("v1 "))
                self.assertEqual(self.wait_ready(2), places)

            places = self.endpoints()
            with self.subTest("it ends when its user ends it, and is then no service any more"):
                self.cluster.run("cancel", str(job))
                self.cluster.wait_over([job])
                self.assertEqual(self.cluster.job(job)["state"], "cancelled")
                self.assertEqual(self.cluster.ask("services")["services"], [])
                for place in places.values():
                    with self.assertRaises(OSError):
                        self.get(place, "/work")


if __name__ == "__main__":
    unittest.main()
