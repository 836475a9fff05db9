"""The order of the nodes in a cluster's file means nothing, and who is needed has to stay in it."""

import re
import shutil
import socket
import unittest

from cluster import Cluster, assert_golden, line_with, plain, without_figures


class TwoSitesAndMasters(Cluster):
    def __init__(self):
        super().__init__(nodes=5)
        self.flags += ["--sites", "2", "--masters", "2"]

    def change_nodes(self, change):
        """Puts what `change` makes of the list of nodes in its place in the file."""
        file = self.dir / "cluster.toml"
        head, *nodes = file.read_text().split("[[node]]\n")
        nodes[-1], _, tail = nodes[-1].partition("\n[")
        file.write_text("[[node]]\n".join([head, *change(nodes)]) + "\n[" + tail)


class Roster(unittest.TestCase):
    def test_a_turned_file_changes_nobody_and_a_needed_master_cannot_be_left_out(self):
        with TwoSitesAndMasters() as cluster:
            long = cluster.shell("sleep 600", "--cpus", "0.5")
            cluster.wait_until("it runs", lambda: cluster.job(long)["running"] == 1)
            master = cluster.job(long)["master"]
            instance = cluster.job(long)["tasks"][0]["instance"]

            cluster.run("down", "--dir", cluster.dir, "--keep-instances")
            cluster.change_nodes(lambda nodes: nodes[::-1])
            cluster.up()
            cluster.wait_until("its master knows it", lambda: cluster.job(long)["running"] == 1)
            self.assertEqual(cluster.job(long)["master"], master)
            self.assertEqual(cluster.job(long)["tasks"][0]["instance"], instance)
            self.assertEqual(cluster.job(long)["tasks"][0]["attempt"], 1)
            more = [cluster.shell("true", "--cpus", "0.1") for _ in range(4)]
            self.assertEqual(len({long, *more}), 5, "numbers go on")
            self.assertEqual({job["state"] for job in cluster.wait_over(more).values()},
                             {"completed"})

            cluster.run("down", "--dir", cluster.dir, "--keep-instances")
            nodes = []
            cluster.change_nodes(lambda all_: nodes.extend(all_) or
                                 [node for node in all_ if f"'{master}'" not in node])
            told = cluster.run("node", "--config", cluster.dir / "cluster.toml", "--name", "n4",
                               check=False)
            self.assertNotEqual(told.returncode, 0)
            assert_golden(self, plain(told.stderr, folder=cluster.dir, master=master))

            cluster.change_nodes(lambda _: nodes)
            cluster.up()
            cluster.wait_until("it is there again", lambda: cluster.job(long)["running"] == 1)

    def test_a_node_that_has_left_the_file_is_named(self):
        with TwoSitesAndMasters() as cluster:
            cluster.run("down", "--dir", cluster.dir)
            cluster.change_nodes(lambda nodes: [node for node in nodes if "'oslo'" not in node])
            told = cluster.run("up", "--dir", cluster.dir, "--wait", "20s", check=False).stderr
            assert_golden(self, plain(line_with(told, "node n1"), folder=cluster.dir))

    def test_a_node_that_joins_takes_the_numbers_of_the_others_by_itself(self):
        with TwoSitesAndMasters() as cluster:
            self.use_all_numbers(cluster)
            cluster.run("down", "--dir", cluster.dir)
            # Nobody can sign for another node where the cluster runs: the authority's key is gone.
            cluster.run("pki", "init", cluster.dir / "pki", "--force")
            for node in ("n0", "n1", "n2", "n3", "n4", "n9"):
                cluster.run("pki", "issue", cluster.dir / "pki", "--node", node, "--host",
                            "127.0.0.1", "--force")
            free = []
            for _ in range(2):
                with socket.socket() as door:
                    door.bind(("127.0.0.1", 0))
                    free.append(door.getsockname()[1])
            cluster.change_nodes(lambda nodes: [
                f"name = 'n9'\naddress = '127.0.0.1:{free[0]}'\nmaster = 'm9'\n"
                f"workers = '127.0.0.1:{free[1]}'\n\n", *nodes])
            cluster.up("--new-store")
            self.assertIn("muster: node n9: master m0 is number",
                          (cluster.dir / "keeper.log").read_text())
            jobs = [cluster.shell("true") for _ in range(6)]
            over = cluster.wait_over(jobs)
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})
            self.assertIn("m9", {job["master"] for job in over.values()})

    def test_nodes_with_state_that_number_otherwise_are_refused_and_up_says_whom(self):
        with TwoSitesAndMasters() as cluster:
            self.use_all_numbers(cluster)
            cluster.run("down", "--dir", cluster.dir)
            state = cluster.dir / "state"
            (state / "n3").rename(cluster.dir / "n3")
            shutil.rmtree(state)
            cluster.change_nodes(lambda nodes: nodes[::-1])
            cluster.up("--new-store")
            self.use_all_numbers(cluster)
            cluster.run("down", "--dir", cluster.dir)
            shutil.rmtree(state / "n3")
            (cluster.dir / "n3").rename(state / "n3")
            with open(cluster.dir / "keeper.log", "a", encoding="utf-8") as log:
                log.write("muster: node n3: of another day\n")
            told = cluster.run("up", "--dir", cluster.dir, "--wait", "15", check=False)
            self.assertEqual(told.returncode, 1)
            self.assertRegex(told.stderr, r"\bn3( away)?: .* is number [01] in node")
            assert_golden(self, without_figures(self.last_words_of(told)[0]))

            # And when it does not even start.
            current = state / "n3" / "master" / "CURRENT"
            current.write_text("nothing\n")
            told = cluster.run("up", "--dir", cluster.dir, "--wait", "600", check=False)
            self.assertEqual(told.returncode, 1)
            said, last = self.last_words_of(told)
            assert_golden(self, without_figures(said))
            self.assertTrue(last.startswith("muster: node n3:"), last)
            self.assertIn(str(current.parent), told.stderr)
            self.assertNotIn("another day", told.stderr)

    @staticmethod
    def last_words_of(told):
        """What `up` says itself, and the node's last words behind it."""
        said, _, last = told.stderr.partition("; its last words: ")
        return said, last

    def use_all_numbers(self, cluster):
        """Has every site and every master make use of its number."""
        file = (cluster.dir / "cluster.toml").read_text()
        other = re.search(r"name = 'n1'.*?api = '([^']+)'", file, re.DOTALL).group(1)
        where = ["--api", f"http://{other}", "--token-file", cluster.dir / "token"]
        jobs = [cluster.shell("sleep 0.3", "--cpus", "0.1", *(where if i % 2 else []))
                for i in range(8)]
        over = cluster.wait_over(jobs)
        self.assertEqual({job["master"] for job in over.values()}, {"m0", "m1"})


if __name__ == "__main__":
    unittest.main()
