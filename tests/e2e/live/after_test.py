"""Jobs that begin after others: pipelines whose nodes are killed, and jobs that are skipped."""

import json
import random
import re
import signal
import time
import unittest

from cluster import Cluster, Witness

STAGES, WIDTH = 3, 67
VICTIMS = ("n0", "worker", "n2", "shim", "n4", "n1", "worker", "n3", "shim", "all")
SMALL = {"cpus": 0.25, "memory_gib": 0.1}


class Pipelines(unittest.TestCase):
    def pipeline(self, witness):
        """As a file of jobs: each of a stage waits for two of the stage before."""
        jobs = []
        for stage in range(STAGES):
            for i in range(WIDTH):
                job = {"name": f"s{stage}-{i}", "retries": 20, **SMALL,
                       "command": ["/bin/sh", "-c", witness.script("sleep 0.1")]}
                if stage > 0:
                    job["after"] = [f"s{stage - 1}-{i}", f"s{stage - 1}-{(i + 1) % WIDTH}"]
                jobs.append(job)
        return jobs

    def kill(self, cluster, victim):
        """How many attempts may come to their ends unseen: those of a worker, or of a shim."""
        if victim == "all":
            cluster.kill(cluster.keeper())
            lost = cluster.workers() + cluster.shims()
            for pid in list(cluster.nodes()) + lost:
                cluster.kill(pid)
            cluster.up()
            return len(lost)
        if victim in ("worker", "shim"):
            running = cluster.workers() if victim == "worker" else cluster.shims()
            for pid in running[:1]:
                cluster.kill(pid)
            return len(running[:1])
        cluster.kill(cluster.node(victim))
        return 0

    def test_each_stage_is_completed_once_in_its_order_though_every_role_is_killed(self):
        with Cluster("worker.stop_grace=1s", "link.timeout=3s") as cluster:
            witness = Witness(cluster.dir / "witness")
            wanted = self.pipeline(witness)
            random.Random(1).shuffle(wanted)
            file = cluster.dir / "pipeline.json"
            file.write_text(json.dumps({"jobs": wanted}))
            numbers = cluster.submit(file)
            job_of = {entry["name"]: number for entry, number in zip(wanted, numbers)}
            unseen = 0
            for victim in VICTIMS:
                time.sleep(1)
                unseen += self.kill(cluster, victim)
            over = cluster.wait_over(numbers, timeout=240)
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})
            self.assertEqual({job["finished"] for job in over.values()}, {1})
            self.assertEqual(len(witness.ends()), STAGES * WIDTH)
            # The word of an end may die with who was to pass it on: then, and only then, twice.
            twice = [task for task, count in witness.ends().items() if count > 1]
            self.assertLessEqual(len(twice), unseen, twice)
            self.assertEqual(witness.beside(), [])
            ended = set()
            names = {str(number): name for name, number in job_of.items()}
            before = {entry["name"]: entry.get("after", []) for entry in wanted}
            for line in witness.lines():
                word, task, *_ = line.split()
                name = names[task.partition(".")[0]]
                if word == "end":
                    ended.add(name)
                else:
                    self.assertLessEqual(set(before[name]), ended, name)


class Ends(unittest.TestCase):
    def test_jobs_begin_or_are_skipped_by_how_others_end(self):
        with Cluster(nodes=1) as cluster:
            small = ["--cpus", "0.2", "--memory", "0.1"]
            gate = cluster.dir / "gate"
            good = cluster.shell(f"until test -e {gate}; do sleep 0.1; done", *small)
            bad = cluster.shell(f"until test -e {gate}; do sleep 0.1; done; exit 3", *small)
            flags = {"both": f"{good},{bad}:fail", "never": bad, "whatever": f"{bad}:any",
                     "unneeded": f"{good}:fail"}
            jobs = {name: cluster.shell("true", "--after", after, *small)
                    for name, after in flags.items()}
            jobs["tail"] = cluster.shell("true", "--after", jobs["never"], *small)
            jobs["gone"] = cluster.shell("true", "--after", good, *small)
            state = cluster.job(jobs["both"])
            self.assertEqual(state["state"], "waiting")
            self.assertIn(f"job {good}", state["reason"])
            self.assertIn(f"job {good}", cluster.run("explain", jobs["both"]).stdout)
            self.assertGreaterEqual(cluster.ask("status")["jobs"]["waiting"], len(jobs))
            cluster.run("cancel", jobs["gone"])
            cluster.kill(cluster.keeper())
            cluster.kill(cluster.node("n0"))
            cluster.up()
            gate.write_text("")
            over = cluster.wait_over([good, bad, *jobs.values()])
            states = {name: over[int(job)]["state"] for name, job in jobs.items()}
            self.assertEqual(states, {"both": "completed", "never": "skipped", "tail": "skipped",
                                      "whatever": "completed", "unneeded": "skipped",
                                      "gone": "cancelled"})
            self.assertIn(f"job {bad}", over[int(jobs["never"])]["reason"])
            waited = cluster.run("wait", jobs["never"], check=False)
            self.assertNotEqual(waited.returncode, 0)
            late = cluster.shell("true", "--after", f"{good},{bad}:fail", *small)
            self.assertEqual(cluster.wait_over([late])[int(late)]["state"], "completed")
            for after in ("nobody", "0", f"{good}:soon", "#1", "#2"):
                refused = cluster.run("submit", "--after", after, "--", "true", check=False)
                self.assertEqual(refused.returncode, 2, after)
                self.assertIn("--after", refused.stderr)
            often = cluster.shell("true", "--every", "@daily", *small)
            for flags in (["--after", "4711"], ["--after", often],
                          ["--deadline", "2026-01-01T00:00Z"]):
                refused = cluster.run("submit", *flags, "--", "true", check=False)
                self.assertEqual(refused.returncode, 1, flags)
                self.assertIn(flags[0].lstrip("-"), refused.stderr)


