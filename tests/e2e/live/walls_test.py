"""What a task cannot reach, leave behind or take from others, on a cluster of real processes."""

import os
import pathlib
import select
import signal
import socket
import stat
import subprocess
import unittest
import urllib.parse

import cluster as c

NOBODY = 65534


def alive(mark):
    """The processes that have the word."""
    return [pid for pid, words in c.processes() if mark in words]


class Orphans(unittest.TestCase):
    # Leaves the session, the environment's mark and the parent behind. An attempt that is lost with
    # its supervisor is followed by another: the marks are those of the first.
    SCRIPT = ("M={mark}$MUSTER_ATTEMPT; "
              'env -i setsid sh -c "env -i setsid sleep $M & sleep $M" & '
              "sleep 0.5; echo left; sleep $M")

    def setUp(self):
        self.cluster = self.enterContext(c.Cluster("worker.stop_grace=1s"))

    def enterContext(self, manager):  # Python 3.11 has it
        result = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return result

    def start(self, mark):
        job = self.cluster.shell(self.SCRIPT.format(mark=mark), "--retries", "0")
        self.cluster.wait_until("it has left processes behind",
                                lambda: "left" in self.cluster.run("logs", job, check=False).stdout)
        self.assertGreaterEqual(len(alive(mark + "1")), 3)
        return job

    def test_what_a_task_started_ends_with_its_killed_supervisor(self):
        mark = "31415.1"
        job = self.start(mark)
        for shim in self.cluster.shims():
            self.cluster.kill(shim)
        self.cluster.wait_until("nothing of it runs", lambda: not alive(mark + "1"))
        self.cluster.run("cancel", job, check=False)

    def test_what_a_task_started_ends_with_its_instance(self):
        mark = "31415.2"
        self.start(mark)
        self.cluster.run("down", "--dir", self.cluster.dir)
        self.assertEqual(alive(mark + "1"), [])
        self.assertEqual(self.cluster.workers(), [])


class Files(unittest.TestCase):
    def test_files_of_the_cluster_are_for_nobody_else(self):
        with c.Cluster() as cluster:
            job = cluster.shell("echo out >$MUSTER_CHECKPOINT_DIR/kept; sleep 60")
            cluster.wait_until("it runs", lambda: cluster.job(job)["state"] == "running")
            open_to_others = []
            for folder, _, files in os.walk(cluster.dir):
                for path in [folder, *(os.path.join(folder, name) for name in files)]:
                    try:
                        mode = os.lstat(path).st_mode
                    except FileNotFoundError:
                        continue  # the cluster goes on meanwhile
                    written_by_task = "kept" in path
                    if mode & 0o077 and not stat.S_ISLNK(mode) and not written_by_task:
                        open_to_others.append((path, oct(mode)))
            self.assertEqual(open_to_others, [])
            self.assertEqual(list(cluster.dir.rglob("node-ca.key")), [])

    @unittest.skipIf(os.geteuid() != 0, "only root can run tasks as another user")
    def test_tasks_of_another_user_reach_their_own_folders_and_no_key(self):
        with c.Cluster(f"worker.task_uid={NOBODY}") as cluster:
            keys = [str(key) for key in cluster.dir.rglob("*.key")]
            self.assertTrue(any("worker-ca" in key for key in keys))
            job = cluster.shell(
                "id -u; echo kept >$MUSTER_CHECKPOINT_DIR/mine && cat $MUSTER_CHECKPOINT_DIR/mine; "
                f"cat {' '.join(keys)} {cluster.dir}/token 2>/dev/null; echo end", "--wait")
            self.assertEqual(cluster.run("logs", job).stdout.split(), [str(NOBODY), "kept", "end"])

    @unittest.skipIf(os.geteuid() != 0, "for who is not root it says something else")
    def test_up_says_that_tasks_run_as_root_and_how_not_to(self):
        with c.Cluster() as cluster:
            said = cluster.run("down", "--dir", cluster.dir)
            said = cluster.run("up", "--dir", cluster.dir).stdout
            c.assert_golden(self, c.plain(c.line_with(said, "Tasks run as "), folder=cluster.dir))
            self.assertIn("worker.task_uid=", said)


class Connections(unittest.TestCase):
    ASKED = b"GET /chart.js HTTP/1.1\r\nHost: x\r\n\r\n"

    def ask_more(self, readers):
        """Of each as much as it takes, from within the request that it has got a part of."""
        for one, sent in list(readers.items()):
            try:
                readers[one] += one.send((self.ASKED * 400)[sent % len(self.ASKED):])
            except BlockingIOError:
                pass
            except OSError:  # it has had to give way
                one.close()
                del readers[one]

    @staticmethod
    def open_to(count, api, readers):
        while len(readers) < count:
            one = socket.socket()
            readers[one] = 0
            for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                one.setsockopt(socket.SOL_SOCKET, buffer, 4096)
            one.connect((api.hostname, api.port))
            one.setblocking(False)

    def fill(self, api, readers):
        """Until the server reads no further, because it cannot write to any of them."""
        for _ in range(100):
            self.open_to(256, api, readers)
            if not select.select([], readers, [], 1)[1]:
                break
            self.ask_more(readers)

    def test_idle_connections_keep_nobody_out(self):
        with c.Cluster() as cluster:
            said = cluster.ask("up", "--dir", cluster.dir)  # it is up: says where
            api = urllib.parse.urlparse(said["api"])
            idle = [socket.create_connection((api.hostname, api.port)) for _ in range(400)]
            try:
                self.assertEqual(cluster.run("status").returncode, 0)
                job = cluster.shell("true")
                cluster.wait_over([job])
            finally:
                for one in idle:
                    one.close()

    def test_connections_that_do_not_read_keep_nobody_out(self):
        with c.Cluster() as cluster:
            said = cluster.ask("up", "--dir", cluster.dir)
            api = urllib.parse.urlparse(said["api"])
            readers = {}  # and how many bytes each has sent
            try:
                for _ in range(3):
                    self.fill(api, readers)
                    # Less than the half minute after which the server gives up on them.
                    # Of this API, not of another one that the cluster may have.
                    done = cluster.run("status", "--api", said["api"], "--token-file",
                                       cluster.dir / "token", "--retry-for", "3s", check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
            finally:
                for one in readers:
                    one.close()


if __name__ == "__main__":
    unittest.main()
