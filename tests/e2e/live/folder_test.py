"""The folder of a cluster: copied, moved, of an earlier version, and without its keeper."""

import os
import pathlib
import shutil
import subprocess
import time
import unittest

from cluster import Cluster, MUSTER, assert_golden, line_with, plain

COPY = "this folder is a copy of the cluster in "


def muster(*words):
    """A command of a user who has named no cluster."""
    known = {name: value for name, value in os.environ.items() if name != "MUSTER_CLUSTER"}
    return subprocess.run([MUSTER, *map(str, words)], capture_output=True, text=True, timeout=120,
                          env=known)


class OneNode(Cluster):
    """In a folder that can be moved and has room for copies beside it."""

    def __init__(self):
        super().__init__(nodes=1)
        self.place = self.dir
        self.dir = self.place / "c"

    def __enter__(self):
        os.chmod(self.place, 0o711)
        self.up()
        return self

    def __exit__(self, *error):
        super().__exit__(*error)
        for other in ("copy", "second"):
            muster("down", "--dir", self.place / other)
        shutil.rmtree(self.place, ignore_errors=True)

    def copy(self, name="copy"):
        subprocess.run(["cp", "-a", self.dir, self.place / name], check=True)
        return self.place / name

    def move(self, name):
        self.dir = self.dir.rename(self.place / name)

    def count(self):
        return len(self.ask("jobs")["jobs"])


class Copies(unittest.TestCase):
    def test_are_no_twins_and_never_reach_the_original(self):
        with OneNode() as cluster:
            job = cluster.shell("sleep 600", "--cpus", "0.5")
            cluster.wait_until("it runs", lambda: cluster.job(job)["running"] == 1)
            copy = cluster.copy()
            self.refused(cluster, copy)
            self.assertEqual(cluster.job(job)["running"], 1, "the original's task runs on")
            self.assertEqual(cluster.job(job)["tasks"][0]["attempt"], 1)
            self.assertEqual(cluster.count(), 1)
            cluster.run("down", "--dir", cluster.dir)
            self.refused(cluster, copy)
            # And takes its place when it is gone; a second one is not up beside it. Made anew:
            # files of a store that is written to meanwhile are of several moments.
            shutil.rmtree(copy)
            cluster.copy()
            shutil.rmtree(cluster.dir)
            second = cluster.place / "second"
            subprocess.run(["cp", "-a", copy, second], check=True)
            cluster.dir = copy
            cluster.up()
            cluster.wait_until("it runs again", lambda: cluster.job(job)["running"] == 1)
            told = muster("up", "--dir", second)
            self.assertEqual(told.returncode, 1)
            self.assertIn(f"in {copy} (process", told.stderr)
            told = muster("submit", "--cluster", second, "--retry-for", "0s", "--", "true")
            self.assertEqual(told.returncode, 1)
            assert_golden(self, plain(told.stderr, folder=second))
            self.assertEqual(cluster.count(), 1)

    def refused(self, cluster, copy):
        """Whatever is asked of the copy."""
        for words in (("up", "--dir", copy), ("submit", "--cluster", copy, "--", "true"),
                      ("cancel", "--cluster", copy, "1")):
            told = muster(*words)
            self.assertEqual(told.returncode, 1, words)
            self.assertIn(COPY + str(cluster.dir), told.stderr)
        self.assertEqual(muster("down", "--dir", copy).returncode, 0, "nothing of it runs")