class Counterparts(unittest.TestCase):
    def test_tasks_begin_with_their_counterparts_though_every_role_is_killed(self):
        with Cluster("worker.stop_grace=1s", "link.timeout=3s") as cluster:
            gates = cluster.dir / "gates"
            gates.mkdir()
            log = cluster.dir / "log"
            log.touch()
            index = "$MUSTER_TASK_INDEX"
            gate = f"until test -e {gates}/{index}; do sleep 0.1; done"
            first = f"{gate}; echo prep {index} >> {log}; test {index} != 3"
            jobs = [{"name": "prep", "command": first},
                    {"name": "train", "command": f"echo train {index} >> {log}",
                     "after": {"job": "prep", "match": "index"}},
                    {"name": "report", "command": f"echo report {index} >> {log}",
                     "after": ["train:any:index", "prep:any:index"]},
                    {"name": "seen", "command": "true", "after": "prep:start"}]
            for job in jobs:
                job |= {"retries": 20 if job["name"] != "prep" else 0, **SMALL}
                if job["name"] != "seen":
                    job["array"] = "0-11"
            file = cluster.dir / "pipeline.json"
            file.write_text(json.dumps({"jobs": jobs}))
            prep, train, report, seen = cluster.submit(file)
            cluster.wait_over([seen])
            why = cluster.run("explain", train, "--task", "5").stdout
            self.assertIn(f"index of job {prep} to complete", why)
            for i in range(0, 12, 2):
                (gates / str(i)).touch()
            for victim in ("n0", "n2", "n4", "n1", "n3"):
                time.sleep(1)
                cluster.kill(cluster.node(victim))
            even = {f"report {i}" for i in range(0, 12, 2)}
            cluster.wait_until("reports", lambda: even <= set(log.read_text().splitlines()))
            self.assertNotIn("train 5", log.read_text())
            for i in range(1, 12, 2):
                (gates / str(i)).touch()
            over = cluster.wait_over([prep, train, report], timeout=120)
            self.assertEqual([over[int(job)]["state"] for job in (prep, train, report)],
                             ["failed", "failed", "completed"])
            self.assertIn(f"task 3 of job {prep}", over[int(train)]["reason"])
            lines = log.read_text().splitlines()
            self.assertNotIn("train 3", lines)
            for i in range(12):
                self.assertIn(f"report {i}", lines)
                first = {word: lines.index(f"{word} {i}") for word in ("prep", "train", "report")
                         if f"{word} {i}" in lines}
                self.assertEqual(sorted(first, key=first.get), list(first), i)


