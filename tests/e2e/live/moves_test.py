"""What moves and what stays on a live cluster, and who goes first."""

import unittest

from cluster import Cluster, Witness


class Staying(unittest.TestCase):
    def come_and_go(self, cluster):
        """Jobs of other sizes, one after the other: each calls for another layout."""
        for cpus in (1, 3, 7):
            jobs = [cluster.shell("sleep 1", "--cpus", str(cpus), "--memory", "0.2")
                    for _ in range(2)]
            cluster.wait_over(jobs)

    def attempts_of(self, *flags, settings=()):
        """Of a job that runs while others come and go under the default policy."""
        with Cluster(*settings, nodes=3) as cluster:
            witness = Witness(cluster.dir / "witness")
            work = 'while [ ! -e "%s/end" ]; do sleep 0.1; done' % witness.dir
            job = cluster.shell(witness.script(work), "--cpus", "1", "--memory", "0.2", *flags)
            cluster.wait_until("it runs", lambda: cluster.job(job)["running"] == 1)
            self.come_and_go(cluster)
            (witness.dir / "end").touch()
            self.assertEqual(cluster.wait_over([job])[int(job)]["state"], "completed")
            self.assertEqual(list(witness.ends().values()), [1])
            return cluster.job(job)["tasks"][0]["attempt"]

    def test_a_plain_job_is_begun_once_however_many_others_come_and_go(self):
        self.assertEqual(self.attempts_of(), 1)

    def test_a_job_that_is_not_to_be_moved_is_not_at_any_time(self):
        self.assertEqual(self.attempts_of("--no-move", "--checkpoints",
                                          settings=["master.min_stay=0s"]), 1)

    def test_a_drain_moves_it_all_the_same(self):
        with Cluster(nodes=1) as cluster:
            job = cluster.shell('[ "$MUSTER_ATTEMPT" = 2 ] || exec sleep 600', "--no-move",
                                "--memory", "0.2")
            cluster.wait_until("it runs", lambda: cluster.job(job)["running"] == 1)
            cluster.run("drain", cluster.job(job)["tasks"][0]["instance"])
            self.assertEqual(cluster.wait_over([job])[int(job)]["state"], "completed")


class Priority(unittest.TestCase):
    def order_under(self, policy):
        """In which jobs that each need the only instance begin."""
        whole = ("--cpus", "32", "--memory", "1")
        with Cluster("master.max_instances=1", nodes=1, policy=policy) as cluster:
            witness = Witness(cluster.dir / "witness")
            blocker = cluster.shell("sleep 4", *whole)
            cluster.wait_until("it runs", lambda: cluster.job(blocker)["running"] == 1)
            jobs = {}
            for name, priority in (("low", -1), ("plain", 0), ("high", 5)):
                job = cluster.shell(witness.script("true"), *whole, f"--priority={priority}")
                jobs[job] = name
            cluster.wait_over(jobs)
            begun = [line.split()[1] for line in witness.lines() if line.startswith("begin")]
            return [jobs[task.split(".")[0]] for task in begun]

    def test_is_the_order_in_which_waiting_jobs_begin(self):
        for policy in ("no-packing,period_s=0.5", "eva,period_s=0.5", "hcoop,period_s=0.5"):
            with self.subTest(policy=policy):
                self.assertEqual(self.order_under(policy), ["high", "plain", "low"])


if __name__ == "__main__":
    unittest.main()
