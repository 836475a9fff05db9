"""muster logs, against a server that answers what the test wants."""

import re
import threading
import time
import unittest

from client_test import ClientTest
from fake_api import Reply, details, task
from fixture import assert_golden


class Logs(ClientTest):
    PATH = "/v1/jobs/12/tasks/0/log"

    def part(self, offset, text, more=True, attempt=1, size=None, lost=None):
        body = text if isinstance(text, bytes) else text.encode()
        headers = {"Muster-Attempt": str(attempt), "Muster-Offset": str(offset),
                   "Muster-Next-Offset": str(offset + len(body)), "Muster-More": str(int(more))}
        if size is not None:
            headers["Muster-Size"] = str(size)
        if lost is not None:
            headers["Muster-Lost"] = lost
        return Reply(raw=body, headers=headers)

    def queries(self):
        """What was asked of each log, without which stream."""
        return [path.partition("?")[2].partition("&")[2] for path in self.api.paths()
                if "/log?" in path]

    def test_all_that_is_there_is_printed(self):
        self.api.on("GET", "/v1/jobs/12", details(12))
        self.api.on("GET", self.PATH, self.part(0, "one\n"), self.part(4, "two\n"),
                    self.part(8, "", False))
        self.assertEqual(self.succeed("logs", "12"), "one\ntwo\n")
        self.assertEqual([query.split("&")[0] for query in self.queries()],
                         [f"offset={offset}" for offset in (0, 4, 8)])

    def test_the_standard_error_of_a_failed_task_is_pointed_to(self):
        self.api.on("GET", "/v1/jobs/12", details(12, "failed", tasks=[task(0, "failed")]))
        self.api.on("GET", self.PATH, self.part(0, "one\n"), self.part(4, "", False),
                    self.part(0, "why\n", False))
        done = self.muster("logs", "12")
        self.assertEqual(done.stdout, "one\n")
        assert_golden(self, done.stderr)
        self.assertIn("stream=err", self.api.paths()[-1])

    def test_the_other_stream_and_an_old_attempt_can_be_asked_for(self):
        self.api.on("GET", "/v1/jobs/12/tasks/5/log", self.part(0, "x", False, attempt=2))
        self.assertEqual(self.succeed("logs", "12", "--task", "5", "--err", "--attempt", "2"), "x")
        self.assertIn("stream=err", self.api.paths()[0])
        self.assertIn("attempt=2", self.api.paths()[0])

    def test_of_several_tasks_each_line_says_whose_it_is(self):
        self.api.on("GET", "/v1/jobs/12", details(12, tasks=[task(3), task(9)]))
        self.api.on("GET", "/v1/jobs/12/tasks/3/log", self.part(0, "a\nb\nwi"),
                    self.part(6, "thout end", False))
        self.api.on("GET", "/v1/jobs/12/tasks/9/log", self.part(0, "c\n", False))
        self.assertEqual(self.succeed("logs", "12"),
                         "12:3 | a\n12:3 | b\n12:3 | without end\n12:9 | c\n")
        self.api.on("GET", "/v1/jobs/12/tasks/9/log", self.part(0, "c\n", False))
        self.assertEqual(self.succeed("logs", "12", "--task", "9"), "c\n")
        done = self.assert_fails(2, ["--task", "3 or 0-9,12"], "logs", "12", "--task", "x")
        self.assertEqual(done.stdout, "")

    def test_tasks_of_an_array_that_have_not_begun_are_passed_over(self):
        waits = {**task(3), "attempt": 0, "phase": "pending"}
        self.api.on("GET", "/v1/jobs/12", details(12, tasks=[waits, task(9)]))
        self.api.on("GET", "/v1/jobs/12/tasks/9/log", self.part(0, "c\n", False))
        self.assertEqual(self.succeed("logs", "12"), "12:9 | c\n")
        self.assertEqual(len(self.queries()), 1)

    def test_all_tasks_of_a_long_array_are_read(self):
        def page(path):
            query = dict(word.split("=") for word in path.partition("?")[2].split("&"))
            begin = int(query.get("after", -1)) + 1
            end = min(begin + int(query["limit"]), 1300)
            return Reply({**details(12, tasks=[task(i) for i in range(begin, end)]),
                          "next": end - 1 if end < 1300 else None, "tasks_behind": 1300 - end})
        self.api.on("GET", "/v1/jobs/12", page)
        def log(path):
            return self.part(0, "x\n", False) if "offset=0&" in path else self.part(2, "", False)
        for index in range(1300):
            self.api.on("GET", f"/v1/jobs/12/tasks/{index}/log", log)
        self.assertEqual(self.succeed("logs", "12"), "".join(f"12:{i} | x\n" for i in range(1300)))
        self.api.requests.clear()
        self.assertEqual(self.succeed("logs", "12", "-f", "--task", "1200"), "x\n")
        self.assertEqual(self.api.paths()[0], "/v1/jobs/12?limit=1&after=1199")

    def test_several_tasks_are_followed_by_whole_lines(self):
        running = details(12, "running", tasks=[task(0, "running", exit_code=None),
                                                task(1, "running", exit_code=None)])
        self.api.on("GET", "/v1/jobs/12", running, running,
                    details(12, tasks=[task(0), task(1)]))
        self.api.on("GET", self.PATH, self.part(0, "one\ntw"), self.part(4, "tw"),
                    self.part(4, "two\n", False), self.part(8, "", False))
        self.api.on("GET", "/v1/jobs/12/tasks/1/log", self.part(0, "other\n"), self.part(6, ""),
                    self.part(6, "last", False), self.part(10, "", False))
        done = self.succeed("logs", "12", "-f")
        self.assertEqual(sorted(done.splitlines()),
                         ["12:0 | one", "12:0 | two", "12:1 | last", "12:1 | other"])
        looks = [path for path in self.api.paths() if path.startswith("/v1/jobs/12?")]
        self.assertGreater(len(looks), 1)
        self.assertEqual([path for path in looks if "after=" in path], [], "from the first on")

    def test_only_the_last_lines_can_be_asked_for(self):
        text = "".join(f"line {i}\n" for i in range(20000)).encode()

        def log(path):
            query = dict(word.split("=") for word in path.partition("?")[2].split("&"))
            begin = min(int(query["offset"]), len(text))
            piece = text[begin:begin + int(query["max"])]
            return self.part(begin, piece, begin + len(piece) < len(text), size=len(text))
        self.api.on("GET", self.PATH, log)
        for count in (0, 1, 3, 15000, 20000, 30000):
            printed = self.succeed("logs", "12", "--task", "0", "--tail", str(count))
            self.assertEqual(printed.splitlines(), text.decode().splitlines()[20000 - count:]
                             if count <= 20000 else text.decode().splitlines())
        self.api.requests.clear()
        self.succeed("logs", "12", "--task", "0", "--tail", "3")
        asked = sum(int(query.partition("max=")[2].split("&")[0]) for query in self.queries()[:-1])
        self.assertLess(asked, len(text), "not all of it is read")

    def test_bytes_come_through_as_they_are(self):
        every = bytes(range(256))
        self.api.on("GET", self.PATH, self.part(0, every, False))
        done = self.muster("logs", "12", "--task", "0", text=False)
        self.assertEqual(done.stdout, every)

    def test_what_is_no_longer_kept_is_told(self):
        self.api.on("GET", self.PATH, self.part(100, "late\n", False))
        done = self.assert_fails_at(0, (), "logs", "12", "--task", "0")
        self.assertIn("100 bytes", done.stderr)
        self.assertEqual(done.stdout, "late\n")

    def test_what_is_lost_is_told(self):
        self.api.on("GET", self.PATH, self.part(0, "some\n", False, lost="instance 3 was gone"))
        done = self.assert_fails(1, ["output of attempt 1 of task 0 is lost: instance 3 was gone"],
                                 "logs", "12", "--task", "0")
        self.assertEqual(done.stdout, "some\n")

    def attempts(self, *texts, more=()):
        """Answers of a task that has written the texts, one in each attempt."""
        def log(path):
            query = dict(word.split("=") for word in path.partition("?")[2].split("&"))
            attempt = int(query.get("attempt", len(texts)))
            text = texts[attempt - 1].encode()
            begin = min(int(query["offset"]), len(text))
            return self.part(begin, text[begin:], attempt in more, attempt=attempt)
        return log

    def looks(self, *attempts):
        """The job as it is seen: waiting in attempt 0, running, and finished in the last one."""
        for attempt in attempts[:-1]:
            phase = "running" if attempt else "pending"
            yield details(12, phase, tasks=[task(0, phase, attempt=attempt, exit_code=None)])
        yield details(12, tasks=[task(0, attempt=attempts[-1])])

    def test_following_goes_through_attempts_to_the_end(self):
        self.api.on("GET", "/v1/jobs/12", *self.looks(0, 0, 1, 2, 2))
        self.api.on("GET", self.PATH, self.attempts("one\n", "two\nend\n", more=[2]))
        done = self.assert_fails(0, ["task 0 runs again: attempt 2"], "logs", "12", "-f")
        self.assertEqual(done.stdout, "one\ntwo\nend\n")

    def test_attempts_that_passed_between_two_looks_are_read_too(self):
        self.api.on("GET", "/v1/jobs/12", *self.looks(0, 0, 4))
        self.api.on("GET", self.PATH, self.attempts("one\n", "two\n", "", "four\n"))
        done = self.assert_fails(0, [f"attempt {n}" for n in (2, 3, 4)], "logs", "12", "-f")
        self.assertEqual(done.stdout, "one\ntwo\nfour\n")

    def test_the_rest_of_an_attempt_is_read_after_the_next_has_begun(self):
        self.api.on("GET", "/v1/jobs/12", *self.looks(0, 1, 2, 2))
        first = [self.part(0, "one\n"), self.part(4, ""), self.part(4, ""),
                 self.part(4, "no end", False), self.part(10, "", False)]
        others = self.attempts("", " two\n")

        def log(path):
            return others(path) if "attempt=2" in path else \
                first.pop(0) if len(first) > 1 else first[0]
        self.api.on("GET", self.PATH, log)
        done = self.assert_fails(0, ["task 0 runs again: attempt 2"], "logs", "12", "-f")
        self.assertEqual(done.stdout, "one\nno end two\n")

    def test_of_several_tasks_an_old_attempts_last_line_ends(self):
        def seen(phase, attempt):
            return details(12, phase, tasks=[task(n, phase, attempt=attempt) for n in (0, 1)])
        self.api.on("GET", "/v1/jobs/12", seen("running", 0), seen("running", 1),
                    seen("finished", 2))
        self.api.on("GET", self.PATH, self.attempts("a", "b\n"))
        self.api.on("GET", "/v1/jobs/12/tasks/1/log", self.attempts("c", "d\n"))
        done = self.assert_fails(0, [f"task {n} runs again" for n in (0, 1)], "logs", "12", "-f")
        self.assertEqual(done.stdout, "12:0 | a\n12:0 | b\n12:1 | c\n12:1 | d\n")

    def test_a_job_that_takes_long_to_look_at_is_looked_at_less_often(self):
        answers = self.looks(1, 1, 1)
        spans = []

        def look(_):
            begin = time.monotonic()
            threading.Event().wait(0.1)
            spans.append((begin, time.monotonic()))
            return Reply(next(answers))
        self.api.on("GET", "/v1/jobs/12", look)
        self.api.on("GET", self.PATH, self.attempts("x\n"))
        self.assertEqual(self.succeed("logs", "12", "--task", "0", "-f"), "x\n")
        for (begin, end), (following, _) in zip(spans, spans[1:]):
            self.assertGreaterEqual(following - end, 10 * (end - begin))

    def test_tasks_of_several_jobs_are_read_one_after_the_other(self):
        self.api.on("GET", "/v1/jobs/13", details(13, tasks=[task(0)]))
        for path, text in (("12/tasks/3", "a"), ("12/tasks/4", "b"), ("13/tasks/0", "c")):
            self.api.on("GET", f"/v1/jobs/{path}/log", self.part(0, text + "\n", False))
        self.assertEqual(self.succeed("logs", "12:3-4", "13"),
                         "12:3 | a\n12:4 | b\n13:0 | c\n")
        self.assertEqual(self.succeed("logs", "12:3"), "a\n", "one task is as it was")
        for words in (("12:x",), ("x",), ("12:3%2",), ("12:",)):
            self.assert_fails(2, ["12:0-9"], "logs", *words)
        self.assert_fails(2, ["--task"], "logs", "12", "13", "--task", "3")
        self.assert_fails(2, ["--task"], "logs", "12:3", "--task", "3")

    def test_tasks_of_several_jobs_are_followed_together_with_both_streams(self):
        for number in (12, 13):
            self.api.on("GET", f"/v1/jobs/{number}",
                        details(number, "running", tasks=[task(0, "running", exit_code=None)]),
                        details(number))

            def log(path, number=number):
                stream = "err" if "stream=err" in path else "out"
                text = f"{stream} of {number}\n"
                begin = min(int(re.search(r"offset=([0-9]+)", path)[1]), len(text))
                return self.part(begin, text[begin:], False)
            self.api.on("GET", f"/v1/jobs/{number}/tasks/0/log", log)
        done = self.succeed("logs", "-f", "--both", "12", "13")
        self.assertEqual(sorted(done.splitlines()),
                         ["12:0 err | err of 12", "12:0 | out of 12",
                          "13:0 err | err of 13", "13:0 | out of 13"])

    def test_tasks_have_colors_where_they_are_wanted(self):
        self.api.on("GET", "/v1/jobs/12", details(12, tasks=[task(0), task(1)]))
        for index in (0, 1):
            self.api.on("GET", f"/v1/jobs/12/tasks/{index}/log", self.part(0, "x\n", False))
        plain = "12:0 | x\n12:1 | x\n"
        colored = self.succeed("logs", "12", "--color", "always")
        self.assertEqual(re.sub("\x1b\\[[0-9]+m", "", colored), plain)
        labels = re.findall("\x1b\\[([0-9]+)m12", colored)
        self.assertEqual(len(set(labels)), 2, "each task has another one")
        for wish in ("auto", "never"):
            self.assertEqual(self.succeed("logs", "12", "--color", wish), plain, "no terminal")
        self.assert_fails(2, ["--color"], "logs", "12", "--color", "red")

    def test_more_tasks_than_may_be_are_not_followed(self):
        done = self.assert_fails(2, ["256"], "logs", "-f", "12:0-256")
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
