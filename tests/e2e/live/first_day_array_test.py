"""What a cluster as `muster up` makes it does with far more work than its machine can carry."""

import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import unittest

from cluster import Cluster, MUSTER, assert_golden, line_with


class FreshCluster(Cluster):
    """With the defaults of `muster up`, but for shorter rounds."""

    def __init__(self, delay_scale=0.002):
        super().__init__(policy="eva,period_s=0.5,eager", nodes=None, masters=None,
                         delay_scale=delay_scale)

    def caps(self):
        """What the cluster file gives each master."""
        text = (self.dir / "cluster.toml").read_text()
        return {key: float(value) for key, value in
                re.findall(r"^(max_instances|max_usd_h|max_usd_day) = ([0-9.]+)", text, re.M)}


class Most(threading.Thread):
    """Looks how many instances and workers there are at once."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.instances = self.workers = 0
        self.usd_h = 0.0
        self.over = False

    def run(self):
        while not self.over:
            status = self.cluster.run("status", "--json", check=False)
            if status.returncode == 0:
                status = json.loads(status.stdout)
                count = sum(kind["count"] for kind in status["instances"])
                self.instances = max(self.instances, count)
                self.usd_h = max(self.usd_h, status["usd_h"])
            self.workers = max(self.workers, len(self.cluster.workers()))
            time.sleep(0.3)


class ManyTasks(unittest.TestCase):
    TASKS = 10000

    def test_an_array_of_ten_thousand_tasks_stays_within_the_caps_and_ends_cleanly(self):
        with FreshCluster() as cluster:
            caps = cluster.caps()
            self.assertEqual(set(caps), {"max_instances", "max_usd_h", "max_usd_day"})
            most = Most(cluster)
            most.start()
            array = int(cluster.run("submit", "--quiet", "--array", f"0-{self.TASKS - 1}", "--cpus",
                                    "0.1", "--memory", "0.05", "--", "true").stdout)
            cluster.wait_until("it runs", lambda: cluster.job(array)["finished"] > 0)
            other = cluster.shell("sleep 600", "--cpus", "0.1", "--memory", "0.05")
            cluster.run("cancel", other)
            self.assertEqual(cluster.job(other)["state"], "cancelled")
            cluster.run("cancel", array)
            self.assertEqual(cluster.wait_over([array])[array]["state"], "cancelled")
            cluster.wait_until("all instances are given back",
                               lambda: cluster.ask("instances")["instances"] == [])
            most.over = True
            most.join()
            self.assertGreater(most.instances, 0)
            self.assertLessEqual(most.instances, caps["max_instances"])
            self.assertLessEqual(most.workers, caps["max_instances"])
            self.assertLessEqual(most.usd_h, caps["max_usd_h"])
            cluster.run("down", "--dir", cluster.dir)
            self.assertEqual(cluster.workers() + cluster.shims(), [])
            self.assertIsNone(cluster.keeper())
            self.assertEqual(cluster.nodes(), {})

    def test_what_down_has_ended_costs_nothing_more_and_is_not_started_again(self):
        # Slow enough that instances are rented and have no machine yet.
        with FreshCluster(delay_scale=0.05) as cluster:
            cluster.shell("sleep 600", "--tasks", "40", "--memory", "0.2")
            cluster.wait_until("there are instances",
                               lambda: len(cluster.ask("instances")["instances"]) >= 4)
            rented = {one["instance"]: one for one in cluster.ask("instances")["instances"]}
            cluster.run("down", "--dir", cluster.dir)
            self.assertEqual(cluster.workers(), [])
            ended = time.time()
            time.sleep(5)
            cluster.run("up", "--dir", cluster.dir)
            cluster.wait_until("the old ones are gone", lambda: not any(
                one["instance"] in rented for one in cluster.ask("instances")["instances"]))
            for part in cluster.ask("cost", "--by", "instance")["by"]:
                instance = int(part["name"].split()[0])
                if instance in rented:
                    one = rented[instance]
                    self.assertLessEqual(part["usd"], one["usd_h"] / 3600 *
                                         (ended - one["requested_s"]) + 1e-9, one)
                    folder = cluster.dir / f"state/n3/machines/instance-{instance}"
                    self.assertFalse(folder.exists(), "no machine is made for it")


class Caps(unittest.TestCase):
    def test_are_shown_by_up_and_raised_by_one_flag(self):
        with FreshCluster() as cluster:
            self.assertGreater(cluster.caps()["max_instances"], 0)
            cluster.run("down", "--dir", cluster.dir)
            told = cluster.run("up", "--dir", cluster.dir, "--caps", "instances=7,usd_day=30")
            self.assertRegex(told.stdout, r"Caps: 7 instances, \$[0-9.]+ an hour, \$30.00 a day\n")
            self.assertIn("  n2   master m0\n  n3   cloud\n", told.stdout)
            self.assertIn("raise them with --caps", told.stdout)
            self.assertIn("cloud.max_instances", told.stdout)
            cluster.run("down", "--dir", cluster.dir)
            told = cluster.run("up", "--dir", cluster.dir, "--caps", "none")
            assert_golden(self, line_with(told.stdout, "Caps: "))
            self.assertIn("no limit instances", cluster.run("status").stdout)

    def test_a_cluster_of_an_earlier_version_gets_them(self):
        with FreshCluster() as cluster:
            cluster.run("down", "--dir", cluster.dir)
            file = cluster.dir / "cluster.toml"
            file.write_text(re.sub(r"^max_.*\n", "", file.read_text(), flags=re.M))
            refused = cluster.run("node", "--config", file, "--name", "n2", check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn('caps = "none"', refused.stderr)
            cluster.run("down", "--dir", cluster.dir)
            cluster.run("up", "--dir", cluster.dir)
            self.assertEqual(set(cluster.caps()), {"max_instances", "max_usd_h", "max_usd_day"})

    def test_a_flag_that_says_nothing_starts_nothing(self):
        with tempfile.TemporaryDirectory(prefix="mu", dir="/tmp") as folder:
            place = pathlib.Path(folder) / "cluster"
            for words in ("instances=0", "usd=3", "instances=1"):
                told = subprocess.run([MUSTER, "up", "--dir", place, "--masters", "2", "--caps",
                                       words],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(told.returncode, 2, told.stderr)
                self.assertIn("--caps", told.stderr)
                self.assertFalse((place / "keeper.lock").exists())


if __name__ == "__main__":
    unittest.main()
