"""Elastic jobs on a live cluster: widths follow what is learnt, and nothing is lost."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from cluster import Cluster

EXAMPLE = pathlib.Path(__file__).parents[3] / "docs/examples/elastic/train.py"
SEEDS = (1, 2, 3, 4)
STEPS = 40
SAMPLES = 480
SHARD_S = 0.01  # 24 shards a step: 9.6 s alone
BUDGET = 4
EVERY_S = 5.0
# Jobs come as fast as the policy is told. No width changes for free.
POLICY = f"boa,budget={BUDGET},period_s=0.5,recompute_s=2,rates_h=regression:{3600 / EVERY_S:g}"


def alone(seed):
    """What one worker finds without any cluster."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")}
    with tempfile.TemporaryDirectory(prefix="alone") as meet:
        words = [sys.executable, EXAMPLE, "--steps", STEPS, "--samples", SAMPLES, "--seed", seed,
                 "--meet", meet]
        text = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              check=True, env=env).stdout
    return text.splitlines()[-1]


class Elastic(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster("master.min_stay=0s", "worker.stop_grace=5s", "link.timeout=3s",
                               policy=POLICY, nodes=3)
        self.cluster.flags += ["--masters", "1", "--sites", "1"]
        self.meet = self.cluster.dir / "meet"
        self.meet.mkdir()
        os.chmod(self.meet, 0o777)
        self.seen = {}  # of each job the (width, done) that it was shown with, in their order
        self.widest = 0  # workers of all jobs together
        self.resizes = 0  # of a single plan, at most

    def submit(self, seed):
        flags = ["--elastic", "1-4", "--name", "regression", "--progress-unit", "samples",
                 "--progress-ends", STEPS * SAMPLES, "--rescale", "1s", "--cpus", "1",
                 "--memory", "0.2", "--retries", "20"]
        train = [sys.executable, EXAMPLE, "--steps", STEPS, "--samples", SAMPLES, "--seed", seed,
                 "--shard-s", SHARD_S, "--meet", self.meet]
        job = int(self.cluster.run("submit", "--quiet", *flags, "--", *train).stdout)
        self.seen[job] = []
        return job

    def look(self):
        """Takes down how wide the jobs are, and whether anything is shown that nobody waits for."""
        status = self.cluster.ask("status")
        if not status["complete"]:
            return
        self.widest = max(self.widest, status["elastic"]["workers"])
        self.assertLessEqual(status["tasks"]["pending"], status["elastic"]["workers"])
        for job in self.cluster.ask("jobs", "--state", "active")["jobs"]:
            shown = job["elastic"]
            if shown["width"] is not None:
                self.seen[job["job"]].append((shown["width"], shown["done"]))
        self.check_plans()

    def look_for(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.look()
            time.sleep(0.2)

    def master(self):
        for node in self.cluster.ask("nodes")["nodes"]:
            if any(role.startswith("master") for role in node["roles"]):
                return self.cluster.node(node["node"])
        self.fail("no node has the master")

    def runs_of(self, job):
        """(workers, first step) of each start of the first worker, and how often it was done."""
        runs, ends = [], []
        attempts = self.cluster.job(job)["tasks"][0]["attempt"]
        for attempt in range(1, attempts + 1):
            text = self.cluster.run("logs", job, "--task", 0, "--attempt", attempt,
                                    check=False).stdout
            for workers, step in re.findall(r"width (\d+) from step (\d+) on", text):
                runs.append((int(workers), int(step)))
            ends += [line for line in text.splitlines() if line.startswith("loss")]
        return runs, ends

    def test_widths_follow_what_is_learnt_whatever_dies_meanwhile(self):
        with self.cluster as cluster:
            self.go_through(cluster)

    def go_through(self, cluster):
        jobs = {}
        for number, seed in enumerate(SEEDS):
            job = self.submit(seed)
            jobs[job] = seed
            self.look_for(EVERY_S / 2)
            if number in (1, 2):
                cluster.wait_until("it runs", lambda: cluster.job(job)["running"] > 0)
                cluster.kill(self.master() if number == 1 else cluster.workers()[0])
            self.look_for(EVERY_S / 2)
        until = time.monotonic() + 60
        while cluster.ask("jobs", "--state", "active")["jobs"]:
            self.assertLess(time.monotonic(), until, cluster.run("explain", max(jobs)).stdout)
            self.look_for(0.2)
        over = cluster.wait_over(jobs, timeout=10)
        self.assertEqual({job["state"] for job in over.values()}, {"completed"})
        changed = 0
        for job, seed in jobs.items():
            runs, ends = self.runs_of(job)
            self.assertEqual(set(ends), {alone(seed)}, "done as one worker does it")
            # One that is told to stop for another width when it has just said so says it again.
            self.assertLessEqual(len(ends), 2, runs)
            steps = [step for _, step in runs]
            self.assertEqual(steps, sorted(steps), "each goes on from where the one before was")
            # A stop for another width may come when the first worker has just made its last step.
            last = {runs[-1][0], self.seen[job][-1][0]}
            self.assertIn(over[job]["finished"], last, "all of its last width")
            changed += len({workers for workers, _ in runs}) > 1
            done = [done for _, done in self.seen[job]]
            self.assertEqual(done, sorted(done))
            self.assertLessEqual(max(done), STEPS * SAMPLES)
            self.assertLessEqual(max(width for width, _ in self.seen[job]), 4)
        self.assertGreater(changed, 0, "some job has had several widths")
        self.assertGreater(self.resizes, 0, "some plan has changed the width of a job that ran")
        self.assertGreater(self.widest, 1)

    def check_plans(self):
        """
        No plan takes more than the budget.

        A master knows the plans since it started, so they are asked for before it is killed. The
        jobs' real mean width is no measure here: on a loaded machine they run for longer than was
        learnt, and there are only four of them. Replays hold the policy to it.
        """
        client = json.loads((self.cluster.dir / "client.json").read_text())
        token = (self.cluster.dir / client["token_file"]).read_text().strip()
        asked = urllib.request.Request(client["api"] + "/v1/decisions",
                                       headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            decisions = json.load(answer)["decisions"]
        for entry in decisions:
            self.resizes = max(self.resizes, entry["resizes"])
            figures = entry["figures"]
            if figures["load"] <= figures["budget"]:
                self.assertLessEqual(figures["planned_gpus"], figures["budget"] * (1 + 1e-9))


if __name__ == "__main__":
    unittest.main()
