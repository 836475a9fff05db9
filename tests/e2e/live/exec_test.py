"""Commands beside running tasks: with pipes and a terminal, by whom they may be run, and their
ends."""

import hashlib
import json
import os
import pty
import select
import signal
import subprocess
import termios
import unittest

from cluster import MUSTER, Cluster, plain, assert_golden

MIB = 1024 * 1024
RUNS = "touch ready; while :; do sleep 0.1; done"


class Exec(unittest.TestCase):
    def test_commands_beside_tasks(self):
        with Cluster("api.max_user_priority=0", nodes=1, masters=1) as cluster:
            self.cluster = cluster
            job = cluster.shell(RUNS, "--name", "one", "--user", "ann")
            cluster.wait_until("it runs", lambda: self.exec(job, "test", "-e", "ready")
                               .returncode == 0)
            self.streams_and_codes(job)
            self.a_terminal(job)
            self.signals(job)
            self.much_output(job)
            self.a_client_that_is_killed(job)
            self.whose_tasks(job)
            self.an_array()
            self.the_end_of_the_attempt(job)
            self.what_is_written_down(job)

    def exec(self, task, *words, flags=(), **more):
        more.setdefault("input", "")
        return subprocess.run([MUSTER, "exec", *flags, str(task), "--", *words], timeout=120,
                              capture_output=True, text=True, env=self.environment(), **more)

    def environment(self, **more):
        return {**os.environ, "MUSTER_CLUSTER": str(self.cluster.dir), **more}

    def start(self, task, script, **more):
        return subprocess.Popen([MUSTER, "exec", "-T", str(task), "--", "sh", "-c", script],
                                stdout=subprocess.PIPE, env=self.environment(), **more)

    def streams_and_codes(self, job):
        done = self.exec(job, "sh", "-c", "cat; echo err >&2; exit 7", input="in")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("in", "err\n", 7))
        done = self.exec(job, "sh", "-c", "kill -KILL $$")
        self.assertEqual(done.returncode, 137)
        done = self.exec(job, "no-such-program")
        self.assertEqual(done.returncode, 1)
        assert_golden(self, plain(done.stderr, job=job))
        # Much input goes through as it is.
        many = "".join(f"{i}\n" for i in range(100000))
        done = self.exec(job, "md5sum", input=many)
        self.assertEqual(done.stdout.split()[0], hashlib.md5(many.encode()).hexdigest())

    def a_terminal(self, job):
        child, terminal = pty.fork()
        if child == 0:
            termios.tcsetwinsize(0, (33, 77))
            os.execve(MUSTER, [MUSTER, "exec", str(job)], self.environment(TERM="vt100"))
        seen = b""

        def read_until(text):
            nonlocal seen
            while text not in seen:
                ready, _, _ = select.select([terminal], [], [], 60)
                self.assertTrue(ready, seen)
                seen += os.read(terminal, 4096)

        os.write(terminal, b"stty size; echo $TERM-$((6*7))\n")
        read_until(b"33 77\r\nvt100-42")
        termios.tcsetwinsize(terminal, (44, 88))
        os.write(terminal, b"until stty size | grep -x '44 88'; do sleep 0.05; done\n")
        read_until(b"\n44 88")
        os.write(terminal, b"sh -c 'trap \"echo caught-$((2+2)); exit 3\" INT; echo go-$((3+3)); "
                 b"while :; do sleep 0.05; done'\n")
        read_until(b"go-6")
        os.write(terminal, b"\x03")
        read_until(b"caught-4")
        os.write(terminal, b"exit 5\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 5)
        os.close(terminal)

    def signals(self, job):
        running = self.start(job, "trap 'echo caught; exit 4' INT; echo ready; "
                             "while :; do sleep 0.05; done", stdin=subprocess.DEVNULL)
        self.assertEqual(running.stdout.readline(), b"ready\n")
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.stdout.read(), b"caught\n")
        self.assertEqual(running.wait(60), 4)

    def much_output(self, job):
        # A client that reads nothing stops the command.
        running = self.start(job, f"head -c {64 * MIB} /dev/zero; touch all",
                             stdin=subprocess.DEVNULL)
        for _ in range(5):
            self.assertEqual(self.exec(job, "test", "-e", "all").returncode, 1)
        whole = 0
        while piece := running.stdout.read(MIB):
            whole += len(piece)
        self.assertEqual((whole, running.wait(60)), (64 * MIB, 0))
        self.assertEqual(self.exec(job, "test", "-e", "all").returncode, 0)
        # One that has gone ends it.
        running = self.start(job, "echo $$; trap '' PIPE; yes", stdin=subprocess.DEVNULL)
        number = int(running.stdout.readline())
        running.stdout.close()
        self.assertEqual(running.wait(60), 1)
        self.cluster.wait_until("it has ended", lambda: not os.path.exists(f"/proc/{number}"))

    def a_client_that_is_killed(self, job):
        running = self.start(job, "echo $$; exec sleep 600", stdin=subprocess.DEVNULL)
        number = int(running.stdout.readline())
        running.send_signal(signal.SIGHUP)
        self.assertEqual(running.wait(60), 129)
        self.cluster.wait_until("it has ended", lambda: not os.path.exists(f"/proc/{number}"))
        running.stdout.close()

    def whose_tasks(self, job):
        token = {}
        for user, role in (("ann", "user"), ("ben", "user"), ("eve", "read_only")):
            token[user] = self.cluster.run("token", "create", user, "--role", role, "--user", user,
                                           "--quiet").stdout.strip()
        for user, code in (("ann", 0), ("ben", 1), ("eve", 1)):
            place = self.cluster.dir / f"token-{user}"
            place.touch(0o600)
            place.write_text(token[user])
            done = self.exec(job, "true", flags=("--token-file", str(place)))
            self.assertEqual(done.returncode, code, done.stderr)
            if code != 0:
                assert_golden(self, plain(done.stderr, job=job))

    def an_array(self):
        job = self.cluster.shell(RUNS, "--array", "1-2")
        self.cluster.wait_until("both run", lambda: all(
            self.exec(f"{job}:{i}", "true").returncode == 0 for i in (1, 2)))
        done = self.exec(f"{job}:2", "sh", "-c", "echo $MUSTER_TASK_INDEX")
        self.assertEqual(done.stdout, "2\n")
        done = self.exec(job, "true")
        self.assertEqual(done.returncode, 1)
        assert_golden(self, plain(done.stderr, job=job).replace(f"{job}:", "{job}:"))
        self.cluster.run("cancel", job)

    def the_end_of_the_attempt(self, job):
        running = self.start(job, "echo $$; trap '' TERM HUP; while :; do sleep 0.05; done",
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        number = int(running.stdout.readline())
        self.cluster.run("cancel", job)
        self.assertEqual(running.wait(60), 137)
        self.assertIn(b"the attempt of its task has ended", running.stderr.read())
        self.assertFalse(os.path.exists(f"/proc/{number}"))
        running.stdout.close()
        running.stderr.close()
        self.cluster.wait_over([job])
        done = self.exec(job, "true")
        self.assertEqual(done.returncode, 1)
        assert_golden(self, plain(done.stderr, job=job))

    def what_is_written_down(self, job):
        entries = json.loads(self.cluster.run("audit", "--limit", 1000, "--json").stdout)["entries"]
        abouts = [entry["about"] for entry in entries]
        self.assertIn(f"task 0 of job {job}: sh -c 'echo $$; exec sleep 600'", abouts)
        self.assertFalse([entry for entry in entries if "/exec/" in entry["path"]])


if __name__ == "__main__":
    unittest.main()
