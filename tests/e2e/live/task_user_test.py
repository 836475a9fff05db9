"""As whom tasks run: what `muster up` advises works as printed, what cannot work is refused, and
nobody but the machine of a worker makes it end."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import cluster as c

NOBODY = 65534
AS_NOBODY = f"worker.task_uid={NOBODY}"


@unittest.skipIf(os.geteuid() != 0, "only root can run tasks as another user")
class Homes(unittest.TestCase):
    """A user's home is root's here, and everything is in its usual place below it."""

    def home(self, mode):
        home = pathlib.Path(tempfile.mkdtemp(prefix="mh", dir="/tmp"))
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        os.chmod(home, mode)
        self.home_dir = home
        return home

    def muster(self, *words, shell=None):
        hidden = ("XDG_STATE_HOME", "MUSTER_CLUSTER", "MUSTER_API")
        env = {name: value for name, value in os.environ.items() if name not in hidden}
        env["HOME"] = str(self.home_dir)
        env["PATH"] = f"{pathlib.Path(c.MUSTER).parent}:{env['PATH']}"
        words = ["/bin/sh", "-c", shell] if shell else [c.MUSTER, *map(str, words)]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, env=env)

    def ended_afterwards(self, *flags):
        self.addCleanup(self.muster, "down", "--erase", *flags)

    def user_of_a_task(self, *flags):
        done = self.muster("submit", *flags, "--wait", "--retries", "0", "--", "sh", "-c",
                           "id -u; touch here $MUSTER_CHECKPOINT_DIR/kept && echo made")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.muster("logs", *flags, "1").stdout.split()

    def test_a_home_that_bars_the_tasks_is_refused_by_name(self):
        home = self.home(0o700)
        self.ended_afterwards()
        done = self.muster("up", "--set", AS_NOBODY)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(f"cannot pass {home} (mode 700, of user 0)", done.stderr)
        self.assertIn(" --dir ", done.stderr)
        self.assertEqual(list(home.iterdir()), [], "nothing has been made")

    def test_the_advice_for_such_a_home_is_a_command_that_works(self):
        self.home(0o700)
        self.ended_afterwards()
        said = self.muster("up").stdout
        advice = re.search(r"As another user, in a new cluster: (muster up --dir (\S+) .*)", said)
        self.assertIsNotNone(advice, said)
        if os.path.exists(advice[2]):
            self.skipTest(f"{advice[2]} is somebody's")
        self.ended_afterwards("--dir", advice[2])
        done = self.muster(shell=advice[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        c.assert_golden(self, c.line_with(done.stdout, "Tasks run as "))
        self.assertEqual(self.user_of_a_task("--cluster", advice[2]), [str(NOBODY), "made"])

    def test_what_up_makes_itself_bars_nobody(self):
        home = self.home(0o711)
        self.ended_afterwards()
        done = self.muster("up", "--set", AS_NOBODY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.user_of_a_task(), [str(NOBODY), "made"])
        folder = home / ".local/state/muster/local"
        while folder != home:
            self.assertEqual(folder.stat().st_mode & 0o777, 0o711, folder)
            folder = folder.parent

    def test_the_advice_for_a_folder_that_can_be_reached_is_a_command_that_works(self):
        where = self.home(0o711) / "mine"
        self.ended_afterwards("--dir", where)
        said = self.muster("up", "--dir", where).stdout
        advice = re.search(r"As another user: (muster down .* && muster up .*)", said)
        self.assertIsNotNone(advice, said)
        done = self.muster(shell=advice[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.user_of_a_task("--cluster", where), [str(NOBODY), "made"])


@unittest.skipIf(os.geteuid() != 0, "needs two users")
class WithoutRoot(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="mn", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.chown(self.dir, NOBODY, NOBODY)
        if self.muster("--version").returncode != 0:
            self.skipTest("the command is out of the other user's reach")

    def muster(self, *words):
        try:
            return subprocess.run([c.MUSTER, *map(str, words)], capture_output=True, text=True,
                                  timeout=120, user=NOBODY, group=NOBODY, extra_groups=[],
                                  cwd=self.dir,
                                  env={"HOME": str(self.dir), "PATH": "/usr/bin:/bin"})
        except PermissionError:
            raise unittest.SkipTest("the command is out of the other user's reach") from None

    def up(self, *flags):
        return self.muster("up", "--dir", self.dir / "c", "--nodes", "1", *flags)

    def test_nobody_else_can_be_the_tasks_user(self):
        done = self.up("--set", "worker.task_uid=1000")
        if done.returncode == 0:
            self.muster("down", "--dir", self.dir / "c")
        self.assertEqual(done.returncode, 2, done.stdout)
        c.assert_golden(self, c.plain(done.stderr, folder=self.dir))
        self.assertFalse((self.dir / "c").exists())

    def test_nor_for_a_node_nor_for_a_worker(self):
        self.assertEqual(self.up().returncode, 0)
        self.muster("down", "--dir", self.dir / "c")
        file = self.dir / "c/cluster.toml"
        text = file.read_text().replace("\n[worker]\n", "\n")
        self.assertNotIn("stop_grace", text)
        file.write_text(text + "\n[worker]\ntask_uid = 1000\n")
        done = self.muster("node", "--config", file, "--name", "n0")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("worker.task_uid = 1000: only root can", done.stderr)
        worker = self.dir / "worker.toml"
        worker.write_text(f'instance = 1\nmasters = ["127.0.0.1:1"]\nmaster_name = "n0"\n'
                          f'insecure_loopback = true\nstate_dir = "{self.dir}/s"\n'
                          f'checkpoint_root = "{self.dir}/k"\n[capacity]\ncpu = 1\nmemory = 1\n'
                          f'[tasks]\nuid = 1000\n')
        done = self.muster("worker", "--config", worker)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("tasks.uid = 1000: only root can", done.stderr)

    def test_the_own_user_is_nobody_else(self):
        done = self.up("--set", AS_NOBODY)
        try:
            self.assertEqual(done.returncode, 0, done.stderr)
            c.assert_golden(self, c.line_with(done.stdout, "Tasks run as "))
            done = self.muster("submit", "--cluster", self.dir / "c", "--wait", "--retries", "0",
                               "--", "true")
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            self.muster("down", "--dir", self.dir / "c")


class Signals(unittest.TestCase):
    def test_a_worker_goes_on_whoever_says_that_its_instance_ends(self):
        with c.Cluster(nodes=1) as cluster:
            job = cluster.shell("exec sleep 1000", "--retries", "0")
            cluster.wait_until("it runs", lambda: cluster.job(job)["state"] == "running")
            cluster.wait_until("it has a process", cluster.shims)
            for worker in cluster.workers():
                cluster.signal(worker, signal.SIGUSR1)
            time.sleep(0.5)  # for what must not happen
            cluster.run("cancel", job)
            cluster.wait_over([job], timeout=30)


if __name__ == "__main__":
    unittest.main()
