"""What a stop means: for whoever asked for it, and for a program that exits with 0 when asked."""

import subprocess
import unittest

from cluster import Cluster, MUSTER, assert_golden

# Graceful shutdown, as services, images for Kubernetes and handlers in Python do it.
SERVE = """trap 'exit 0' TERM
echo ready >> "{ready}"
[ "$MUSTER_ATTEMPT" = 1 ] || exit 0
for i in $(seq 1200); do sleep 0.1; done"""
SMALL = ("--cpus", "0.1", "--memory", "0.2")


class Stops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster("worker.stop_grace=20s", "worker.isolation=none", nodes=1).__enter__()
        # Whoever runs the tasks may write there.
        cls.marks = cls.cluster.dir / "marks"
        cls.marks.mkdir()
        cls.marks.chmod(0o777)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__(None, None, None)

    def serve(self, *flags):
        """A job whose first attempt is ready to be stopped."""
        ready = self.marks / self.id()
        job = self.cluster.shell(SERVE.format(ready=ready), *SMALL, *flags)
        self.cluster.wait_until("it is ready", ready.exists)
        return job

    def task(self, job, index=0):
        return self.cluster.job(job)["tasks"][index]

    def test_who_exits_with_0_when_its_instance_is_taken_is_started_again(self):
        job = self.serve("--spot")
        self.cluster.run("interrupt", self.task(job)["instance"])
        self.assertEqual(self.cluster.wait_over([job])[int(job)]["state"], "completed")
        self.assertEqual((self.task(job)["attempt"], self.task(job)["moves"]), (2, 1))

    def test_who_says_that_0_means_done_is_done(self):
        job = self.serve("--done-on-stop")
        self.cluster.run("drain", self.task(job)["instance"])
        self.assertEqual(self.cluster.wait_over([job])[int(job)]["state"], "completed")
        self.assertEqual(self.task(job)["attempt"], 1)

    def test_who_exits_with_0_when_it_is_cancelled_is_cancelled_and_waiting_ends_with_130(self):
        ready = self.marks / "ready-wait"
        waiting = subprocess.Popen(
            [MUSTER, "submit", "--wait", "--cluster", self.cluster.dir, "--name", "waited", *SMALL,
             "--", "sh", "-c", SERVE.format(ready=ready)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.cluster.wait_until("it is ready", ready.exists)
        jobs = self.cluster.ask("jobs", "--state", "active")["jobs"]
        [job] = [one["job"] for one in jobs if one["name"] == "waited"]
        self.cluster.run("cancel", str(job))
        out, _ = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 130, out)
        self.assertEqual(self.cluster.job(job)["state"], "cancelled")
        self.assertEqual(self.task(job)["phase"], "stopped")

    def test_an_array_of_which_half_ran_when_it_was_cancelled_is_cancelled(self):
        job = self.serve("--array", "0-3%2")
        self.cluster.wait_until("two run", lambda: self.cluster.job(job)["running"] == 2)
        self.cluster.run("cancel", job)
        over = self.cluster.wait_over([job])[int(job)]
        self.assertEqual((over["state"], over["finished"]), ("cancelled", 0))

    def test_who_removes_its_own_folder_comes_to_an_end_and_says_why(self):
        job = self.cluster.shell('rm -rf "$MUSTER_ATTEMPT_DIR"; exit 0', *SMALL, "--time", "20s")
        self.assertEqual(self.cluster.wait_over([job])[int(job)]["state"], "failed")
        failure = self.task(job)["last_failure"]
        self.assertEqual(failure["kind"], "exit code")
        assert_golden(self, failure["text"])

    def test_without_its_folder_a_task_can_be_cancelled_and_has_its_time_limit(self):
        gone = 'rm -rf "$MUSTER_ATTEMPT_DIR"; touch "{}"; while :; do sleep 0.1; done'
        ready = self.marks / "ready-gone"
        job = self.cluster.shell(gone.format(ready), *SMALL)
        limited = self.cluster.shell(gone.format(self.marks / "other"), *SMALL, "--time",
                                     "2s")
        self.cluster.wait_until("the folder is gone", ready.exists)
        self.cluster.run("cancel", job)
        over = self.cluster.wait_over([job, limited])
        self.assertEqual(over[int(job)]["state"], "cancelled")
        self.assertEqual(self.task(limited)["last_failure"]["kind"], "time limit")

    def test_failures_that_are_not_worth_it_are_not_tried_again(self):
        flags = ("--retries", "2", "--retry-on", "75,signal")
        final = self.cluster.shell("exit 2", *SMALL, *flags)
        flaky = self.cluster.shell('[ "$MUSTER_ATTEMPT" = 3 ] || exit 75', *SMALL, *flags)
        over = self.cluster.wait_over([final, flaky])
        self.assertEqual((over[int(final)]["state"], self.task(final)["attempt"]), ("failed", 1))
        self.assertEqual((over[int(flaky)]["state"], self.task(flaky)["attempt"]), ("completed", 3))


if __name__ == "__main__":
    unittest.main()
