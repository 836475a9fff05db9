"""kill -9 at random moments: every accepted job finishes once, nothing leaks."""

import os
import random
import time
import unittest

from cluster import Cluster, Witness

ROUNDS = int(os.environ.get("MUSTER_CRASH_ROUNDS", "5"))
SEED = int(os.environ.get("MUSTER_CRASH_SEED", "1"))
VICTIMS = ("site", "master", "worker", "cloud", "all")


class KillNine(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)

    def hurt(self, cluster, victim):
        if victim == "all":
            cluster.kill(cluster.keeper())
            for pid in list(cluster.nodes()) + cluster.workers():
                cluster.kill(pid)
            cluster.up()
        elif victim == "worker":
            workers = cluster.workers()
            if workers:
                cluster.kill(self.random.choice(workers))
        else:
            nodes = {"site": ["n0", "n1"], "master": ["n2", "n3"], "cloud": ["n4"]}[victim]
            cluster.kill(cluster.node(self.random.choice(nodes)))

    def one_round(self, cluster, witness, victim):
        jobs = []
        begun = time.monotonic()
        moment = self.random.uniform(0.1, 3)
        hurt = False
        for _ in range(20):
            if not hurt and time.monotonic() - begun > moment:
                self.hurt(cluster, victim)
                hurt = True
            work = f"sleep {self.random.uniform(0, 1.5):.2f}"
            jobs.append(cluster.shell(witness.script(work), "--memory", "0.2", "--cpus", "0.5",
                                      "--retries", "20"))
            time.sleep(self.random.uniform(0, 0.1))
        if not hurt:
            self.hurt(cluster, victim)
        over = cluster.wait_over(jobs, timeout=180)
        self.assertEqual({job["state"] for job in over.values()}, {"completed"}, victim)
        return jobs

    def test_rounds(self):
        with Cluster("worker.stop_grace=1s", "link.timeout=3s", delay_scale=0.002) as cluster:
            witness = Witness(cluster.dir / "witness")
            jobs = []
            for number in range(ROUNDS):
                victim = VICTIMS[number % len(VICTIMS)]
                with self.subTest(round=number, victim=victim, seed=SEED):
                    jobs += self.one_round(cluster, witness, victim)
            self.assertEqual(witness.beside(), [], "no attempt runs beside another of its task")
            ends = witness.ends()
            # A worker's or shim's death may cost an attempt that had just come to its end; a task
            # that the master has on record as finished is never started again.
            self.assertEqual({f"{job}.0" for job in jobs}, set(ends))
            for job in jobs:
                self.assertEqual(cluster.job(job)["finished"], 1)
            cluster.wait_until("all instances are given back",
                               lambda: cluster.ask("instances")["instances"] == [], 90)
            self.assertEqual(cluster.workers(), [])
            self.assertEqual(cluster.shims(), [])
            total = cluster.ask("cost", "--by", "user")["total_usd"]
            rented = sum(part["usd"] for part in cluster.ask("cost", "--by", "instance")["by"])
            self.assertAlmostEqual(total, rented, places=9)
            twice = {task: count for task, count in ends.items() if count > 1}
            self.assertEqual(twice, {}, "nothing was done twice")


if __name__ == "__main__":
    unittest.main()
