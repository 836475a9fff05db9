"""Nodes that are cut off for a while: frozen by SIGSTOP, as a lost network looks to the others."""

import os
import signal
import time
import unittest

from cluster import Cluster, Witness

LENGTHS = [float(s) for s in os.environ.get("MUSTER_PARTITION_S", "5").split(",")]


class CutOff(unittest.TestCase):
    def freeze(self, node):
        for length in LENGTHS:
            with self.subTest(node=node, seconds=length):
                with Cluster("worker.stop_grace=1s", "link.timeout=3s") as cluster:
                    witness = Witness(cluster.dir / "witness")
                    before = [cluster.shell(witness.script("sleep 2"), "--memory", "0.2", "--cpus",
                                            "0.5") for _ in range(6)]
                    cluster.wait_until("some run", lambda: len(witness.lines()) > 2)
                    pid = cluster.node(node)
                    cluster.signal(pid, signal.SIGSTOP)
                    time.sleep(length)
                    cluster.signal(pid, signal.SIGCONT)
                    after = [cluster.shell(witness.script("true"), "--memory", "0.2")
                             for _ in range(4)]
                    over = cluster.wait_over(before + after, timeout=120)
                    self.assertEqual({job["state"] for job in over.values()}, {"completed"})
                    self.assertEqual(set(witness.ends().values()), {1}, "nothing is repeated")
                    self.assertEqual(len(witness.ends()), 10, "nothing is lost")
                    self.assertEqual(pid, cluster.node(node), "the node heals, it is not replaced")

    def test_a_master(self):
        self.freeze("n2")

    def test_the_cloud_connector(self):
        self.freeze("n4")

    def test_a_site(self):
        self.freeze("n1")


if __name__ == "__main__":
    unittest.main()