class Times(unittest.TestCase):
    SMALL = ["--cpus", "0.2", "--memory", "0.1"]

    def test_jobs_begin_and_expire_at_their_times_and_when_they_are_released(self):
        with Cluster(nodes=1) as cluster:
            soon = cluster.shell("true", "--begin", "now+4s", *self.SMALL)
            never = cluster.shell("true", "--hold", "--deadline", "now+2s", *self.SMALL)
            long = cluster.shell("sleep 600", "--deadline", "now+6s", *self.SMALL)
            held = cluster.shell("true", "--hold", *self.SMALL)
            behind = cluster.shell("true", "--after", soon, *self.SMALL)
            often = cluster.shell("true", "--every", "@yearly", *self.SMALL)
            cluster.run("hold", behind)
            self.assertEqual(cluster.job(soon)["state"], "waiting")
            self.assertIn("begins at", cluster.job(soon)["reason"])
            self.assertIn("next run at", cluster.run("explain", often).stdout)
            cluster.kill(cluster.keeper())
            cluster.kill(cluster.node("n0"))
            cluster.up()
            over = cluster.wait_over([soon, never, long])
            self.assertEqual([over[int(job)]["state"] for job in (soon, never, long)],
                             ["completed", "expired", "expired"])
            self.assertIn("deadline", over[int(long)]["reason"])
            listed = cluster.ask("jobs", "--state", "held")["jobs"]
            self.assertEqual({job["job"] for job in listed}, {int(held), int(behind)})
            self.assertEqual(cluster.ask("jobs", "--state", "running")["jobs"], [])
            for job in (held, behind):
                self.assertEqual(cluster.job(job)["state"], "held")
                cluster.run("release", job)
            over = cluster.wait_over([held, behind])
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})
            self.assertEqual(cluster.job(often)["state"], "waiting")
            cluster.run("cancel", often)
            self.assertEqual(cluster.job(often)["state"], "cancelled")
            for flags in (["--begin", "soon"], ["--every", "61 * * * *"], ["--zone", "Mars"]):
                refused = cluster.run("submit", *flags, "--", "true", check=False)
                self.assertEqual(refused.returncode, 2, flags)
                self.assertIn(flags[0].lstrip("-"), refused.stderr)

    def test_a_pipeline_waits_for_what_failed_or_is_cancelled_whole(self):
        with Cluster(nodes=1) as cluster:
            gate = cluster.dir / "gate"
            bad = cluster.shell(f"test -e {gate}", *self.SMALL)
            kept = cluster.shell("true", "--after", bad, "--on-fail", "keep", *self.SMALL)
            last = cluster.shell("true", "--after", kept, *self.SMALL)
            cluster.wait_over([bad])
            gate.write_text("")
            again = cluster.run("resubmit", "-q", bad).stdout.strip()
            over = cluster.wait_over([again, kept, last])
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})
            first = cluster.shell("sleep 600", *self.SMALL)
            middle = cluster.shell("true", "--after", first, *self.SMALL)
            end = cluster.shell("true", "--after", f"{middle}:any", *self.SMALL)
            cluster.run("cancel", "--pipeline", middle)
            over = cluster.wait_over([first, middle, end])
            self.assertEqual({job["state"] for job in over.values()}, {"cancelled"})


class ShortHistories(unittest.TestCase):
    SMALL = Times.SMALL

    def test_a_site_that_was_away_hears_how_jobs_ended_that_no_history_has_any_more(self):
        with Cluster("master.history_jobs=1", "link.timeout=3s", nodes=2, masters=1) as cluster:
            marks = cluster.dir / "marks"
            marks.mkdir()
            marks.chmod(0o777)
            # Of the array the tasks with odd indices fail.
            array = cluster.shell(f"until [ -e {marks}/go ]; do sleep 0.1; done; "
                                  "exit $((MUSTER_TASK_INDEX % 2))", *self.SMALL, "--array", "0-3",
                                  "--retries", "0")
            cancelled = cluster.shell("sleep 600", *self.SMALL)
            [api] = re.findall("api = '(.*)'", (cluster.dir / "cluster.toml").read_text())[1:]
            # At the site of the second node, which has nothing else.
            there = ("--api", f"http://{api}", "--token-file", cluster.dir / "token", *self.SMALL)
            cluster.shell(f"echo $MUSTER_TASK_INDEX >> {marks}/tasks", *there, "--array", "0-3",
                          "--after", f"{array}:index")
            cluster.shell(f"echo >> {marks}/job", *there, "--after", f"{cancelled}:any")
            skipped = cluster.shell("true", *there, "--after", cancelled)
            cluster.wait_until("they run", lambda: cluster.job(array)["running"] == 4)
            away = cluster.node("n1")
            cluster.signal(away, signal.SIGSTOP)
            (marks / "go").touch()
            cluster.run("cancel", cancelled, check=False)
            # The history keeps one job, which is the first of these or the second. (Asking for jobs
            # would wait for the site that is away.)
            first = cluster.shell("true", *self.SMALL)
            cluster.shell(f"echo >> {marks}/second", *self.SMALL, "--after", first)
            cluster.wait_until("the second is there", (marks / "second").exists)
            # The master forgets the newest ends, which it has in its memory.
            cluster.kill(cluster.node("n0"))
            cluster.kill(away)
            lines = lambda name: ((marks / name).read_text().split()
                                  if (marks / name).exists() else [])
            cluster.wait_until("two tasks have run", lambda: len(lines("tasks")) >= 2)
            cluster.wait_until("the job has run", (marks / "job").exists)
            self.assertEqual(sorted(lines("tasks")), ["0", "2"])
            over = cluster.wait_over([skipped])[int(skipped)]
            self.assertEqual(over["state"], "skipped")
            self.assertIn("ended as cancelled", cluster.job(skipped)["reason"])


if __name__ == "__main__":
    unittest.main()
