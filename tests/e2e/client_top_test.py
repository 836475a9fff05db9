"""muster top, against a server that answers what the test wants."""

import json
import os
import pty
import subprocess
import unittest

from client_test import ClientTest
from fake_api import Reply, problem
from fixture import assert_golden


def row(job, task, cores, memory_mib, **more):
    return {"job": job, "task": task, "attempt": 1, "name": "sweep", "user": "ann",
            "instance": 3, "instance_type": "c7i.large",
            "asked": {"cpu": 2, "memory": 4, "gpu": 0}, "running_s": 125.0,
            "cores": cores, "cpu_s": 61.5, "memory_mib": memory_mib, "peak_mib": 310.2,
            "disk_mib": None, **more}


def page(*rows, after=None, **more):
    return {"tasks": list(rows), "next": after, "complete": True, "silent": [], **more}


class Top(ClientTest):
    def on(self, *answers):
        self.api.on("GET", "/v1/usage", *answers)

    def queries(self):
        return [path.partition("?")[2] for path in self.api.paths()]

    def test_a_table_of_what_runs_sorted_by_processors(self):
        self.on(page(row(12, 0, 0.25, 300), row(12, 1, 1.5, 100),
                     row(13, 0, None, None, cpu_s=None, peak_mib=None, running_s=None)))
        printed = self.succeed("top")
        assert_golden(self, printed)
        order = [line.split()[0] for line in printed.splitlines()[2:]]
        self.assertEqual(order, ["12:1", "12:0", "13:0"])
        self.assertEqual(self.queries(), ["limit=250"])

    def test_it_can_be_sorted_by_memory(self):
        self.on(page(row(12, 0, 0.25, 300), row(12, 1, 1.5, 100)))
        lines = self.succeed("top", "--once", "--sort", "mem").splitlines()
        self.assertEqual([line.split()[0] for line in lines[2:]], ["12:0", "12:1"])
        self.assert_fails(2, ["--sort"], "top", "--sort", "age")

    def test_gpus_and_disks_have_columns_where_there_are_any(self):
        asked = {"cpu": 2, "memory": 4, "gpu": 1}
        self.on(page(row(12, 0, 0.25, 300, asked=asked, disk_mib=17.5)))
        head = self.succeed("top").splitlines()[1].split()
        self.assertIn("GPUS", head)
        self.assertIn("DISK", head)

    def test_jobs_tasks_and_users_can_be_chosen(self):
        self.on(page())
        self.succeed("top", "12", "13:4", "--user", "a b")
        self.assertEqual(self.queries(), ["job=12&user=a%20b&limit=250",
                                          "job=13&task=4&user=a%20b&limit=250"])
        self.assert_fails(2, ["12:3"], "top", "x")

    def test_all_pages_are_read_up_to_the_limit(self):
        def answer(path):
            begin = int(path.partition("after=")[2] or 0)
            count = int(path.partition("limit=")[2].split("&")[0])
            return Reply(page(*(row(1, i, 1, 1) for i in range(begin, begin + count)),
                              after=str(begin + count)))
        self.on(answer)
        lines = self.succeed("top", "--limit", "300").splitlines()
        self.assertEqual(len(lines), 302)
        self.assertIn("--limit 300", lines[0])
        self.assertEqual(self.queries(), ["limit=250", "limit=51&after=250"])

    def test_a_page_may_be_empty_though_others_follow(self):
        self.on(page(after="1"), page(row(12, 0, 1, 1)))
        self.assertEqual(len(self.succeed("top").splitlines()), 3)

    def test_json_is_one_document(self):
        self.on(page(row(12, 0, 0.25, 300), after="1"), page(row(13, 0, 1, 1)))
        said = json.loads(self.succeed("top", "--json"))
        self.assertEqual([task["job"] for task in said["tasks"]], [12, 13])
        self.assertTrue(said["complete"])
        self.assertFalse(said["more"])

    def test_a_silent_master_is_named(self):
        silent = {"master": "m1", "since_s": 3.0, "last": None}
        self.on(page(complete=False, silent=[silent]))
        done = self.assert_fails(0, ["m1"], "top")
        self.assertTrue(done.stdout.startswith("at least 0 running tasks"))

    def test_a_refusal_is_told(self):
        self.on(problem(403, "not yours"))
        self.assert_fails(1, ["not yours"], "top", "--user", "bob")

    def test_intervals_have_bounds(self):
        for bad in ("0s", "2h", "x"):
            self.assert_fails(2, ["0.5s to 1h"], "top", "--interval", bad)

    def test_on_a_terminal_it_is_drawn_again_and_again(self):
        self.on(page(row(12, 0, 1, 1)))
        ours, theirs = pty.openpty()
        child = subprocess.Popen([os.environ["MUSTER"], "top", "--interval", "0.5s"],
                                 stdout=theirs, stdin=subprocess.DEVNULL,
                                 env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        seen = b""
        try:
            while seen.count(b"\x1b[H") < 3:
                seen += os.read(ours, 4096)
        finally:
            child.kill()
            child.wait()
            os.close(ours)
        self.assertIn(b"12:0", seen)


if __name__ == "__main__":
    unittest.main()
