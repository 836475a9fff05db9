"""What a cluster answers when it cannot, or must not, do as it is asked: all of it, and why."""

import signal
import time
import unittest

from cluster import Cluster


def two_masters():
    """Nodes n0 and n1 have the sites, n2 and n3 the masters m0 and m1, n4 the cloud."""
    cluster = Cluster("link.request_timeout=2s")
    cluster.flags += ["--sites", "2", "--masters", "2"]
    return cluster


class Answers(unittest.TestCase):
    def assert_refused(self, cluster, words, *command):
        done = cluster.run(*command, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_tokens_logs_and_what_silent_masters_know(self):
        with two_masters() as cluster:
            self.same_token_of_another_job(cluster)
            self.attempts_that_are_not_there(cluster)
            self.silent_master(cluster)

    def same_token_of_another_job(self, cluster):
        again = ["submit", "--quiet", "--token", "nightly", "--", "true"]
        job = cluster.run(*again).stdout.strip()
        words = [f'the token "nightly" is that of job {job}']
        self.assert_refused(cluster, words, "submit", "--token", "nightly", "--", "false")
        cluster.run("down", "--dir", cluster.dir)
        cluster.up()
        self.assert_refused(cluster, words, "submit", "--token", "nightly", "--", "false")
        self.assertEqual(cluster.run(*again).stdout.strip(), job)

    def attempts_that_are_not_there(self, cluster):
        job = cluster.shell('echo "attempt $MUSTER_ATTEMPT"; test "$MUSTER_ATTEMPT" -ge 2',
                            "--retries", "1")
        cluster.wait_over([job])
        name = f"of task 0 of job {job}; there is attempt 2"
        self.assert_refused(cluster, ["there is no attempt 3 " + name], "logs", job, "--attempt", 3)
        cluster.wait_until("its instance is gone",
                           lambda: cluster.ask("instances")["instances"] == [])
        self.assertEqual(cluster.run("logs", job).stdout, "attempt 2\n")
        self.assertEqual(cluster.run("logs", job, "--attempt", 1).stdout, "attempt 1\n")
        self.assert_refused(cluster, ["there is no attempt 3 " + name], "logs", job, "--attempt", 3)

    def silent_master(self, cluster):
        cluster.run("submit", "--wait", "--", "sleep", "1")
        waited = max(job["job"] for job in cluster.ask("jobs")["jobs"])
        self.assertTrue(cluster.ask("jobs")["complete"])
        cluster.signal(cluster.node("n3"), signal.SIGSTOP)
        for command in ("jobs", "status", "instances"):
            done = cluster.run(command)
            self.assertIn("this is not all: no answer from master m1\n", done.stderr)
            answer = cluster.ask(command)
            self.assertEqual((answer["complete"], answer["silent"]), (False, ["master m1"]))
        self.assert_refused(cluster, ["not every master can be reached"], "cost",
                            "--retry-for", "0s")
        begin = time.monotonic()
        self.assert_refused(cluster, [f"job {waited} is over"], "cancel", waited)
        for job in (999, 7_000_000_001):
            self.assert_refused(cluster, [f"there is no job {job}"], "cancel", job)
        self.assertLess(time.monotonic() - begin, 3, "nobody was waited for")
        cluster.signal(cluster.node("n3"), signal.SIGCONT)


if __name__ == "__main__":
    unittest.main()
