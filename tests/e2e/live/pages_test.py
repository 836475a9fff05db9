"""Lists of hundreds of jobs, and jobs of thousands of tasks, seen page by page through the real
command and API of a real cluster with two sites and two masters."""

import json
import unittest
import urllib.error
import urllib.request

from cluster import Cluster

JOBS = 300
TASKS = 3000


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Little room, so that most of the work waits while it is looked at.
        cls.cluster = Cluster("master.max_instances=1").__enter__()
        cls.addClassCleanup(lambda: cls.cluster.__exit__(None, None, None))
        client = json.loads((cls.cluster.dir / "client.json").read_text())
        cls.api = client["api"]
        cls.apis = [client["api"], *client["others"]]
        cls.token = (cls.cluster.dir / client["token_file"]).read_text().strip()

    def ask(self, path):
        asked = urllib.request.Request(self.api + path,
                                       headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read())

    def submit_at(self, api, name):
        """The id of a job that the site of that API takes in."""
        job = {"command": ["sleep", "600"], "user": "eve", "cpus": 0.5, "name": name}
        asked = urllib.request.Request(api + "/v1/jobs", data=json.dumps(job).encode(),
                                       headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read())["jobs"][0]["job"]

    def pages(self, path, key):
        """All pages of a list."""
        after = None
        while True:
            page = self.ask(path if after is None else f"{path}&after={after}")
            yield page[key]
            if page["next"] is None:
                return
            self.assertNotEqual(page["next"], after)
            after = page["next"]

    def test_hundreds_of_jobs_are_listed_page_by_page(self):
        cluster = self.cluster
        file = cluster.dir / "job.json"
        file.write_text(json.dumps({"command": ["sleep", "600"], "user": "ann", "cpus": 0.5}))
        jobs = cluster.submit(*[file] * JOBS)
        self.assertEqual(len(jobs), JOBS)
        gone = sorted(jobs)[::3]
        cluster.run("cancel", *gone)
        cluster.wait_over(gone)
        there = sorted(set(jobs) - set(gone), reverse=True)
        expected = there + sorted(gone, reverse=True)
        for state, wanted in (("active", there), ("over", expected[len(there):]),
                              ("all", expected)):
            for limit in (7, 100, 299):
                pages = list(self.pages(f"/v1/jobs?state={state}&user=ann&limit={limit}", "jobs"))
                self.assertLessEqual(max(len(page) for page in pages), limit)
                self.assertEqual([job["job"] for page in pages for job in page], wanted,
                                 f"{state} by {limit}")
        listed = cluster.run("jobs", "--user", "ann", "--limit", "1000000").stdout.splitlines()
        self.assertEqual([int(line.split()[0]) for line in listed[1:]], expected)
        short = cluster.run("jobs", "--user", "ann").stdout.splitlines()
        self.assertEqual(len(short), 1 + 50 + 1)
        self.assertIn("muster jobs --limit 500", short[-1])
        whole = cluster.ask("jobs", "--user", "ann", "--limit", "1000000")
        self.assertEqual([job["job"] for job in whole["jobs"]], expected)
        cluster.run("cancel", "--user", "ann")
        cluster.wait_over(there)
        self.assertEqual(cluster.ask("jobs", "--user", "ann", "--state", "active")["jobs"], [])

    def test_jobs_of_two_sites_are_listed_by_the_time_of_their_submission(self):
        cluster = self.cluster
        self.assertEqual(len(self.apis), 2)
        names = [f"turn-{turn}" for turn in range(8)]
        jobs = [self.submit_at(self.apis[turn % 2], name) for turn, name in enumerate(names)]
        self.assertLess(jobs[0], 1_000_000_000)
        self.assertGreater(jobs[1], 1_000_000_000)
        newest_first = jobs[::-1]
        seen = []
        for page in self.pages("/v1/jobs?state=all&user=eve&limit=3", "jobs"):
            seen += [job["job"] for job in page]
            # They stand before the pages that come.
            for api in self.apis:
                self.submit_at(api, "late")
        self.assertEqual(seen, newest_first)

        def listed(*words):
            return [job["job"] for job in cluster.ask("jobs", "--user", "eve", *words)["jobs"]]
        self.assertEqual(listed("--name", "turn-*"), newest_first)
        self.assertEqual(listed("--name", "urn-?"), [])
        self.assertEqual(listed("--name", "urn-3"), [jobs[3]])
        self.assertEqual(listed("--name", "turn", "--since", "1h", "--sort", "name"), jobs)
        self.assertEqual(listed("--name", "turn", "--until", "1h"), [])
        self.assertEqual(listed("--failed"), [])
        cluster.run("cancel", "--user", "eve")
        cluster.wait_over(jobs)
        past = cluster.ask("history", "--name", "turn-*", "--state", "cancelled")
        self.assertEqual([job["job"] for job in past["jobs"]], newest_first)
        self.assertIsNone(past["sorted_of"])
        self.assertEqual(cluster.ask("history", "--name", "turn", "--state", "failed")["jobs"], [])
        table = cluster.run("history", "--name", "turn", "--sort", "ran").stdout.splitlines()
        self.assertEqual(len(table), 1 + len(jobs))
        self.assertRegex(table[0], "^ *JOB .* TOOK .*ENDED$")

    def test_a_list_that_cannot_be_is_refused(self):
        for words in (("--since", "yesterdayish"), ("--sort", "size"), ("--name", "x" * 61),
                      ("--name", ""), ("--exit", "no")):
            refused = self.cluster.run("history", *words, check=False)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertIn(words[0], refused.stderr)

    def test_a_place_that_is_none_is_refused(self):
        for path in ("/v1/jobs?after=7", "/v1/jobs?state=over&after=active:0:7",
                     "/v1/jobs?state=all&after=active:7", "/v1/jobs/1?after=x",
                     "/v1/jobs/1/explain?phase=gone"):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.ask(path)
            self.assertEqual(caught.exception.code, 422)
            said = json.loads(caught.exception.read())["error"]["message"]
            self.assertTrue(said.startswith(("after: ", "phase: ")), said)

    def test_a_job_of_thousands_of_tasks_is_seen_page_by_page(self):
        cluster = self.cluster
        job = int(cluster.shell("echo out of $MUSTER_TASK_INDEX", "--tasks", TASKS, "--cpus",
                                "0.5"))
        for path in (f"/v1/jobs/{job}?limit=700", f"/v1/jobs/{job}/explain?limit=700"):
            pages = list(self.pages(path, "tasks"))
            self.assertEqual([len(page) for page in pages], [700] * 4 + [200])
            self.assertEqual([task["task"] for page in pages for task in page],
                             list(range(TASKS)))
        self.assertEqual([task["task"] for task in cluster.job(job)["tasks"]], list(range(TASKS)))
        for command in ("job", "explain"):
            lines = cluster.run(command, job).stdout.splitlines()
            self.assertIn(f"2900 more tasks: `muster {command} {job} --from 100`", lines[-1])
            lines = cluster.run(command, job, "--from", TASKS - 7).stdout.splitlines()
            self.assertIn(str(TASKS - 1), lines[-1])
        cluster.wait_until("some have run", lambda: cluster.ask(
            "job", job, "--phase", "finished", "--limit", 20)["next"] is not None, timeout=120)
        cluster.run("cancel", job)
        cluster.wait_over([job])
        over = cluster.job(job)
        self.assertEqual([task["task"] for task in over["tasks"]], list(range(TASKS)))
        done = [task["task"] for task in over["tasks"] if task["phase"] == "finished"]
        self.assertEqual(len(done), over["finished"])
        shown = cluster.ask("explain", job, "--phase", "finished")["tasks"]
        self.assertEqual([task["task"] for task in shown], done)
        not_run = cluster.ask("job", job, "--phase", "not run", "--limit", 5)
        self.assertEqual(len(not_run["tasks"]), 5)
        said = cluster.run("logs", job, timeout=300).stdout.splitlines()
        lines = [line for line in said if "out of" in line]
        # Some of those that were stopped have written their line before.
        begun = [task["task"] for task in over["tasks"] if task["attempt"] > 0]
        self.assertEqual(lines, [line for task in begun
                                 if (line := f"{job}:{task} | out of {task}") in lines],
                         "each once, in the order of the tasks")
        self.assertLessEqual({f"{job}:{task} | out of {task}" for task in done}, set(lines),
                             "all tasks are asked for, whether they have run or not")


if __name__ == "__main__":
    unittest.main()
