"""What a cluster answers when it cannot, or must not, do as it is asked: all of it, and why."""

import json
import re
import signal
import unittest
import urllib.request

from cluster import Cluster, assert_golden, plain, without_figures


def two_masters():
    """Nodes n0 and n1 have the sites, n2 and n3 the masters m0 and m1, n4 the cloud."""
    cluster = Cluster("link.request_timeout=2s")
    cluster.flags += ["--sites", "2", "--masters", "2"]
    return cluster


class Answers(unittest.TestCase):
    def assert_refused(self, cluster, *command, **values):
        """The command ends with 1 and a text of tests/golden, in which the values have names."""
        done = cluster.run(*command, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        assert_golden(self, plain(done.stderr, **values))

    def test_tokens_logs_and_what_silent_masters_know(self):
        with two_masters() as cluster:
            self.same_token_of_another_job(cluster)
            self.attempts_that_are_not_there(cluster)
            self.silent_master(cluster)

    def same_token_of_another_job(self, cluster):
        again = ["submit", "--quiet", "--token", "nightly", "--", "true"]
        job = cluster.run(*again).stdout.strip()
        other = ["submit", "--token", "nightly", "--", "false"]
        self.assert_refused(cluster, *other, job=job)
        cluster.run("down", "--dir", cluster.dir)
        cluster.up()
        self.assert_refused(cluster, *other, job=job)
        self.assertEqual(cluster.run(*again).stdout.strip(), job)

    def attempts_that_are_not_there(self, cluster):
        job = cluster.shell('echo "attempt $MUSTER_ATTEMPT"; test "$MUSTER_ATTEMPT" -ge 2',
                            "--retries", "1")
        cluster.wait_over([job])
        self.assert_refused(cluster, "logs", job, "--attempt", 3, job=job)
        cluster.wait_until("its instance is gone",
                           lambda: cluster.ask("instances")["instances"] == [])
        self.assertEqual(cluster.run("logs", job).stdout, "attempt 2\n")
        self.assertEqual(cluster.run("logs", job, "--attempt", 1).stdout, "attempt 1\n")
        self.assert_refused(cluster, "logs", job, "--attempt", 3, job=job)

    def silent_master(self, cluster):
        cluster.run("submit", "--wait", "--", "sleep", "1")
        waited = max(job["job"] for job in cluster.ask("jobs")["jobs"])
        self.assertTrue(cluster.ask("jobs")["complete"])
        self.assertEqual(self.reachable(cluster), {"m0": 1.0, "m1": 1.0})
        cluster.wait_until("nothing is rented any more",
                           lambda: cluster.ask("instances")["instances"] == [])
        whole = cluster.ask("status")
        cluster.signal(cluster.node("n3"), signal.SIGSTOP)
        for command in ("jobs", "status", "instances", "cost", "nodes"):
            done = cluster.run(command)
            assert_golden(self, without_figures(done.stderr))
            self.assertEqual(done.returncode, 0)
            if command in ("status", "cost"):
                self.assertRegex(done.stdout, r"at least <?\$")
            answer = cluster.ask(command)
            self.assertFalse(answer["complete"])
            self.assertEqual([one["master"] for one in answer["silent"]], ["m1"])
            last = answer["silent"][0]["last"]
            rest = cluster.ask("status")
            self.assertAlmostEqual(rest["total_usd"] + last["total_usd"], whole["total_usd"])
        self.assertEqual(self.reachable(cluster), {"m0": 1.0, "m1": 0.0})
        # An answer that had to wait for the silent master would be 202 and name it.
        self.assert_refused(cluster, "cancel", waited, job=waited)
        for job in (999, 7_000_000_001):
            self.assert_refused(cluster, "cancel", job)
        cluster.signal(cluster.node("n3"), signal.SIGCONT)

    @staticmethod
    def reachable(cluster):
        client = json.loads((cluster.dir / "client.json").read_text())
        token = (cluster.dir / client["token_file"]).read_text().strip()
        asked = urllib.request.Request(client["api"] + "/metrics",
                                       headers={"Authorization": f"Bearer {token}"})
        text = urllib.request.urlopen(asked, timeout=30).read().decode()
        return {name: float(value) for name, value in re.findall(
            r'^muster_master_reachable\{master="([^"]+)"\} ([0-9.]+)$', text, re.M)}


if __name__ == "__main__":
    unittest.main()
