"""What becomes of a job's tasks when one of them fails, on clusters of real processes."""

import os
import pathlib
import tempfile
import time
import unittest

from cluster import Cluster, assert_golden, plain

SMALL = ["--memory", "0.2", "--cpus", "0.5"]


class Arrays(unittest.TestCase):
    def assert_ends(self, cluster, job, state, phases):
        """The job's state, and how each of its tasks has ended."""
        cluster.wait_over([job])
        shown = cluster.job(job)
        self.assertEqual(shown["state"], state, shown)
        self.assertEqual({task["task"]: task["phase"] for task in shown["tasks"]}, phases)
        return shown

    def submit_and_wait(self, cluster, script, *flags):
        """The exit code, the number of the job and what was said."""
        done = cluster.run("submit", "--wait", *SMALL, *flags, "--", "/bin/sh", "-c", script,
                           check=False)
        return done.returncode, done.stdout.split()[1].rstrip(":"), done.stderr

    def test_with_one_master(self):
        with Cluster(nodes=1) as cluster:
            self.one_bad_point(cluster)
            self.a_gang_ends_together(cluster)
            self.max_fails(cluster)
            self.what_cannot_start(cluster)
            self.scripts_as_they_were(cluster)
            self.what_never_fits(cluster)
            self.a_stopping_job_is_not_held(cluster)
            self.columns_are_true(cluster)

    def test_with_several_masters(self):
        with Cluster("site.masters_per_job=3", "site.load_every=0.2s") as cluster:
            self.one_bad_point(cluster)
            self.max_fails_over_masters(cluster)

    def one_bad_point(self, cluster):
        code, job, said = self.submit_and_wait(
            cluster, 'test "$MUSTER_TASK_INDEX" -ne 2 || exit 3; sleep 1', "--array", "0-4")
        self.assertEqual(code, 3, said)
        assert_golden(self, plain(said, job=job))
        phases = {index: "finished" for index in (0, 1, 3, 4)} | {2: "failed"}
        shown = self.assert_ends(cluster, job, "failed", phases)
        self.assertEqual((shown["finished"], shown["failed"], shown["exit_code"]), (4, 1, 3))
        self.assertEqual(shown["failed_task"], 2)
        self.assertEqual([task["exit_code"] for task in shown["tasks"]], [0, 0, 3, 0, 0])
        self.assertEqual(shown["failed_attempts"], 1, "it is not tried again")
        self.assertEqual(shown["tasks"][2]["last_failure"],
                         {"kind": "exit code", "text": "exit code 3"})
        self.assertRegex(cluster.run("job", job).stdout, r"\n +2  failed .* exit code 3\n")

        again = cluster.run("resubmit", "--failed", "--quiet", job).stdout.strip()
        self.assertIn(f"resubmitted from job {job}", cluster.run("job", again).stdout)
        shown = self.assert_ends(cluster, again, "failed", {2: "failed"})
        self.assertEqual(shown["exit_code"], 3)
        whole = cluster.run("resubmit", "--quiet", job).stdout.strip()
        self.assert_ends(cluster, whole, "failed", phases)

    def a_gang_ends_together(self, cluster):
        code, job, said = self.submit_and_wait(
            cluster, 'test "$MUSTER_TASK_INDEX" -ne 1 || { sleep 2; exit 5; }; exec sleep 600',
            "--gang", "--tasks", "4", "--stop-grace", "1s")
        self.assertEqual(code, 5, "not the 143 of those that were stopped: " + said)
        shown = self.assert_ends(cluster, job, "failed",
                                 {0: "stopped", 1: "failed", 2: "stopped", 3: "stopped"})
        self.assertEqual([task["exit_code"] for task in shown["tasks"]], [143, 5, 143, 143])
        self.assertEqual([task["moves"] for task in shown["tasks"]], [0] * 4)

    def max_fails(self, cluster):
        script = 'test "$MUSTER_TASK_INDEX" -gt 1 || exit 4; exec sleep 600'
        code, job, said = self.submit_and_wait(cluster, script, "--array", "0-3",
                                               "--max-fails", "1", "--stop-grace", "1s")
        self.assertEqual(code, 4, said)
        assert_golden(self, plain(said, job=job))
        self.assert_ends(cluster, job, "failed",
                         {0: "failed", 1: "failed", 2: "stopped", 3: "stopped"})
        again = cluster.run("resubmit", "--failed", "--quiet", job).stdout.strip()
        shown = self.assert_ends(cluster, again, "failed",
                                 {0: "failed", 1: "failed", 2: "stopped", 3: "stopped"})
        self.assertEqual(shown["max_fails"], 1)

    def max_fails_over_masters(self, cluster):
        """No master has more than one of the tasks that fail."""
        script = 'test "$MUSTER_TASK_INDEX" -gt 1 || exit 4; exec sleep 600'
        begin = time.monotonic()
        code, job, said = self.submit_and_wait(cluster, script, "--array", "0-5",
                                               "--max-fails", "1", "--stop-grace", "1s")
        self.assertLess(time.monotonic() - begin, 300, "its tasks were stopped")
        self.assertEqual(code, 4, said)
        assert_golden(self, plain(said, job=job))
        phases = {task["task"]: task["phase"] for task in cluster.job(job)["tasks"]}
        self.assertEqual((phases[0], phases[1]), ("failed", "failed"))
        self.assertTrue({phases[index] for index in (2, 3, 4, 5)} <= {"stopped", "not run"})

    def what_cannot_start(self, cluster):
        done = cluster.run("submit", "--wait", "--retries", "5", *SMALL, "--", "./program",
                           check=False)
        self.assertEqual(done.returncode, 127, done.stderr)
        shown = cluster.job(done.stdout.split()[1].rstrip(":"))
        task = shown["tasks"][0]
        self.assertEqual((task["phase"], task["failures"]), ("failed", 1))
        self.assertEqual(task["last_failure"]["kind"], "cannot start")
        assert_golden(self, shown["reason"])
        before = cluster.ask("jobs", "--limit", "10000")["jobs"]
        for words, field in ((["--workdir", "/no/such", "--", "pwd"], "work_dir"),
                             (["--workdir", "/etc/passwd", "--", "pwd"], "work_dir"),
                             (["--", "/nowhere/program"], "command"), (["--", "/etc"], "command")):
            refused = cluster.run("submit", *words, check=False)
            self.assertEqual(refused.returncode, 1, refused.stderr)
            assert_golden(self, refused.stderr, at=field)
        self.assertEqual(cluster.ask("jobs", "--limit", "10000")["jobs"], before)

    def scripts_as_they_were(self, cluster):
        """An edit after the submission changes nothing, also of what is submitted again."""
        with tempfile.TemporaryDirectory(prefix="mw", dir="/tmp") as name:
            os.chmod(name, 0o777)
            script = pathlib.Path(name, "a.sh")
            script.write_text("#!/bin/sh\necho first $1 in $(pwd) for ${MUSTER_USER:?} as ${USER:?}"
                              " with ${LOGNAME:?}\n")
            job = cluster.run("submit", "-q", *SMALL, "--array", "1-2", "--workdir",
                              f"{name}/job-%j/%a", script, "x").stdout.strip()
            script.write_text("#!/bin/sh\necho second\n")
            cluster.wait_over([job])
            again = cluster.run("resubmit", "--quiet", job).stdout.strip()
            cluster.wait_over([again])
            for number in (job, again):
                for index in (1, 2):
                    said = cluster.run("logs", number, "--task", str(index)).stdout
                    self.assertIn(f"first x in {name}/job-{number}/{index} for ", said)

    def what_never_fits(self, cluster):
        before = cluster.ask("jobs", "--limit", "10000")["jobs"]
        refused = cluster.run("submit", "--gpus", "1000", "--", "true", check=False)
        self.assertEqual(refused.returncode, 1)
        assert_golden(self, refused.stderr)
        self.assertEqual(cluster.ask("jobs", "--limit", "10000")["jobs"], before)

    def a_stopping_job_is_not_held(self, cluster):
        job = cluster.shell("trap '' TERM; echo up; while true; do sleep 1; done", *SMALL,
                            "--stop-grace", "5s")
        cluster.wait_until("it runs", lambda: cluster.run("logs", job, check=False).stdout != "")
        cluster.run("cancel", job)
        for order in ("hold", "release"):
            done = cluster.run(order, job, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            assert_golden(self, plain(done.stderr, job=job))
        cluster.wait_over([job])
        done = cluster.run("hold", job, check=False)
        assert_golden(self, plain(done.stderr, job=job))

    def columns_are_true(self, cluster):
        held = cluster.shell("exec sleep 600", "--name", "never-ended", *SMALL, "--array", "0-1%1",
                             "--stop-grace", "1s")
        cluster.run("cancel", held)
        cluster.wait_over([held])
        line = next(line for line in cluster.run("jobs").stdout.splitlines()
                    if "never-ended" in line)
        self.assertRegex(line, r" cancelled +2 +0 +0 +0 +0 +- ")
        for word in ("-1", "x", "1.5", ""):
            wrong = cluster.run("job", word, check=False)
            self.assertEqual(wrong.returncode, 2, wrong.stderr)
            self.assertIn("whole number", wrong.stderr)
        nothing = cluster.run("resubmit", "--failed", "999", check=False)
        self.assertEqual(nothing.returncode, 1)
        assert_golden(self, nothing.stderr)


if __name__ == "__main__":
    unittest.main()
