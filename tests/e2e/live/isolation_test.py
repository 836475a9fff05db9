"""What users' tasks see of each other and of the cluster, by what keeps them apart."""

import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import cluster as c

NOBODY = 65534
FIRST = 310_000


def persons():
    """Accounts of this system that are neither its own nor root's."""
    return [one for one in pwd.getpwall() if one.pw_uid >= 1000 and one.pw_uid != NOBODY]


@unittest.skipIf(os.geteuid() != 0, "only root can run tasks as other users")
class ByUsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = c.Cluster(f"worker.task_uids={FIRST}-{FIRST + 9}", nodes=1)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__, None, None, None)

    def says(self, user, script, *flags):
        """What a task of the user writes."""
        job = self.cluster.shell(script, "--user", user, "--retries", "0", "--wait", *flags)
        return self.cluster.run("logs", job).stdout.split()

    def test_a_name_has_a_number_of_its_own_and_keeps_it(self):
        ann, bob = (self.says(user, "id -u; id -G") for user in ("x-ann", "x-bob"))
        self.assertNotEqual(ann, bob)
        for uid, *groups in (ann, bob):
            self.assertIn(int(uid), range(FIRST, FIRST + 10))
            self.assertEqual(groups, [uid])
        self.assertEqual(self.says("x-ann", "id -u; id -G"), ann)
        self.cluster.run("down", "--dir", self.cluster.dir)
        self.cluster.up()
        self.assertEqual(self.says("x-bob", "id -u; id -G"), bob)
        self.assertEqual(self.says("x-ann", "id -u; id -G"), ann)

    def test_nobody_reads_what_is_anothers(self):
        script = ("umask 0; echo a >$MUSTER_CHECKPOINT_DIR/kept; echo a >here; "
                  "echo $MUSTER_CHECKPOINT_DIR/kept $PWD/here $MUSTER_SOCKET $MUSTER_ATTEMPT_DIR; "
                  "exec sleep 60")
        job = self.cluster.shell(script, "--user", "x-ann", "--retries", "0")
        self.cluster.wait_until("it has written", lambda: self.cluster.run(
            "logs", job, check=False).stdout.count("\n"))
        kept, here, socket, attempt = self.cluster.run("logs", job).stdout.split()
        self.assertEqual(pathlib.Path(here).read_text(), "a\n")
        said = self.says("x-bob", f"cat {kept} {here} {attempt}/out.0 {attempt}/order; "
                         f"ls {attempt}; MUSTER_SOCKET={socket} {c.MUSTER} progress 1; "
                         f"kill -0 $(pgrep -u {os.stat(here).st_uid} sleep); echo end")
        self.cluster.run("cancel", job)
        self.assertEqual(said, ["end"])

    def test_the_name_of_root_is_a_name_like_others(self):
        self.assertIn(int(self.says("root", "id -u")[0]), range(FIRST, FIRST + 10))

    def test_who_has_an_account_runs_under_it(self):
        if not persons():
            self.skipTest("nobody but the system has an account here")
        person = persons()[0]
        uid, gid, home = self.says(person.pw_name, "id -u; id -g; echo $HOME", "--workdir", "/")
        self.assertEqual((int(uid), int(gid), home), (person.pw_uid, person.pw_gid, person.pw_dir))

    def test_a_work_folder_that_is_closed_to_the_user_is_refused_with_both_names(self):
        closed = pathlib.Path(tempfile.mkdtemp(prefix="mw", dir="/tmp"))  # 0700, of root
        self.addCleanup(shutil.rmtree, closed)
        (closed / "mine").mkdir()
        done = self.cluster.run("submit", "--user", "x-ann", "--workdir", closed / "mine", "--",
                                "true", check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        c.assert_golden(self, re.sub(r"\(uid [0-9]+", "(uid {uid}",
                                     c.plain(done.stderr, folder=closed)))
        os.chmod(closed, 0o711)
        self.assertEqual(self.says("x-ann", "pwd", "--workdir", closed / "mine"),
                         [f"{closed}/mine"])

    def test_instances_and_up_say_what_holds(self):
        job = self.cluster.shell("sleep 60", "--user", "x-ann")
        self.cluster.wait_until("it runs", lambda: self.cluster.job(job)["running"] == 1)
        kinds = {one["isolation"] for one in self.cluster.ask("instances")["instances"]
                 if one["connected"]}
        self.cluster.run("cancel", job)
        self.assertEqual(kinds, {"uid"})
        said = self.cluster.run("up", "--dir", self.cluster.dir).stdout
        self.assertIn(f"the users {FIRST}-{FIRST + 9}", said)
        self.assertIn("isolation: uid", said)


@unittest.skipIf(os.geteuid() != 0, "needs another user")
class ByNamespaces(unittest.TestCase):
    """A cluster of a user who is not root."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="mi", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.chown(self.dir, NOBODY, NOBODY)
        self.place = self.dir / "c"

    def muster(self, *words):
        try:
            return subprocess.run([c.MUSTER, *map(str, words)], capture_output=True, text=True,
                                  timeout=120, user=NOBODY, group=NOBODY, extra_groups=[],
                                  cwd=self.dir,
                                  env={"HOME": str(self.dir), "PATH": "/usr/bin:/bin",
                                       "MUSTER_CLUSTER": str(self.place)})
        except PermissionError:
            raise unittest.SkipTest("the command is out of the other user's reach") from None

    def up(self, *flags):
        done = self.muster("up", "--dir", self.place, "--nodes", "1", "--delay-scale", "0.002",
                           "--policy", "eva,period_s=0.5", *flags)
        self.addCleanup(self.muster, "down", "--dir", self.place)
        if "make namespaces" in done.stderr or "(isolation: none)" in done.stdout and not flags:
            self.skipTest(f"NOT TESTED, this system lets nobody make namespaces: {done.stderr}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def says(self, script, *flags):
        done = self.muster("submit", "--quiet", "--wait", "--retries", "0", *flags, "--", "/bin/sh",
                           "-c", script)
        job = done.stdout.split()[0]
        return self.muster("logs", job).stdout.split()

    def kinds(self):
        """Of the instances while a task runs: without one they end within half a second."""
        job = self.muster("submit", "-q", "--", "sleep", "60").stdout.strip()
        until = time.monotonic() + 60
        while not json.loads(self.muster("job", job, "--json").stdout)["running"]:
            self.assertLess(time.monotonic(), until, "it does not run")
            time.sleep(0.1)
        listed = json.loads(self.muster("instances", "--json").stdout)["instances"]
        self.muster("cancel", job)
        return {one["isolation"] for one in listed if one["connected"]}

    # As a task can reach: by path, or through a process of the cluster.
    LOOK = ("cat {dir}/token {dir}/pki/*/*.key; ls {dir}/state {dir}/pki; "
            "cat /proc/[0-9]*/root{dir}/token; echo end")

    def test_keys_and_stores_are_out_of_sight(self):
        self.assertIn("isolation: namespaces", self.up())
        said = self.says(self.LOOK.format(dir=self.dir / "c"))
        # Folders that lead to what is the attempt's own are there, without what else was in them.
        self.assertNotIn((self.dir / "c/token").read_text().strip(), said)
        self.assertEqual([word for word in said if "PRIVATE" in word], [])
        self.assertEqual([word for word in said if word not in ("end", "n0", "checkpoints",
                                                                f"{self.dir}/c/state:",
                                                                f"{self.dir}/c/pki:")], [])
        self.assertEqual(self.kinds(), {"namespaces"})
        before = (self.dir / "c/cluster.toml").read_text()
        self.says(f"echo '[worker]' >>{self.dir}/c/cluster.toml; touch {self.dir}/c/new")
        self.assertEqual((self.dir / "c/cluster.toml").read_text(), before)
        self.assertFalse((self.dir / "c/new").exists())

    def test_attempts_that_are_elsewhere_are_out_of_sight_there(self):
        memory = pathlib.Path(tempfile.mkdtemp(prefix="mi", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, memory, ignore_errors=True)
        os.chown(memory, NOBODY, NOBODY)
        self.up("--set", f"worker.attempts={memory}")
        said = self.says(f"pwd; find {memory} -type f ! -name socket; ls $MUSTER_ATTEMPT_DIR")
        self.assertTrue(said[0].startswith(str(memory)), said)
        self.assertEqual(sorted(said[1:]), ["socket", "work"])

    def test_checkpoints_socket_and_work_folder_are_where_they_are_said_to_be(self):
        self.up()
        said = self.says(f"{c.MUSTER} progress 3 && echo told; echo 1 >kept && cat kept; "
                         "echo 2 >$MUSTER_CHECKPOINT_DIR/kept; cat $MUSTER_CHECKPOINT_DIR/kept; "
                         "echo $MUSTER_CHECKPOINT_DIR")
        self.assertEqual(said[:3], ["told", "1", "2"])
        self.assertEqual((pathlib.Path(said[3]) / "kept").read_text(), "2\n")
        folder = self.dir / "work"
        folder.mkdir()
        os.chown(folder, NOBODY, NOBODY)
        self.assertEqual(self.says("pwd; echo 3 >mine", "--workdir", folder), [str(folder)])
        self.assertEqual((folder / "mine").read_text(), "3\n")
        script = self.dir / "a.sh"
        script.write_text("#!/bin/sh\nid -un; echo $1 in $(pwd)\n")
        done = self.muster("submit", "--wait", "-q", "--workdir", f"{folder}/%j/%a", script, "x")
        job = done.stdout.split()[0]
        self.assertIn(f"x in {folder}/{job}/0\n", self.muster("logs", job).stdout)

    def test_a_task_does_not_move_the_cluster_from_under_the_cover_of_the_next(self):
        self.place = self.dir / "deep/down/c"
        self.place.parent.mkdir(parents=True)
        for folder in (self.place.parent, self.place.parent.parent):
            os.chown(folder, NOBODY, NOBODY)
        self.up()
        said = self.says(f"cd {self.dir} && mv deep moved; cd deep && mv down moved; "
                         f"mkdir -p {self.place}/state; ls {self.dir} {self.dir}/deep")
        self.assertNotIn("moved", said)
        said = self.says(f"cat {self.dir}/*/*/c/token {self.dir}/*/*/c/pki/*/*.key; echo end")
        self.assertEqual(said, ["end"])

    def test_ends_are_what_they_are_without(self):
        self.up()
        for script, end in (("exit 3", "exit code 3"), ("kill -9 $$", "killed by signal 9")):
            done = self.muster("submit", "--wait", "--retries", "0", "--", "/bin/sh", "-c", script)
            self.assertIn(end, done.stdout + done.stderr)
        done = self.muster("submit", "--wait", "--retries", "0", "--", "./x")
        self.assertIn("cannot start: ./x: No such file", done.stdout + done.stderr)

    def test_without_isolation_tasks_see_what_their_user_does(self):
        self.assertIn("isolation: none", self.up("--set", "worker.isolation=none"))
        said = self.says(self.LOOK.format(dir=self.dir / "c"))
        self.assertIn((self.dir / "c/token").read_text().strip(), said)
        self.assertEqual(self.kinds(), {"none"})


if __name__ == "__main__":
    unittest.main()
