"""A task's story: every attempt with its instance and why it left, also after its end and after a
restart of the master."""

import unittest

from cluster import Cluster

SMALL = ("--cpus", "0.1", "--memory", "0.2", "--spot")
# Goes on for three attempts: the third one ends by itself.
THREE = """echo >> "{ready}"
[ "$MUSTER_ATTEMPT" = 3 ] && exit 0
for i in $(seq 1200); do sleep 0.1; done"""


class Story(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster("worker.stop_grace=1s", "worker.isolation=none", nodes=1,
                              masters=1).__enter__()
        cls.marks = cls.cluster.dir / "marks"
        cls.marks.mkdir()
        cls.marks.chmod(0o777)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__(None, None, None)

    def attempts(self, job):
        return self.cluster.ask("job", str(job), "--attempts")["tasks"][0]["attempts"]

    def run_through(self):
        """A job whose first attempt loses its instance, and whose second one is drained."""
        ready = self.marks / self.id()
        job = self.cluster.shell(THREE.format(ready=ready), *SMALL)
        lines = lambda: len(ready.read_text().splitlines()) if ready.exists() else 0
        places = []
        for number, order in ((1, "interrupt"), (2, "drain")):
            self.cluster.wait_until(f"attempt {number} runs", lambda: lines() == number)
            places.append(self.cluster.job(job)["tasks"][0]["instance"])
            self.cluster.run(order, places[-1])
        self.assertEqual(self.cluster.wait_over([job])[int(job)]["state"], "completed")
        return job, places

    def test_every_attempt_is_told_after_the_end_and_after_a_restart_of_the_master(self):
        cluster = self.cluster
        job, places = self.run_through()
        told = self.attempts(job)
        self.assertEqual([one["attempt"] for one in told], [1, 2, 3])
        self.assertEqual([one["instance"] for one in told[:2]], places)
        self.assertEqual([one["end"] for one in told], ["moved", "moved", "finished"])
        self.assertEqual({one["market"] for one in told}, {"spot"})
        self.assertIn("spot instance back", told[0]["why"])
        self.assertIn("drained", told[1]["why"])
        for one in told:
            self.assertAlmostEqual(one["ran_s"], one["ended_s"] - one["started_s"], places=3)
        task = cluster.job(job)["tasks"][0]
        self.assertAlmostEqual(sum(one["ran_s"] for one in told), task["wall_s"], places=3)
        self.assertAlmostEqual(sum(one["usd"] for one in told), task["usd"], places=9)
        explained = cluster.run("explain", job).stdout
        for one in told:
            self.assertIn(f"attempt {one['attempt']} on instance {one['instance']} ", explained)
        self.assertIn(told[0]["why"], cluster.run("job", job, "--attempts").stdout)

        life = cluster.ask("instance", str(places[0]))
        visits = [(one["job"], one["attempt"], one["end"]) for one in life["tasks"]]
        self.assertIn((int(job), 1, "moved"), visits)
        self.assertIn("spot instance back", life["why_ended"])
        cluster.wait_until("the instance is gone",
                           lambda: cluster.ask("instance", str(places[0]))["stage"] == "ended")
        said = cluster.run("decisions", "--job", job, "--limit", "50").stdout
        self.assertIn(f"task 0 of job {job} (", said)
        self.assertIn(f"instance {places[0]} (", said)

        life = cluster.ask("instance", str(places[0]))
        node = cluster.node("n0")
        cluster.kill(node)
        cluster.wait_until("the master is there again", lambda: cluster.run(
            "instance", places[0], "--retry-for", "0s", check=False).returncode == 0)
        self.assertEqual(self.attempts(job), told)
        self.assertEqual(cluster.ask("instance", str(places[0])), life)

    def test_an_attempt_whose_instance_dies_is_lost_and_the_next_one_is_on_another(self):
        cluster = self.cluster
        ready = self.marks / self.id()
        job = cluster.shell(THREE.format(ready=ready), *SMALL)
        # The file alone may be of a shell that has opened it and has yet to write its line.
        lines = lambda: len(ready.read_text().splitlines()) if ready.exists() else 0
        cluster.wait_until("it runs", lambda: lines() == 1)
        for pid in cluster.shims():
            cluster.kill(pid)
        cluster.wait_until("it runs again", lambda: lines() == 2)
        first, second = self.attempts(job)
        self.assertEqual((first["end"], second["end"]), ("lost", "not over"))
        self.assertGreaterEqual(second["sent_s"], first["ended_s"])
        cluster.run("cancel", job)
        cluster.wait_over([job])
        self.assertEqual(self.attempts(job)[1]["end"], "stopped")
        self.assertIn("cancelled", self.attempts(job)[1]["why"])

    def test_who_does_not_exist_is_not_found(self):
        gone = self.cluster.run("instance", 987654, check=False)
        self.assertEqual(gone.returncode, 1)
        self.assertIn("no instance 987654", gone.stderr)
        other = self.cluster.run("decisions", "--master", "m77", check=False)
        self.assertIn("m77", other.stderr)


if __name__ == "__main__":
    unittest.main()
