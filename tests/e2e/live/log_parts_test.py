"""The output of a replica that runs for long: full files go to its master's node as they fill."""

import os
import re
import subprocess
import unittest

from cluster import MUSTER, Cluster, assert_golden

# Its worker keeps three full files and the one that is written to.
FILE_BYTES = 4096
SETTINGS = (f"worker.log_bytes={FILE_BYTES}", "worker.log_files=3")
FIRST, LAST = 10000, 13999

SPEC = """
name = "talk"
command = ["/bin/sh", "-c", '''
trap "" TERM
i={first}
while [ $i -lt {last} ]; do
  seq $i $((i+99)); seq $i $((i+49)) >&2
  i=$((i+100)); sleep 0.03
done
sleep 600''']
cpus = 0.3
memory_gib = 0.2
market = "spot"

[service]
replicas = 1
"""


def lines(first, last):
    return "".join(f"{i}\n" for i in range(first, last + 1))


OUT = lines(FIRST, LAST)
ERR = "".join(lines(i, i + 49) for i in range(FIRST, LAST, 100))


class LogParts(unittest.TestCase):
    def logs(self, *flags):
        return self.run_logs(*flags).stdout

    def run_logs(self, *flags):
        return self.cluster.run("logs", self.job, "--task", 0, *flags, check=False)

    def full_bytes(self, text):
        return len(text) // FILE_BYTES * FILE_BYTES

    def kept_bytes(self, stream):
        """Up to where parts of the first attempt's stream are kept on the nodes."""
        ends = [int(re.search(r"-(\d+)$", part.name).group(1))
                for part in self.cluster.dir.glob(f"state/*/logs/**/*.1.{stream}.*")]
        return max(ends, default=0)

    def test_full_files_outlive_their_instance(self):
        with Cluster(*SETTINGS, masters=1, nodes=1) as self.cluster:
            spec = self.cluster.dir / "talk.toml"
            spec.write_text(SPEC.format(first=FIRST, last=LAST), encoding="utf-8")
            self.job = self.cluster.run("submit", "--quiet", spec).stdout.strip()
            self.cluster.wait_until("it runs", lambda: self.logs() != "")
            follower = self.follow()
            self.cluster.wait_until("all of it is written", lambda: self.logs("--tail", 1) ==
                                    f"{LAST}\n")
            self.all_of_it_is_shown()
            self.cluster.wait_until("full files are kept", lambda: [
                self.kept_bytes("out"), self.kept_bytes("err")] == [
                    self.full_bytes(OUT), self.full_bytes(ERR)])
            with self.subTest("the worker has dropped what is shown"):
                self.assertEqual(list(self.cluster.dir.glob("**/attempts/*/out.0")), [])
            with self.subTest("what is followed comes once"):
                self.cluster.wait_until("it has come", lambda: self.followed(follower) == OUT)
            self.it_is_there_after_restarts()
            self.it_outlives_the_instance()

    def follow(self):
        """Follows the log from now on; the process, whose output is in a file."""
        with open(self.cluster.dir / "followed", "wb") as out:
            process = subprocess.Popen(
                [MUSTER, "logs", self.job, "--task", "0", "-f"], stdout=out,
                env={**os.environ, "MUSTER_CLUSTER": str(self.cluster.dir)})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def followed(self, process):
        self.assertIsNone(process.poll())
        return (self.cluster.dir / "followed").read_text()

    def all_of_it_is_shown(self):
        self.assertEqual(self.logs(), OUT)
        self.assertEqual(self.logs("--err"), ERR)
        self.assertEqual(self.logs("--tail", 3500), lines(LAST - 3499, LAST))

    def it_is_there_after_restarts(self):
        for pid in list(self.cluster.nodes()) + self.cluster.workers():
            self.cluster.kill(pid)
        self.cluster.wait_until("node and worker are back",
                                lambda: self.logs("--retry-for", "0s") == OUT)
        self.all_of_it_is_shown()

    def it_outlives_the_instance(self):
        instance = self.cluster.job(self.job)["tasks"][0]["instance"]
        self.cluster.run("interrupt", instance)
        self.cluster.wait_until("its instance is gone",
                                lambda: self.run_logs("--attempt", 1).returncode == 1)
        done = self.run_logs("--attempt", 1)
        self.assertEqual(done.stdout, OUT[:self.full_bytes(OUT)])
        assert_golden(self, done.stderr.replace(f"instance {instance} ", "instance N "))


if __name__ == "__main__":
    unittest.main()
