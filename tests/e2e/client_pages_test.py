"""Long lists of jobs and of tasks, against a server that gives them page by page."""

import json
import unittest

from client_test import ACCEPTED, ClientTest
from fake_api import Reply, job, task
from fixture import assert_golden


class Pages(ClientTest):
    @staticmethod
    def asked(path):
        """What stands behind the question mark."""
        return dict(word.split("=") for word in path.partition("?")[2].split("&"))

    def have_jobs(self, numbers):
        """The server has these jobs, few of which wait and none is over, in pages."""
        def page(path):
            query = self.asked(path)
            begin = 0
            if "after" in query:
                begin = numbers.index(int(query["after"].replace("%3A", ":").split(":")[1])) + 1
            some = numbers[begin:begin + int(query["limit"])]
            more = begin + len(some) < len(numbers)
            states = {False: "running", True: "waiting"}
            return Reply({"jobs": [job(one, states[one % 1000 == 500]) for one in some],
                          "next": f"active:{some[-1]}" if more else None,
                          "complete": True, "silent": []})
        self.api.on("GET", "/v1/jobs", page)

    def test_any_number_of_jobs_is_listed_page_by_page(self):
        self.have_jobs(list(range(3456, 0, -1)))
        lines = self.succeed("jobs", "--limit", "2500").splitlines()
        self.assertEqual([int(line.split()[0]) for line in lines[1:]],
                         list(range(3456, 956, -1)))
        document = json.loads(self.succeed("jobs", "--limit", "1000000", "--json"))
        self.assertEqual([one["job"] for one in document["jobs"]], list(range(3456, 0, -1)))
        self.assertIsNone(document["next"])
        self.assertTrue(document["complete"])

    def test_a_short_list_says_how_to_see_more(self):
        self.have_jobs(list(range(51, 0, -1)))
        lines = self.succeed("jobs").splitlines()
        self.assertEqual(len(lines), 1 + 50 + 1)
        self.assertEqual(lines[-1],
                         "There are more: `muster jobs --limit 500` shows the first 500.")
        self.assertEqual(len(self.succeed("jobs", "--limit", "50").splitlines()), 51)
        self.assertEqual(len(self.succeed("jobs", "--limit", "60").splitlines()), 52)
        self.have_jobs(list(range(50, 0, -1)))
        self.assertEqual(len(self.succeed("jobs").splitlines()), 51)

    def test_a_cancel_chooses_among_all_pages(self):
        self.have_jobs(list(range(2500, 0, -1)))
        for number in (2500, 1500, 500):
            self.api.on("POST", f"/v1/jobs/{number}/cancel", {"job": number})
        self.assertEqual(self.succeed("cancel", "--state", "waiting"),
                         "job 2500: cancelled\njob 1500: cancelled\njob 500: cancelled\n")

    def test_a_server_that_turns_in_a_circle_is_left(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(1)], "next": "active:1"})
        self.assert_fails_at(1, (), "jobs", "--limit", "9")

    def have_tasks(self, count, failed=()):
        """Job 12 has so many tasks, of which some have failed."""
        def page(path):
            query = self.asked(path)
            after = int(query.get("after", -1))
            all_tasks = [task(i, "failed" if i in failed else "finished", why=f"why {i}")
                         for i in range(after + 1, count)]
            if "phase" in query:
                all_tasks = [one for one in all_tasks if one["phase"] == query["phase"]]
            some = all_tasks[:int(query.get("limit", 1000))]
            behind = len(all_tasks) - len(some)
            page = {"tasks": some, "tasks_behind": behind,
                    "next": some[-1]["task"] if behind else None, "complete": True, "silent": []}
            whole = job(12, tasks_total=count)
            return Reply({"job": whole, **page} if "/explain" in path else {**whole, **page})
        for path in ("/v1/jobs/12", "/v1/jobs/12/explain"):
            self.api.on("GET", path, page)

    def tasks_shown(self, *arguments):
        """The indices of the tasks of job 12, and the line behind them."""
        lines = self.succeed(arguments[0], "12", *arguments[1:]).splitlines()
        tasks = []
        for line in lines:
            first = line.split()[0]
            if first == "task":
                first = line.split()[1].rstrip(":")
            if first.isdigit() and "more task" not in line and " of ann:" not in line:
                if not line.startswith("  1 finished"):
                    tasks.append(int(first))
        return tasks, lines[-1] if "more task" in lines[-1] else ""

    def test_the_first_tasks_are_shown_and_how_to_see_others(self):
        self.have_tasks(3000, failed=(7, 1234, 2999))
        for command in ("job", "explain"):
            with self.subTest(command=command):
                tasks, more = self.tasks_shown(command)
                self.assertEqual(tasks, list(range(100)))
                self.assertIn(f"2900 more tasks: `muster {command} 12 --from 100`", more)
                assert_golden(self, more)
                self.assertEqual(self.tasks_shown(command, "--from", "2990"),
                                 (list(range(2990, 3000)), ""))
                self.assertEqual(self.tasks_shown(command, "--limit", "2999"),
                                 (list(range(2999)), f"1 more task: `muster {command} 12 "
                                                     "--from 2999 --limit 2999`"))
                self.assertEqual(self.tasks_shown(command, "--phase", "failed"),
                                 ([7, 1234, 2999], ""))
                self.assertEqual(self.tasks_shown(command, "--phase", "failed", "--limit", "2"),
                                 ([7, 1234], f"1 more task: `muster {command} 12 --phase failed "
                                             "--from 1235 --limit 2`"))
                whole = json.loads(self.succeed(command, "12", "--json"))
                self.assertEqual([one["task"] for one in whole["tasks"]], list(range(3000)))
                self.assertIsNone(whole["next"])
                some = json.loads(self.succeed(command, "12", "--limit", "5", "--json"))
                self.assertEqual((len(some["tasks"]), some["next"]), (5, 4))
                self.assert_fails(2, ["--phase"], command, "12", "--phase", "gone")
        self.assertEqual(self.tasks_shown("explain", "--task", "2500"), ([2500], ""))
        self.assert_fails(1, ["no task 3000"], "explain", "12", "--task", "3000")
        self.assert_fails(2, ["--task is one task"], "explain", "12", "--task", "1", "--from", "3")
        self.succeed("explain", "12", "--json", "whole.json")
        self.assertEqual(len(json.loads(self.read("whole.json"))["tasks"]), 3000)

    def test_waiting_for_a_job_of_many_tasks_prints_them_all_as_json(self):
        self.have_tasks(2500)
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        done = self.succeed("submit", "--wait", "--json", "--", "true")
        self.assertEqual(len(json.loads(done)["jobs"][0]["tasks"]), 2500)


if __name__ == "__main__":
    unittest.main()
