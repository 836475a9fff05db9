"""A service with a goal: what a probe measures, and how many replicas follow from it."""

import pathlib
import tempfile
import unittest

from cluster import Cluster

SPEC = """
name = "web"
command = ["sleep", "1000"]
cpus = 0.2
memory_gib = 0.1

[service]
healthy_for_s = 0.5

[service.goal]
metric = "p99_ms"
at_most = 50
probe = ["cat", "{load}"]
every_s = 1
timeout_s = 1

[service.scale]
min = 1
max = 3
"""


class ServiceGoal(unittest.TestCase):
    def test_a_goal_chooses_the_number_of_replicas(self):
        cluster = Cluster("master.metrics_interval=1s", policy="eva,period_s=0.5", nodes=3)
        cluster.flags += ["--masters", "1", "--sites", "1"]
        with tempfile.TemporaryDirectory() as folder, cluster:
            load = pathlib.Path(folder) / "load"
            spec = pathlib.Path(folder) / "web.toml"
            spec.write_text(SPEC.format(load=load), encoding="utf-8")

            def web():
                return cluster.ask("service", "web")["services"][0]

            with self.subTest("a goal that nothing measures is refused"):
                wrong = pathlib.Path(folder) / "wrong.toml"
                wrong.write_text(spec.read_text(encoding="utf-8").replace("probe", "# probe"),
                                 encoding="utf-8")
                self.assertEqual(cluster.run("submit", wrong, check=False).returncode, 2)

            cluster.run("submit", "--quiet", spec)
            with self.subTest("a probe without a number has measured nothing"):
                load.write_text("lots\n", encoding="utf-8")
                cluster.wait_until("the replica says so", lambda: any(
                    "lots" in each["trouble"] for each in web()["replicas"]))
                self.assertIsNone(web()["measured"])
                self.assertEqual(web()["wanted"], 1)

            with self.subTest("a number beyond the goal brings another replica"):
                load.write_text("100\n", encoding="utf-8")
                cluster.wait_until("the number is measured", lambda: web()["measured"] == 100)
                cluster.wait_until("two replicas are ready", lambda: web()["ready"] == 2)
                self.assertEqual(web()["at_most"], 50)
                self.assertIn("scaled from 1 to 3", cluster.run("service", "web").stdout)

            with self.subTest("its user may choose within the bounds alone"):
                self.assertEqual(cluster.run("scale", "web", "5", check=False).returncode, 1)
                cluster.run("scale", "web", "3")
                cluster.wait_until("three replicas are ready", lambda: web()["ready"] == 3)


if __name__ == "__main__":
    unittest.main()
