"""Machines of one's own join a cluster by the real commands, run its tasks, and are given up when
they vanish."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from cluster import MUSTER, processes

COLUMNS = ["name", "family", "gpu", "cpu", "memory_gib", "usd_per_hour", "spot_usd_per_hour",
           "acquire_s", "setup_s", "terminate_s"]
TYPES = ",".join(COLUMNS) + """
box.small,box,0,1,1,0.01,,0,0,0
box.large,box,0,2,2,0.02,,0,0,0
"""
LEASE_S = 6


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def muster(*words, code=0, timeout=120, cluster=None):
    environment = {**os.environ, **({"MUSTER_CLUSTER": str(cluster)} if cluster else {})}
    done = subprocess.run([MUSTER, *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=timeout, env=environment)
    if code is not None and done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def until(what, seconds=60):
    """The first true value of `what`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := what():
            return value
        time.sleep(0.1)
    raise AssertionError("it did not come so far in time")


def workers_under(folder):
    return [pid for pid, words in processes()
            if "worker" in words[1:2] and any(str(folder) in word for word in words)]


def living(marks, seconds):
    """A script of which each attempt leaves a line when it begins, each second, and at its end."""
    return (f'say() {{ echo "$MUSTER_ATTEMPT $1 $(date +%s.%N)" >> {marks}/$MUSTER_TASK_INDEX; }};'
            f'say begin; for i in $(seq {seconds}); do sleep 1; say alive; done; say end')


