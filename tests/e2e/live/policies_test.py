"""Policies that have no live test of their own, each on a cluster: jobs share an instance, the
store of the master tells their bound, and they end."""

import json
import os
import subprocess
import tempfile
import unittest

from cluster import Cluster, MUSTER, assert_golden, plain


class Policies(unittest.TestCase):
    def test_synergy_owl_and_ilp_run_live(self):
        for policy in ("synergy", "owl", "ilp"):
            with self.subTest(policy), Cluster(policy=f"{policy},period_s=0.5", nodes=1,
                                               masters=1) as cluster:
                self.run_two_jobs(cluster)

    def test_lrasched_and_its_baselines_run_services_whole(self):
        for policy in ("lrasched", "ffd", "lra-ilp"):
            with self.subTest(policy), Cluster("master.max_instances=2",
                                               policy=f"{policy},period_s=0.5", nodes=1,
                                               masters=1) as cluster:
                self.run_services(cluster)

    def run_services(self, cluster):
        small = self.submit_service(cluster, "small", 2)
        cluster.wait_until("both replicas run", lambda: cluster.job(small)["running"] == 2)
        large = self.submit_service(cluster, "large", 3)
        batch = cluster.shell("true")
        self.assertEqual(cluster.wait_over([batch], timeout=60)[int(batch)]["state"], "completed")
        cluster.wait_until("the large one is told why it waits", lambda: all(
            "cap" in task["why"] for task in cluster.ask("explain", large)["tasks"][:3]))
        self.assertEqual(cluster.job(large)["running"], 0)
        self.assertEqual(cluster.job(small)["running"], 2)

    @staticmethod
    def submit_service(cluster, name, replicas):
        """No two replicas share an instance."""
        spec = cluster.dir / f"{name}.toml"
        spec.write_text(f'name = "{name}"\ncommand = ["sleep", "1000"]\ncpus = 0.2\n'
                        f'memory_gib = 0.1\ndistinct_instances = true\n\n'
                        f'[service]\nreplicas = {replicas}\n', encoding="utf-8")
        return cluster.run("submit", "--quiet", spec).stdout.strip()

    def run_two_jobs(self, cluster):
        go = cluster.dir / "go"
        # An array, so that one round sees both.
        job = cluster.shell(f'while [ ! -e "{go}" ]; do sleep 0.1; done', "--array", "0-1")
        cluster.wait_until("both tasks run", lambda: cluster.job(job)["running"] == 2)
        tasks = cluster.ask("explain", job)["tasks"]
        self.assertEqual(len({task["instance"] for task in tasks}), 1, tasks)
        for task in tasks:
            self.assertIn(f"runs on instance {task['instance']} (", task["why"])
        self.check_bound(cluster)
        go.touch()
        over = cluster.wait_over([job], timeout=60)
        self.assertEqual(over[int(job)]["state"], "completed")

    def check_bound(self, cluster):
        """`muster bound --state` of the store, while its master runs and writes."""
        store = cluster.dir / "state/n0/master"
        told = json.loads(cluster.run("bound", "--state", store, "--json", "-").stdout)
        self.assertEqual((told["tasks"], told["instances"], told["kinds"]), (2, 1, 1))
        rented, bound = told["rented_usd_h"], told["bound_usd_h"]
        self.assertAlmostEqual(told["above"], rented / bound - 1, places=6)
        self.assertGreaterEqual(rented, told["whole_bound_usd_h"] - 1e-6)
        self.assertGreaterEqual(told["whole_bound_usd_h"], bound - 1e-6)
        # A store is only known as it is now.
        refused = cluster.run("bound", "--state", store, "--at", 5, check=False)
        self.assertEqual(refused.returncode, 1)
        assert_golden(self, plain(refused.stderr, store=store))

    def test_ilp_names_the_package_where_its_solver_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([MUSTER, "up", "--dir", os.path.join(folder, "c"), "--policy",
                                   "ilp", "--nodes", "1", "--masters", "1"],
                                  capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PATH": folder})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("coinor-cbc", done.stderr)


if __name__ == "__main__":
    unittest.main()
