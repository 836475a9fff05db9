"""What tasks wrote is there after their instances, of each attempt its own; what is lost is said to
be."""

import json
import os
import subprocess
import unittest
import urllib.request

from cluster import MUSTER, Cluster, assert_golden, plain


class Logs(unittest.TestCase):
    def test_output_outlives_instances(self):
        with Cluster("master.max_attempts=3") as cluster:
            self.cluster = cluster
            long = cluster.shell("seq 1 5000; seq 1 3000 >&2")
            failing = cluster.shell('echo "attempt $MUSTER_ATTEMPT"; exit 1')
            raw = cluster.shell("i=0; while [ $i -lt 256 ]; do "
                                "printf \"\\\\$(printf %o $i)\"; i=$((i+1)); done")
            array = cluster.shell('seq 1 $MUSTER_TASK_INDEX', "--array", "1-3")
            mixed = cluster.shell(r"printf 'a\303\244\342\202\254\377z\n'")
            self.moved_tasks_keep_what_they_wrote()
            cluster.wait_over([long, failing, raw, array, mixed])
            self.until_nothing_is_rented()
            self.all_lines_are_there(long)
            self.each_attempt_has_its_own(failing)
            self.bytes_are_as_they_were(raw)
            self.tasks_of_an_array(array)
            self.pieces_say_where_the_next_begins(mixed)
            for node in list(cluster.nodes()):
                cluster.kill(node)
            cluster.wait_until("the nodes are back", lambda: cluster.run(
                "logs", long, "--retry-for", "0s", check=False).returncode == 0)
            self.all_lines_are_there(long)

    def moved_tasks_keep_what_they_wrote(self):
        job = self.cluster.shell('trap "echo leaves; exit 85" TERM; seq 1 3000; '
                                 'echo "attempt $MUSTER_ATTEMPT"; '
                                 'test $MUSTER_ATTEMPT -gt 1 || while :; do sleep 0.1; done')
        self.cluster.wait_until("it has written", lambda: "attempt 1" in self.cluster.run(
            "logs", job, check=False).stdout)
        self.cluster.run("drain", self.cluster.job(job)["tasks"][0]["instance"])
        self.cluster.wait_over([job])
        self.assertEqual(self.cluster.run("logs", job, "--attempt", 1).stdout,
                         self.numbers(1, 3000) + "attempt 1\nleaves\n")
        self.assertEqual(self.cluster.run("logs", job, "--attempt", 2).stdout,
                         self.numbers(1, 3000) + "attempt 2\n")

    def until_nothing_is_rented(self):
        self.cluster.wait_until("nothing is rented",
                                lambda: self.cluster.ask("instances")["instances"] == [])

    def numbers(self, first, last):
        return "".join(f"{i}\n" for i in range(first, last + 1))

    def all_lines_are_there(self, job):
        self.assertEqual(self.cluster.run("logs", job).stdout, self.numbers(1, 5000))
        self.assertEqual(self.cluster.run("logs", job, "--err").stdout, self.numbers(1, 3000))
        self.assertEqual(self.cluster.run("logs", job, "--tail", 7).stdout,
                         self.numbers(4994, 5000))

    def each_attempt_has_its_own(self, job):
        for attempt in (1, 2, 3):
            done = self.cluster.run("logs", job, "--attempt", attempt)
            self.assertEqual(done.stdout, f"attempt {attempt}\n")
        self.assertEqual(self.cluster.run("logs", job).stdout, "attempt 3\n")
        done = self.cluster.run("logs", job, "--attempt", 4, check=False)
        self.assertEqual(done.returncode, 1)
        assert_golden(self, plain(done.stderr, job=job))

    def bytes_are_as_they_were(self, job):
        done = subprocess.run([MUSTER, "logs", job], capture_output=True, timeout=60,
                              env={**os.environ, "MUSTER_CLUSTER": str(self.cluster.dir)})
        self.assertEqual(done.stdout, bytes(range(256)))

    def tasks_of_an_array(self, job):
        self.assertEqual(self.cluster.run("logs", job).stdout,
                         "".join(f"{job}:{task} | {line}\n" for task, line in
                                 ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3))))
        self.assertEqual(self.cluster.run("logs", job, "--task", "2").stdout, "1\n2\n")
        self.assertEqual(self.cluster.run("logs", job, "--task", "1,3", "--tail", 1).stdout,
                         f"{job}:1 | 1\n{job}:3 | 3\n")

    def piece(self, job, query):
        client = json.loads((self.cluster.dir / "client.json").read_text())
        token = (self.cluster.dir / client["token_file"]).read_text().strip()
        request = urllib.request.Request(f"{client['api']}/v1/jobs/{job}/tasks/0/log?{query}",
                                         headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def pieces_say_where_the_next_begins(self, job):
        text, at, more = "", 0, True
        while more:
            piece = self.piece(job, f"max=4&offset={at}")
            self.assertEqual(piece["size"], 9)
            text, at, more = text + piece["text"], piece["next_offset"], piece["more"]
        self.assertEqual((text, at), ("a\u00e4\u20ac\ufffdz\n", 9))

    def test_what_died_with_its_instance_is_said_to_be_lost(self):
        with Cluster("master.max_attempts=3") as cluster:
            self.cluster = cluster
            mark = cluster.dir / "again"
            job = cluster.shell(f'trap "" TERM; echo "attempt $MUSTER_ATTEMPT"; test -e {mark} || '
                                "while :; do sleep 0.1; done", "--spot")
            cluster.wait_until("it has written", lambda: cluster.run(
                "logs", job, check=False).stdout == "attempt 1\n")
            # It does not stop before the cloud takes the instance away.
            instance = cluster.job(job)["tasks"][0]["instance"]
            mark.touch()
            cluster.run("interrupt", instance)
            cluster.wait_over([job])
            done = cluster.run("logs", job, "--attempt", 1, check=False)
            self.assertEqual(done.returncode, 1)
            reason = f"spot instance {instance} was gone before it was across"
            self.assertIn("output of attempt 1 of task 0 is lost: " + reason, done.stderr)
            piece = self.piece(job, "attempt=1")
            self.assertEqual((piece["lost"], piece["lost_reason"]), (True, reason))
            self.assertEqual(cluster.run("logs", job).stdout, "attempt 2\n")

    def test_an_orderly_end_keeps_what_tasks_have_written(self):
        with Cluster() as cluster:
            self.cluster = cluster
            job = cluster.shell('trap "echo leaves; exit 85" TERM; seq 1 3000; echo oh >&2; '
                                'test $MUSTER_ATTEMPT -gt 1 || while :; do sleep 0.1; done',
                                "--spot")
            cluster.wait_until("it has written", lambda: cluster.run(
                "logs", job, check=False).stdout == self.numbers(1, 3000))
            told = cluster.run("down", "--dir", cluster.dir).stdout
            again = cluster.run("down", "--dir", cluster.dir).stdout
            assert_golden(self, plain(told + again, folder=cluster.dir))
            cluster.up()
            cluster.wait_over([job])
            self.assertEqual(cluster.run("logs", job, "--attempt", 1).stdout,
                             self.numbers(1, 3000) + "leaves\n")
            errors = cluster.run("logs", job, "--attempt", 1, "--err").stdout
            self.assertTrue(errors.startswith("oh\n"), "the shell may say why it ends: " + errors)
            self.assertEqual(cluster.run("logs", job, "--attempt", 2).stdout,
                             self.numbers(1, 3000))

    def test_what_was_written_outlives_worker_and_supervisor(self):
        with Cluster("master.max_attempts=3") as cluster:
            self.cluster = cluster
            mark = cluster.dir / "again"
            job = cluster.shell(f'seq 1 3000; test -e {mark} || sleep 600')
            cluster.wait_until("it has written", lambda: cluster.run(
                "logs", job, check=False).stdout == self.numbers(1, 3000))
            mark.touch()
            for pid in cluster.shims() + cluster.workers():
                cluster.kill(pid)
            cluster.wait_over([job])
            self.until_nothing_is_rented()
            for attempt in (1, 2):
                self.assertEqual(cluster.run("logs", job, "--attempt", attempt).stdout,
                                 self.numbers(1, 3000))


if __name__ == "__main__":
    unittest.main()
