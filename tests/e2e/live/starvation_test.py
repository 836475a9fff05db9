"""A job that is larger than the holes that small ones leave, under a cap on instances."""

import re
import threading
import unittest

from cluster import Cluster, assert_golden, without_figures

POLICY = "muster,period_s=0.5,eager,free_wait_s=0"


class UnderACap(unittest.TestCase):
    def starts_beside_small_ones(self, *words, starve_after):
        with Cluster("master.max_instances=1", f"master.starve_after={starve_after}", nodes=1,
                     policy=POLICY) as cluster:
            small = ["--cpus", "1", "--memory", "0.2"]
            over = threading.Event()

            def stream():
                while not over.is_set():
                    cluster.shell("sleep 1", *small)

            for _ in range(3):
                cluster.shell("sleep 1", *small)
            cluster.wait_until("one runs", lambda: any(
                job["state"] == "running" for job in cluster.ask("jobs")["jobs"]))
            said = []
            big = cluster.shell("sleep 1", "--cpus", "4", "--memory", "0.2", *words)
            stream_of_jobs = threading.Thread(target=stream)
            stream_of_jobs.start()
            try:
                def is_over():
                    said.append(cluster.run("explain", big).stdout)
                    return cluster.job(big)["state"] == "completed"

                cluster.wait_until("it is over", is_over, 60)
            finally:
                over.set()
                stream_of_jobs.join()
            return "".join(said)

    def test_a_gang_beyond_it_is_told_that_it_can_never_run(self):
        with Cluster("master.max_instances=2", masters=1, nodes=1) as cluster:
            told = cluster.run("submit", "--quiet", "--gang", "--tasks", "3",
                               "--distinct-instances", "--cpus", "1", "--", "true")
            assert_golden(self, told.stderr)
            job = told.stdout.strip()
            never = "never under the caps as they are: instance cap (asked 3, available 2)"
            cluster.wait_until("a round has seen it",
                               lambda: never in cluster.run("explain", job).stdout)
            plan = cluster.run("plan", "--gang", "--tasks", "3", "--distinct-instances", "--cpus",
                               "1", "--", "true", check=False)
            self.assertEqual(plan.returncode, 1)
            self.assertIn(never, plan.stdout)
            fits = cluster.run("submit", "--quiet", "--gang", "--tasks", "2",
                               "--distinct-instances", "--cpus", "1", "--", "true")
            self.assertEqual(fits.stderr, "")

    def test_one_of_higher_priority_starts_as_soon_as_the_instance_has_emptied(self):
        self.starts_beside_small_ones("--priority", "100", starve_after="1h")

    def test_one_that_is_old_enough_does_and_explain_says_what_it_waits_behind(self):
        said = self.starts_beside_small_ones(starve_after="5s")
        waits = re.findall(r"it waits for room since[^;\n]*", said)
        behind = next((each for each in waits if "younger" in each), said)
        assert_golden(self, without_figures(behind))


if __name__ == "__main__":
    unittest.main()
