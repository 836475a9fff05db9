"""Tasks that take all of the disk that the stores are on, through the command that users have."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import cluster as c


class SmallDisk(unittest.TestCase):
    def cluster_on(self, size, *settings):
        cluster = c.Cluster("worker.stop_grace=1s", "worker.disk_check=500ms", *settings, nodes=1)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711", "none",
                                  str(cluster.dir)], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"SKIPPED: cannot mount a small disk here: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(cluster.dir)])
        return cluster


class DiskOfTheStores(SmallDisk):
    """The whole state of a cluster, stores and attempts, on a small disk."""

    # Goes on when the disk is full, so that whatever somebody else gives up is taken as well.
    FILL = "while :; do cat /dev/zero >>{file} 2>/dev/null; done"

    def setUp(self):
        self.cluster = self.cluster_on("400m", "worker.log_bytes=65536")

    def fill(self, cluster, file, *flags):
        return cluster.shell(self.FILL.format(file=file), "--memory", "0.2", "--cpus", "0.1",
                             "--name", "glutton", *flags)

    def failure(self, cluster, job):
        task = cluster.ask("job", job)["tasks"][0]
        return task["last_failure"]

    def assert_golden_sizes(self, cluster, text):
        """The text is the next of tests/golden, whatever sizes and whichever instance it names."""
        text = re.sub(r"\binstance-[0-9]+", "instance-{n}", c.plain(text, folder=cluster.dir))
        c.assert_golden(self, re.sub(r"[0-9.]+ [KMG]?i?B\b|[0-9.]+ bytes", "{size}", text))

    def check_goes_on(self, cluster, nodes, accepted):
        """The nodes have lived through it, what was acknowledged comes to its end, new work too."""
        over = cluster.wait_over(accepted, timeout=120)
        self.assertEqual([job for job in over.values() if job["state"] != "completed"], [])
        again = cluster.shell("true", "--memory", "0.2", "--retry-for", "60s")
        self.assertEqual(cluster.wait_over([again])[int(again)]["state"], "completed")
        self.assertEqual(cluster.nodes(), nodes)
        cluster.wait_until("no trouble is left", lambda: not cluster.ask("status")["trouble"])

    def submit_meanwhile(self, cluster, job):
        """Small jobs until that one is over: those that were acknowledged."""
        accepted = []

        def is_over():
            done = cluster.run("submit", "--quiet", "--retry-for", "0s", "--memory", "0.2",
                               "--cpus", "0.1", "--", "true", check=False)
            if done.returncode == 0:
                accepted.append(done.stdout.strip())
            else:
                self.assertRegex(done.stderr.lower(), "disk|store")
            return cluster.job(job)["state"] in ("completed", "failed")

        cluster.wait_until("the glutton is ended", is_over, timeout=120)
        return accepted

    def test_a_task_that_fills_the_disk_is_ended_and_nothing_acknowledged_is_lost(self):
        with self.cluster as cluster:
            nodes = cluster.nodes()
            before = [cluster.shell("sleep 3", "--memory", "0.2", "--cpus", "0.1")
                      for _ in range(3)]
            job = self.fill(cluster, "big", "--retries", "0")
            accepted = self.submit_meanwhile(cluster, job)
            failure = self.failure(cluster, job)
            self.assertEqual(failure["kind"], "disk full")
            self.assertIn(" of 400 MiB on /", failure["text"])
            self.assert_golden_sizes(cluster, failure["text"])
            self.assertIn(failure["text"].split(":")[0], cluster.run("job", job).stdout)
            self.check_goes_on(cluster, nodes, before + accepted)

    def test_a_task_that_gives_up_on_the_disk_that_it_has_filled_has_run_once(self):
        with self.cluster as cluster:
            nodes = cluster.nodes()
            job = cluster.shell("cat /dev/zero >big", "--memory", "0.2", "--cpus", "0.1")
            cluster.wait_until("it has failed", lambda: cluster.job(job)["state"] == "failed",
                               timeout=120)
            self.assertEqual(cluster.ask("job", job)["tasks"][0]["attempt"], 1)
            self.check_goes_on(cluster, nodes, [])

    def test_checkpoints_that_fill_the_disk_go_with_the_attempt(self):
        with self.cluster as cluster:
            nodes = cluster.nodes()
            job = self.fill(cluster, "$MUSTER_CHECKPOINT_DIR/big", "--retries", "1")
            cluster.wait_until("it has failed for good",
                               lambda: cluster.job(job)["state"] == "failed", timeout=120)
            failure = self.failure(cluster, job)
            self.assertEqual(failure["kind"], "disk full")
            self.assert_golden_sizes(cluster, failure["text"])
            self.assertEqual(list(cluster.dir.rglob("big")), [])
            self.check_goes_on(cluster, nodes, [])

    def test_output_without_end_takes_no_more_than_its_bound(self):
        with self.cluster as cluster:
            nodes = cluster.nodes()
            job = cluster.shell("yes", "--memory", "0.2", "--cpus", "0.1")
            logs = "state/n0/machines/*/state/attempts/*/out.*"

            def newest():
                return max((int(log.suffix[1:]) for log in cluster.dir.glob(logs)), default=0)

            cluster.wait_until("it has written more than the disk holds",
                               lambda: newest() > 500 << 20, timeout=120)
            sizes = []
            for log in cluster.dir.glob(logs):
                try:
                    sizes.append(log.stat().st_size)
                except FileNotFoundError:
                    pass  # rotated away meanwhile
            self.assertLessEqual(sum(sizes), 4 * 65536)
            self.assertEqual(cluster.job(job)["state"], "running")
            cluster.run("cancel", job)
            self.check_goes_on(cluster, nodes, [])


class Reserve(SmallDisk):
    """Something that is no task fills the disk, and keeps it full."""

    def setUp(self):
        self.attempts = pathlib.Path(tempfile.mkdtemp(prefix="mu", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.attempts, ignore_errors=True)
        self.cluster = self.cluster_on("96m", f"worker.attempts={self.attempts}")

    def test_the_stores_end_what_they_took_and_take_nothing_new(self):
        with self.cluster as cluster:
            nodes = cluster.nodes()
            job = cluster.shell("sleep 600", "--memory", "0.2", "--cpus", "0.1", "--array", "0-19")
            cluster.wait_until("it runs", lambda: cluster.job(job)["state"] == "running")
            filler = cluster.fill_disk()
            words = ["submit", "--quiet", "--retry-for", "0s", "--name", "x" * 200, "--", "true"]
            accepted = []

            def is_refused():
                done = cluster.run(*words, check=False)
                if done.returncode == 0:
                    accepted.append(done.stdout.strip())
                return "takes nothing new" in done.stderr

            cluster.wait_until("a job is refused with the reason", is_refused)
            cluster.run("cancel", job)
            self.assertEqual(cluster.wait_over([job])[int(job)]["state"], "cancelled")
            trouble = cluster.ask("status")["trouble"]
            self.assertTrue(any("m0: " in line and "takes nothing new" in line
                                for line in trouble), trouble)
            # The keeper's log cannot be written; it keeps the nodes all the same.
            killed = cluster.node("n0")
            cluster.kill(killed)
            cluster.wait_until("it is started again",
                               lambda: cluster.node("n0") not in (None, killed))
            filler.unlink()
            accepted.append(cluster.shell("true", "--memory", "0.2", "--retry-for", "60s"))
            over = cluster.wait_over(accepted)
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})
            cluster.wait_until("no trouble is left", lambda: not cluster.ask("status")["trouble"])
            self.assertLessEqual(set(nodes) - {killed}, set(cluster.nodes()))


if __name__ == "__main__":
    unittest.main()