class Host:
    """A joined machine: a process of `muster join` with a state folder of its own."""

    def __init__(self, root, name, url, *words):
        self.state = root / name
        self.log = open(root / f"{name}.log", "w")
        self.words = [MUSTER, "join", url, "--state", str(self.state), *words]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=self.log, stderr=self.log)

    def workers(self):
        return workers_under(self.state)

    def stop(self, process=signal.SIGSTOP):
        self.process.send_signal(process)

    def kill(self):
        """As a power cut would, but for what the tasks' supervisors keep running."""
        self.process.kill()
        self.process.wait()
        for pid in self.workers():
            os.kill(pid, signal.SIGKILL)

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Joining(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="muster-join-"))
        cls.hosts = []
        cls.dir = cls.root / "cluster"
        (cls.root / "types.csv").write_text(TYPES)
        cls.port = free_port()
        cls.url = f"https://127.0.0.1:{cls.port}"
        muster("up", "--dir", cls.dir, "--nodes", 1, "--catalog", cls.root / "types.csv",
               "--policy", "muster,period_s=1,eager,free_wait_s=0", "--set",
               "cloud.provider=\"hosts\"", "--set", f"node.n0.join=\"127.0.0.1:{cls.port}\"",
               "--set", f"cloud.host_lease=\"{LEASE_S}s\"", "--set", "cloud.host_report=\"200ms\"")

    @classmethod
    def tearDownClass(cls):
        for host in cls.hosts:
            host.end()
        subprocess.run([MUSTER, "down", "--dir", cls.dir, "--erase"], capture_output=True)
        time.sleep(LEASE_S + 1)  # what still runs ends with its lease
        # The guide's lease is long, and its daemons, killed, leave their workers.
        for pid in workers_under(cls.root):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(cls.root, ignore_errors=True)

    def on(self, *words, **options):
        return muster(*words, cluster=self.dir, **options)

    def token(self, *words):
        return self.on("join-token", "create", "--quiet", *words).stdout.strip()

    def listed(self):
        hosts = json.loads(self.on("hosts", "--json").stdout)["hosts"]
        return {host["host"]: host for host in hosts}

    def refused(self, *words):
        done = muster("join", *words, "--only-join", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_1_bad_input_is_one_line_with_the_remedy(self):
        state = self.root / "bad"
        token = self.token("--hosts", "1")
        self.assertIn("node.join", self.refused("127.0.0.1:1", "--token", token))
        self.assertIn("node.join", self.refused(
            f"https://127.0.0.1:{free_port()}", "--token", token, "--state", state))
        self.assertIn("muster join-token create", self.refused(
            self.url, "--token", "muster-join-x", "--state", state))
        other = token[:-64] + "0" * 64
        self.assertIn("nothing was sent", self.refused(
            self.url, "--token", other, "--state", state))
        unknown = token.replace(token.split("-")[3], "0" * 32)
        self.refused(self.url, "--token", unknown, "--state", state)
        short = self.token("--expires", "1s")
        time.sleep(1.5)
        self.assertIn("has expired", self.refused(self.url, "--token", short, "--state", state))
        # Used by one key, which may repeat its request, and refused for another.
        muster("join", self.url, "--token", token, "--state", state, "--only-join", "--cpus", 1,
               "--memory", 1)
        late = muster("join", "--state", state, "--only-join", "--label", "a=b", "--memory", 2)
        self.assertIn("muster hosts label", late.stderr)
        self.assertIn("1 GiB", late.stderr)
        (state / "join.json").unlink()
        (self.root / "join-token").write_text(token + "\n")
        muster("join", self.url, "--token-file", self.root / "join-token", "--state", state,
               "--only-join", "--cpus", 1, "--memory", 1)
        self.assertIn("is used up", self.refused(
            self.url, "--token", token, "--state", self.root / "second"))
        self.assertIn("--cpus: the machine has", self.refused(
            self.url, "--token", token, "--state", self.root / "second", "--cpus", 100_000))
        self.assertIn("URL is missing", self.refused("--state", self.root / "second"))
        self.assertIn("standard input has", self.refused(
            self.url, "--token-file", "-", "--state", self.root / "second"))
        audit = json.loads(self.on("audit", "--json").stdout)["entries"]
        self.assertTrue(any(entry["path"] == "/v1/join" and entry["status"] == 403 and
                            entry["about"] for entry in audit), audit)
        number = [n for n, host in self.listed().items() if host["state"] == "waiting"]
        self.on("hosts", "remove", number[0])
        self.assertEqual(self.listed(), {})

    def test_2_tasks_run_on_machines_that_joined_and_again_where_one_has_vanished(self):
        token = self.token("--hosts", "2")
        shared = ["--checkpoints", str(self.dir / "state/checkpoints")]
        for name, more in (("one", shared), ("two", [])):
            host = Host(self.root, name, self.url, "--token", token, "--cpus", "2", "--memory",
                        "2", "--label", f"rack={name}", *more)
            self.hosts.append(host)
        until(lambda: [h["state"] for h in self.listed().values()] == ["ready", "ready"])
        until(lambda: {h["labels"]["rack"]: h["own_checkpoints"] for h in self.listed().values()}
              == {"one": False, "two": True})
        shown = {line.split("rack=")[1].split()[0]: line.split() for line
                 in self.on("hosts").stdout.splitlines()[1:]}
        self.assertIn("shared", shown["one"])
        self.assertIn("own", shown["two"])
        for host in self.hosts:
            words = pathlib.Path(f"/proc/{host.process.pid}/cmdline").read_text()
            self.assertIn("--token", words)
            self.assertNotIn(token.split("-")[3], words, "tasks can read arguments")
        marks = self.root / "marks"
        marks.mkdir()
        self.on("submit", "--tasks", 4, "--cpus", 1, "--memory", "0.5", "--checkpoints", "--",
                "sh", "-c", living(marks, 15))
        until(lambda: len(list(marks.iterdir())) == 4)
        used = {h["labels"]["rack"]: h["instance"] for h in self.listed().values()}
        self.assertNotIn(None, used.values(), "tasks run on both machines")
        self.assertNotEqual(used["one"], used["two"])
        instances = json.loads(self.on("instances", "--json").stdout)["instances"]
        self.assertEqual({i["instance"]: i["own_checkpoints"] for i in instances},
                         {used["one"]: False, used["two"]: True})
        tasks = json.loads(self.on("explain", 1, "--json").stdout)["tasks"]
        self.assertEqual(sorted("does not share" in task["why"] for task in tasks),
                         [False, False, True, True], tasks)
        self.hosts[0].kill()
        until(lambda: any(h["state"] == "lost" for h in self.listed().values()), 40)
        table = self.on("hosts").stdout
        self.assertRegex(table, r"lost")
        self.on("wait", 1, timeout=180)
        self.no_two_at_once(marks)
        self.assertEqual(sorted(marks.iterdir()), sorted(marks / str(i) for i in range(4)))
        # The machine comes back by its folder alone.
        self.hosts[0].start()
        until(lambda: all(h["state"] == "ready" for h in self.listed().values()), 40)

    def test_3_a_daemon_that_is_killed_or_stopped_past_the_lease_leaves_nothing_running(self):
        marks = self.root / "faults"
        marks.mkdir()
        self.on("submit", "--tasks", 4, "--cpus", 1, "--memory", "0.5", "--", "sh", "-c",
                f'echo $PPID > {self.root}/supervisor-$MUSTER_TASK_INDEX;' + living(marks, 14))
        until(lambda: len(list(marks.iterdir())) == 4)
        killed, stopped = self.hosts
        supervisors = [int((self.root / f"supervisor-{i}").read_text()) for i in range(4)]
        killed.process.kill()
        killed.process.wait()
        stopped.stop()
        # Neither the daemon nor this supervisor can end its task: the worker does.
        os.kill(supervisors[0], signal.SIGSTOP)
        until(lambda: [h["state"] for h in self.listed().values()] == ["lost", "lost"], 40)
        self.assertEqual(killed.workers(), [])
        self.assertEqual(stopped.workers(), [])
        for pid in supervisors:
            self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), pid)
        stopped.stop(signal.SIGCONT)
        killed.start()
        self.on("wait", 2, timeout=180)
        self.no_two_at_once(marks)
        for file in marks.iterdir():
            self.assertEqual(file.read_text().count("end"), 1, file.read_text())
        told = json.loads(self.on("job", 2, "--attempts", "--json").stdout)
        first = [task["attempts"][0] for task in told["tasks"]]
        self.assertEqual({attempt["end"] for attempt in first}, {"lost"}, first)

    def number_of(self, name):
        return next(n for n, host in self.listed().items() if host["labels"].get("rack") == name)

    def test_4_a_machine_is_labelled_drained_resumed_and_removed_by_force(self):
        until(lambda: all(h["state"] == "ready" for h in self.listed().values()), 40)
        one, two = self.number_of("one"), self.number_of("two")
        self.on("hosts", "label", one, "shelf=4", "rack=first")
        self.assertIn("rack=first shelf=4", self.on("hosts").stdout)
        self.on("hosts", "drain", one)
        until(lambda: self.listed()[one]["instance"] is None, 40)
        self.assertIn(" drained ", self.on("hosts").stdout)
        self.on("submit", "--tasks", 2, "--cpus", 2, "--memory", "0.5", "--", "sleep", "300")
        job = max(each["job"] for each in json.loads(self.on("jobs", "--json").stdout)["jobs"])
        until(lambda: self.listed()[two]["instance"] is not None, 40)
        until(lambda: " free (asked" in self.on("explain", job).stdout, 40)
        self.assertIsNone(self.listed()[one]["instance"])
        self.on("hosts", "resume", one)
        until(lambda: self.listed()[one]["instance"] is not None, 40)
        self.on("cancel", job)
        marks = self.root / "forced"
        marks.mkdir()
        self.on("submit", "--tasks", 2, "--cpus", 2, "--memory", "0.5", "--", "sh", "-c",
                living(marks, 3))
        until(lambda: len(list(marks.iterdir())) == 2)
        self.assertIn("--force", self.on("hosts", "remove", two, code=1).stderr)
        self.on("hosts", "remove", two, "--force")
        self.assertEqual(self.hosts[1].process.wait(timeout=60), 3)
        self.assertNotIn(two, self.listed())
        self.on("wait", job + 1, timeout=120)

    def test_5_the_guide_is_true(self):
        text = (pathlib.Path(__file__).parents[3] / "docs" / "own-machines.md").read_text()
        block = text.split("## Try it on one machine")[1].split("```sh\n")[1].split("```")[0]
        folder = self.root / "guide"
        folder.mkdir()
        done = subprocess.run(["bash", "-e", "-c", block.replace("7443", str(free_port()))],
                              capture_output=True, text=True, timeout=180, cwd=folder,
                              env={**os.environ, "PATH": f"{pathlib.Path(MUSTER).parent}:"
                                                         f"{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(" ready "), 2, done.stdout)

    def test_6_a_cluster_that_others_may_join_is_one_command(self):
        folder = self.root / "open"
        place = f"127.0.0.1:{free_port()}"
        self.assertIn("ADDRESS", muster("up", "--dir", folder, "--join", "0.0.0.0", code=2).stderr)
        try:
            said = muster("up", "--dir", folder, "--nodes", 1, "--join", place).stdout
            self.assertIn(f"muster join https://{place} --token-file FILE", said)
            token = muster("join-token", "create", "--quiet", cluster=folder).stdout.strip()
            muster("join", f"https://{place}", "--token", token, "--state", self.root / "third",
                   "--only-join")
            hosts = json.loads(muster("hosts", "--json", cluster=folder).stdout)["hosts"]
            self.assertRegex(hosts[0]["type"], r"^own\.")
            caps = json.loads(muster("status", "--json", cluster=folder).stdout)["caps"]
            self.assertIsNone(caps[0]["max_instances"], "as many as join")
        finally:
            muster("down", "--dir", folder, "--erase")

    def test_7_machines_are_used_first_and_instances_rented_beside_them(self):
        folder = self.root / "beside"
        place = f"127.0.0.1:{free_port()}"
        self.assertIn("--join", muster("up", "--dir", folder, "--rent", code=2).stderr)
        muster("up", "--dir", folder, "--nodes", 1, "--join", place, "--rent", "--set",
               f"cloud.host_lease=\"{LEASE_S}s\"", "--set", "cloud.host_report=\"200ms\"",
               "--policy", "muster,period_s=1,eager,free_wait_s=0")
        host = None
        try:
            def on(*words):
                return muster(*words, cluster=folder).stdout.strip()

            def submit(script):
                return on("submit", "--quiet", "--cpus", 1, "--memory", "0.5", "--", "/bin/sh",
                          "-c", script)

            def types_of(job):
                shown = json.loads(on("job", job, "--attempts", "--json"))["tasks"][0]
                return [attempt["instance_type"] for attempt in shown["attempts"]]

            first = submit("true")
            on("wait", first)
            self.assertNotRegex(types_of(first)[0], r"^own\.", "no machine has joined yet")
            token = on("join-token", "create", "--quiet")
            host = Host(self.root, "beside-host", f"https://{place}", "--token", token, "--cpus",
                        "1", "--memory", "2")
            until(lambda: "ready" in on("hosts"))
            marks = self.root / "beside-marks"
            marks.mkdir()
            until(lambda: not json.loads(on("instances", "--json"))["instances"])
            time.sleep(2)  # the connector looks each second how many are free
            own = submit(living(marks, 12))
            until(lambda: types_of(own))
            self.assertEqual(types_of(own), ["own.1x2"])
            rented = submit("sleep 20")
            until(lambda: types_of(rented))
            self.assertNotRegex(types_of(rented)[0], r"^own\.", "the machine is full")
            # Both go on where they were when the connector is there again.
            node = [pid for pid, words in processes()
                    if "node" in words[1:2] and any(str(folder) in word for word in words)]
            os.kill(node[0], signal.SIGKILL)
            until(lambda: muster("status", cluster=folder, code=None).returncode == 0)
            self.assertEqual((len(types_of(own)), len(types_of(rented))), (1, 1))
            host.kill()
            until(lambda: len(types_of(own)) == 2)
            self.assertNotRegex(types_of(own)[1], r"^own\.", "the machine has vanished")
            on("wait", own, rented)
            self.assertEqual(len(types_of(rented)), 1)
            self.no_two_at_once(marks)
        finally:
            if host:
                host.end()
            muster("down", "--dir", folder, "--erase", code=None)

    def no_two_at_once(self, marks):
        """No attempt of a task says that it lives once a later one has begun."""
        again = 0
        for file in marks.iterdir():
            begun = {}
            alive = {}
            for line in file.read_text().splitlines():
                attempt, what, at = line.split()
                if what == "begin":
                    begun[int(attempt)] = float(at)
                alive[int(attempt)] = float(at)
            again += len(begun) > 1
            for attempt, at in alive.items():
                later = [begin for number, begin in begun.items() if number > attempt]
                self.assertTrue(all(at < begin for begin in later), file.read_text())
        self.assertGreater(again, 0, "the tasks of the machine that vanished run again")


if __name__ == "__main__":
    unittest.main()
