"""Files in and out: a folder that a job begins with, outputs that are fetched, whose they are, and
kill -9 of every role meanwhile."""

import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest

from cluster import MUSTER, Cluster, assert_golden, plain

SEED = int(os.environ.get("MUSTER_FILES_SEED", "1"))
TASKS = int(os.environ.get("MUSTER_FILES_TASKS", "40"))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
        self.addCleanup(os.environ.pop, "XDG_CACHE_HOME")
        self.code = self.folder / "code"
        (self.code / "data").mkdir(parents=True)
        (self.code / "data" / "in.bin").write_bytes(random.Random(SEED).randbytes(200_000))
        (self.code / "run.sh").write_text(
            "#!/bin/sh -e\n"
            "cat data/in.bin > out.bin; echo $MUSTER_TASK_INDEX >> out.bin\n"
            "mkdir logs; echo done > logs/$MUSTER_TASK_INDEX.log\n")
        (self.code / "run.sh").chmod(0o755)

    def test_a_folder_goes_in_and_outputs_come_out(self):
        with Cluster(nodes=1, masters=1) as cluster:
            self.round_trip(cluster)
            self.bad_input(cluster)
            self.other_users(cluster)

    def muster(self, cluster, *words, token=None):
        environment = {**os.environ, "MUSTER_CLUSTER": str(cluster.dir)}
        if token:
            environment["MUSTER_TOKEN"] = token
        return subprocess.run([MUSTER, *words], timeout=120, capture_output=True, text=True,
                              env=environment)

    def round_trip(self, cluster):
        (self.code / ".musterignore").write_text("*.tmp\n")
        (self.code / "scratch.tmp").write_text("stays")
        (self.code / "latest").symlink_to("data/in.bin")
        done = self.muster(cluster, "submit", "--wait", "-q", "--stage", str(self.code),
                           "--outputs", "out.bin,logs/**,listing", "--",
                           "sh", "-c", "ls -A > listing; readlink latest >> listing; ./run.sh")
        self.assertEqual(done.returncode, 0, done.stderr)
        job = done.stdout.strip()
        to = self.folder / "results"
        fetched = self.muster(cluster, "fetch", job, "-o", str(to))
        self.assertEqual(fetched.returncode, 0, fetched.stderr)
        self.assertEqual((to / "listing").read_text().split(),
                         [".musterignore", "data", "latest", "listing", "run.sh", "data/in.bin"])
        self.assertEqual((to / "out.bin").read_bytes(),
                         (self.code / "data" / "in.bin").read_bytes() + b"0\n")
        listed = json.loads(self.muster(cluster, "ls", job, "--json").stdout)
        self.assertIn("out.bin", json.dumps(listed))
        # There already, and then in the way.
        self.assertEqual(self.muster(cluster, "fetch", job, "-o", str(to)).returncode, 0)
        (to / "mine").write_text("mine")
        refused = self.muster(cluster, "fetch", job, "-o", str(to))
        self.assertEqual(refused.returncode, 1)
        assert_golden(self, plain(refused.stderr, folder=self.folder, job=job))
        self.assertEqual((to / "mine").read_text(), "mine")

    def bad_input(self, cluster):
        def fails(*words, code=1):
            done = self.muster(cluster, "submit", *words, "--", "true")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stdout, "")
            assert_golden(self, plain(done.stderr, folder=self.folder))
        fails("--stage", str(self.folder / "nowhere"))
        fails("--stage", str(self.code / "run.sh"))
        fails("--outputs", "a[b")
        fails("--outputs", "../x", code=2)
        fails("--outputs", "x", "--workdir", "/tmp", code=2)
        (self.code / "out").symlink_to("../..")
        fails("--stage", str(self.code))
        (self.code / "out").unlink()
        done = self.muster(cluster, "submit", "--wait", "--outputs", "model.bin", "--", "true")
        self.assertEqual(done.returncode, 73)
        assert_golden(self, done.stderr)

    def other_users(self, cluster):
        def token(user):
            made = self.muster(cluster, "token", "create", user, "--role", "user", "--user", user,
                               "--json")
            return json.loads(made.stdout)["secret"]
        ann, ben = token("ann"), token("ben")
        done = self.muster(cluster, "submit", "--wait", "-q", "--stage", str(self.code),
                           "--outputs", "out.bin", "--", "./run.sh", token=ann)
        self.assertEqual(done.returncode, 0, done.stderr)
        job = done.stdout.strip()
        stage = re.search("[0-9a-f]{64}", self.muster(cluster, "job", job, "--json").stdout)[0]
        self.assertEqual(self.muster(cluster, "fetch", job, "-o", str(self.folder / "hers"),
                                     token=ann).returncode, 0)
        self.assertEqual(self.muster(cluster, "fetch", job, "-o", str(self.folder / "his"),
                                     token=ben).returncode, 1)
        self.assertFalse((self.folder / "his").exists())
        # Who knows the name of her files does not have them.
        named = self.folder / "named.toml"
        named.write_text(f'command = ["cat", "data/in.bin"]\nstage = "{stage}"\n')
        refused = self.muster(cluster, "submit", str(named), token=ben)
        self.assertEqual(refused.returncode, 1)
        assert_golden(self, plain(refused.stderr, tree=stage))
        self.assertEqual(self.muster(cluster, "submit", "--wait", str(named),
                                     token=ann).returncode, 0)

    def test_nothing_is_lost_when_roles_are_killed(self):
        chance = random.Random(SEED)
        with Cluster("worker.stop_grace=1s", "link.timeout=3s", nodes=3, masters=1,
                     delay_scale=0.002) as cluster:
            file = self.folder / "two.toml"
            file.write_text(f"""
[[jobs]]
name = "first"
stage = "code"
command = ["sh", "-c", "sleep 0.$MUSTER_TASK_INDEX; ./run.sh"]
outputs = ["out.bin"]
array = "0-{TASKS - 1}"
cpus = 0.5
memory_gib = 0.2
retries = 50

[[jobs]]
name = "second"
stage = "code"
command = "sleep 0.3; ./run.sh; echo error >&2"
outputs = ["logs"]
tasks = {TASKS // 2}
cpus = 0.5
memory_gib = 0.2
after = ["first"]
retries = 50
""")
            done = self.muster(cluster, "submit", "-q", str(file))
            self.assertEqual(done.returncode, 0, done.stderr)
            first, second = (int(each) for each in done.stdout.split())
            for _ in range(4):
                time.sleep(chance.uniform(0.5, 2))
                cluster.kill(cluster.node(chance.choice(["n0", "n1", "n2"])))
                if cluster.workers():
                    cluster.kill(chance.choice(cluster.workers()))
                if cluster.shims():
                    cluster.kill(chance.choice(cluster.shims()))
            over = cluster.wait_over([first, second], timeout=240)
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})
            wanted = (self.code / "data" / "in.bin").read_bytes()
            to = self.folder / "all"
            fetched = self.muster(cluster, "fetch", str(first), "-o", str(to))
            self.assertEqual(fetched.returncode, 0, fetched.stderr)
            for index in range(TASKS):
                self.assertEqual((to / str(index) / "out.bin").read_bytes(),
                                 wanted + b"%d\n" % index)
            logs = self.folder / "logs"
            self.assertEqual(self.muster(cluster, "fetch", str(second), "-o",
                                         str(logs)).returncode, 0)
            for index in range(TASKS // 2):
                self.assertEqual((logs / str(index) / "logs" / f"{index}.log").read_text(),
                                 "done\n")


if __name__ == "__main__":
    unittest.main()