class Moves(unittest.TestCase):
    def test_take_the_cluster_along_and_leave_nothing_behind(self):
        with OneNode() as cluster:
            job = cluster.shell("sleep 600", "--cpus", "0.5")
            cluster.wait_until("it runs", lambda: cluster.job(job)["running"] == 1)
            before = cluster.dir
            cluster.run("down", "--dir", cluster.dir)
            cluster.move("d")
            cluster.up()
            cluster.wait_until("it runs again", lambda: cluster.job(job)["running"] == 1)
            self.assertFalse(before.exists())
            # As it may be by mistake, while it runs.
            cluster.move("e")
            told = muster("up", "--dir", cluster.dir)
            self.assertEqual(told.returncode, 1)
            self.assertIn("moved", told.stderr)
            cluster.run("down", "--dir", cluster.dir)
            cluster.up()
            cluster.wait_until("and again", lambda: cluster.job(job)["running"] == 1)

    def test_of_another_folder_into_its_place_end_it_before_it_does_harm_there(self):
        with OneNode() as cluster:
            jobs = [int(cluster.shell("true")) for _ in range(3)]
            cluster.wait_over(jobs)
            cluster.run("down", "--dir", cluster.dir)
            cluster.copy()
            cluster.up()
            cluster.wait_over([int(cluster.shell("true"))])
            running = [cluster.keeper(), *cluster.nodes()]
            # The mistake: it is not taken down before.
            # Again where the node, which still runs, makes a file in it meanwhile.
            cluster.wait_until("its folder is away", lambda: subprocess.run(
                ["rm", "-rf", cluster.dir], stderr=subprocess.DEVNULL).returncode == 0)
            (cluster.place / "copy").rename(cluster.dir)
            cluster.wait_until("all of it is gone",
                               lambda: not any(os.path.exists(f"/proc/{pid}") for pid in running))
            cluster.up()
            self.assertEqual(sorted(job["job"] for job in cluster.ask("jobs")["jobs"]), jobs)
            cluster.wait_over([int(cluster.shell("true"))])

    def test_of_folders_of_earlier_versions_too(self):
        with OneNode() as cluster:
            job = cluster.shell("true")
            cluster.wait_over([job])
            cluster.run("down", "--dir", cluster.dir)
            self.make_older(cluster)
            cluster.up()
            self.assertEqual(cluster.count(), 1)
            cluster.run("down", "--dir", cluster.dir)
            (cluster.dir / "place").unlink()
            copy = cluster.copy()
            self.assertIn(COPY + str(cluster.dir), muster("up", "--dir", copy).stderr)
            self.assertEqual(muster("down", "--dir", copy).returncode, 0)
            before = cluster.dir
            cluster.move("d")
            cluster.up()
            self.assertEqual(cluster.count(), 1)
            self.assertFalse(before.exists())

    @staticmethod
    def make_older(cluster):
        """Absolute paths, a catalog of a checkout that is gone, and no mark of the place."""
        file = cluster.dir / "cluster.toml"
        text = file.read_text()
        for key in ("state", "pki", "token"):
            text = text.replace(f"= '{key}'", f"= '{cluster.dir}/{key}'")
        text = text.replace("'local-types.csv'", "'/no/checkout/config/cluster/local-types.csv'")
        file.write_text(text)
        for name in ("local-types.csv", "place", "keeper.runs"):
            (cluster.dir / name).unlink(missing_ok=True)


class Keepers(unittest.TestCase):
    def test_that_are_killed_are_started_again_and_their_nodes_with_them(self):
        with Cluster(nodes=2, masters=1) as cluster:
            job = cluster.shell("sleep 600", "--cpus", "0.5")
            cluster.wait_until("it runs", lambda: cluster.job(job)["running"] == 1)
            self.kill_keeper(cluster)
            # By what is left of the cluster, and by nobody's command.
            cluster.wait_until("it is there again", lambda: cluster.keeper() is not None)
            self.runs_on(cluster, job)
            # Nothing is left but the instances: the next command does it. It has secrets that the
            # cluster is not to have, and the keeper before was killed soon after its start.
            (cluster.dir / "keeper.pace").write_text(f"{int(time.monotonic() * 1000)} 400\n")
            os.environ["OF_ONE_COMMAND"] = "secret"
            self.addCleanup(os.environ.pop, "OF_ONE_COMMAND", None)
            for pid in [cluster.keeper(), *cluster.nodes()]:
                cluster.signal(pid, 19)
            for pid in [cluster.keeper(), *cluster.nodes()]:
                cluster.kill(pid)
            cluster.wait_until("all are gone", lambda: not cluster.nodes())
            self.assertIsNone(cluster.keeper())
            self.runs_on(cluster, job)
            surroundings = pathlib.Path(f"/proc/{cluster.keeper()}/environ").read_bytes()
            self.assertNotIn(b"OF_ONE_COMMAND", surroundings)
            self.assertIn(b"HOME=", surroundings)
            assert_golden(self, line_with((cluster.dir / "keeper.log").read_text(), " 800 ms"))
            # And `down` means it, whenever it comes.
            self.kill_keeper(cluster)
            cluster.run("down", "--dir", cluster.dir)
            cluster.wait_until("nodes end", lambda: not cluster.nodes())
            told = cluster.run("jobs", "--retry-for", "0s", check=False)
            self.assertEqual(told.returncode, 1)
            self.assertIsNone(cluster.keeper())
            cluster.up()
            self.assertEqual(cluster.count_of_keepers(), 1)

    def kill_keeper(self, cluster):
        before = cluster.keeper()
        cluster.kill(before)
        cluster.wait_until("it is gone", lambda: cluster.keeper() != before)

    def runs_on(self, cluster, job):
        def is_whole():
            nodes = cluster.run("nodes", "--json", check=False)
            return nodes.returncode == 0 and '"connected":false' not in nodes.stdout
        cluster.wait_until("all nodes are linked", is_whole)
        # Each node has started one: those that find the lock taken end.
        cluster.wait_until("one keeper is left", lambda: cluster.count_of_keepers() == 1)
        cluster.wait_until("it runs on", lambda: cluster.job(job)["running"] == 1)
        self.assertEqual(cluster.job(job)["tasks"][0]["attempt"], 1)


if __name__ == "__main__":
    unittest.main()
