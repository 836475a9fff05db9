"""A service whose size its policy chooses: each replica gets a smaller one while another serves."""

import pathlib
import tempfile
import unittest

from cluster import Cluster

SPEC = """
name = "web"
command = ["sleep", "1000"]
cpus = 4
memory_gib = 0.1

[service]
replicas = 2
healthy_for_s = 0.2

[service.goal]
metric = "p99_ms"
at_most = 60
probe = ["/bin/sh", "-c", "echo $((100 / MUSTER_CPUS))"]
every_s = 1
timeout_s = 1

[service.size]
least_cpus = 1
"""


class ServiceSize(unittest.TestCase):
    def test_replicas_get_the_cheapest_size_that_meets_the_goal(self):
        cluster = Cluster("master.metrics_interval=1s",
                          policy="lrasched,eager,period_s=0.5,probe_for_s=0.5", nodes=3)
        cluster.flags += ["--masters", "1", "--sites", "1"]
        with tempfile.TemporaryDirectory() as folder, cluster:
            spec = pathlib.Path(folder) / "web.toml"
            spec.write_text(SPEC, encoding="utf-8")

            def web():
                return cluster.ask("service", "web")["services"][0]

            def sizes():
                return [each["cpus"] for each in web()["replicas"]]

            with self.subTest("a size without a goal, and one that is no smaller, are refused"):
                wrong = pathlib.Path(folder) / "wrong.toml"
                wrong.write_text('name = "a"\ncommand = ["true"]\n[service]\n'
                                 "size = { least_cpus = 2 }\n", encoding="utf-8")
                refused = cluster.run("submit", wrong, check=False)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("wrong.toml:4", refused.stderr)

            cluster.run("submit", "--quiet", spec)
            cluster.wait_until("both are ready", lambda: web()["ready"] == 2)
            fewest = []

            def settled():
                now = web()
                fewest.append(now["ready"])
                return [each["cpus"] for each in now["replicas"]] == [2, 2]

            cluster.wait_until("both have two cores", settled)
            self.assertTrue(web()["sized"])
            self.assertGreaterEqual(min(fewest), 2, "each stays until another one is ready")
            self.assertIn("2 x 0.1 GiB", cluster.run("service", "web").stdout)
            with self.subTest("decisions name sizes by their cores and memory"):
                said = cluster.run("decisions", "--details").stdout
                self.assertIn("25 at 4 cores and 0.1 GiB", said)
                self.assertIn("one tries 2 cores and 0.1 GiB", said)
            with self.subTest("the size stays over a restart of the master"):
                cluster.run("down", "--dir", cluster.dir)
                cluster.up()
                cluster.wait_until("both are ready", lambda: web()["ready"] == 2)
                self.assertEqual(sizes(), [2, 2])


if __name__ == "__main__":
    unittest.main()
