"""`muster experiment`: grids of replays that go on where they were stopped."""

import csv
import json
import os
import re
import signal
import subprocess
import time
import unittest

from fixture import EVA_200, SOURCE, MusterTest, assert_golden, line_with, traces

EXPERIMENTS = os.path.join(SOURCE, "config/experiments")
SMALL = os.path.join(EXPERIMENTS, "muster/small.toml")
FEW = ("--set", "workload.max_jobs=20")


class Experiment(MusterTest):
    def study(self, *lines, policies='"no-packing", "eva"', seeds="1-2"):
        """An experiment on a few jobs in study.toml."""
        return self.write("study.toml", "\n".join([
            "[[grid]]", f"config = {json.dumps(EVA_200)}", f"policy = [{policies}]",
            f'seeds = "{seeds}"', *lines, ""]))

    def experiment(self, *arguments):
        return self.muster("experiment", *arguments)

    def records(self, folder="experiments/study"):
        """The kept results: name of the file to its content and time."""
        below = self.path(os.path.join(folder, "runs"))
        found = {}
        for name in os.listdir(below):
            with open(os.path.join(below, name), encoding="utf-8") as file:
                found[name] = (json.load(file), os.stat(file.name).st_mtime_ns)
        return found

    def start(self, *arguments):
        child = subprocess.Popen([os.environ["MUSTER"], "experiment", *arguments], cwd=self.folder,
                                 env={**os.environ, "MUSTER_DATA": traces()}, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def wait_for_records(self, count):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            below = self.path("experiments/study/runs")
            names = os.listdir(below) if os.path.isdir(below) else []
            if sum(name.endswith(".json") for name in names) >= count:
                return
            time.sleep(0.01)
        self.fail("no run was over within a minute")

    def test_the_small_one_compares_three_policies_over_three_seeds(self):
        done = self.experiment(SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        for policy in ("no-packing", "eva", "muster"):
            self.assertRegex(done.stdout, rf"(?m)^{policy} +3 ")
        self.assertEqual(len(done.stderr.splitlines()), 9)
        folder = "experiments/small/"
        with open(self.path(folder + "results.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 9)
        self.assertEqual({row["seed"] for row in rows}, {"1", "2", "3"})
        results = json.loads(self.read(folder + "results.json"))
        by_policy = {point["policy"]: point["metrics"]["total_cost_usd"]
                     for point in results["points"]}
        costs = [float(row["total_cost_usd [$]"]) for row in rows if row["policy"] == "eva"]
        self.assertEqual(len(set(costs)), 3)
        self.assertAlmostEqual(by_policy["eva"]["mean"], sum(costs) / 3)
        self.assertGreater(by_policy["eva"]["ci95"], 0)
        self.assertLess(by_policy["eva"]["difference"]["mean"], -5000)
        self.assertIn("whiskers", self.read(folder + "report.html"))
        self.assertIn("total_cost_usd", self.read(folder + "summary.csv"))

    def test_a_run_is_that_of_replay_and_says_by_which_command(self):
        self.assertEqual(self.experiment(self.study(seeds="4"), *FEW).returncode, 0)
        ran = {record["policy"]: record for record, _ in self.records().values()}
        one, = self.runs(EVA_200, "--policy", "eva", "--seed", "4", *FEW)
        self.assertEqual(ran["eva"]["run"]["event_log_sha256"], one["event_log_sha256"])
        self.assertIn("--policy eva --seed 4 --set workload.max_jobs=20", ran["eva"]["command"])
        self.assertEqual(len(ran["eva"]["program_sha256"]), 64)

    def test_what_is_done_is_not_done_again_but_for_fresh(self):
        study = self.study()
        self.assertEqual(self.experiment(study, *FEW).returncode, 0)
        first = self.records()
        self.assertEqual(len(first), 4)
        again = self.experiment(study, *FEW)
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertEqual(self.records(), first)
        more = self.experiment(self.study(seeds="1-3"), *FEW)
        self.assertEqual(len(more.stderr.splitlines()), 2)
        fresh = self.experiment(self.study(seeds="1-3"), *FEW, "--fresh")
        self.assertEqual(len(fresh.stderr.splitlines()), 6)
        self.assertTrue(all(first[name][1] < self.records()[name][1] for name in first))

    def test_killed_in_the_middle_it_goes_on_with_what_is_missing(self):
        study = self.study(seeds="1-20")
        child = self.start(study, "--jobs", "1")
        self.wait_for_records(2)
        child.send_signal(signal.SIGKILL)
        child.wait()
        before = self.records()  # each of them is whole
        self.assertLess(len(before), 40)
        listed = self.succeed("experiment", study, "--dry-run")
        self.assertIn(f"{len(before)} of 40 runs are done", listed)
        self.assertEqual(listed.count("\nto do  ") + listed.startswith("to do"),
                         40 - len(before))
        rest = self.experiment(study)
        self.assertEqual(rest.returncode, 0, rest.stderr)
        self.assertEqual(len(rest.stderr.splitlines()), 40 - len(before))
        after = self.records()
        self.assertEqual(len(after), 40)
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertEqual(os.listdir(self.path("experiments/study/begun")), [])

    def test_interrupted_it_says_how_to_go_on(self):
        study = self.study(seeds="1-50")
        child = self.start(study, "--jobs", "1")
        self.wait_for_records(1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
        self.assertEqual((child.returncode, out), (1, ""))
        self.assertRegex(err, r" \d+ of 100 ")
        assert_golden(self, re.sub(r"\d+ of 100", "{done} of 100", line_with(err, "of 100")))
        self.assertFalse(os.path.exists(self.path("experiments/study/report.html")))

    def test_a_second_one_does_not_work_in_the_same_folder(self):
        study = self.study(seeds="1-50")
        child = self.start(study, "--jobs", "1")
        self.wait_for_records(1)
        second = self.experiment(study)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
        self.assertEqual(second.returncode, 1)
        self.assertIn("experiments/study", second.stderr)
        assert_golden(self, second.stderr)

    def test_a_run_that_fails_is_told_and_the_others_are_done(self):
        self.write("bad.csv", "id,submit_s\n1,x\n")
        study = self.study("[[grid.variant]]", 'name = "good"', "[[grid.variant]]", 'name = "bad"',
                           f"set.workload.path = {json.dumps(self.path('bad.csv'))}", seeds="1")
        done = self.experiment(study, *FEW)
        self.assertEqual(done.returncode, 1)
        self.assertIn("grid 1: eva [variant=bad], seed 1 failed:\n", done.stderr)
        self.assertIn("bad.csv:", done.stderr)
        assert_golden(self, line_with(done.stderr, "2 of 4 runs"))
        self.assertRegex(done.stdout, r"eva \[variant=good\] +1 ")
        self.assertRegex(done.stdout, r"eva \[variant=bad\] +0/1 ")
        assert_golden(self, line_with(done.stdout, "Runs without"))

    def test_equal_runs_are_done_once(self):
        study = self.study("[grid.values]", "t = [0.5, 0.8]", seeds="1",
                           policies='"no-packing", "eva,t={t}"')
        done = self.experiment(study, *FEW)
        self.assertEqual(len(done.stderr.splitlines()), 3, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^no-packing \[t=0.5\] +1 ")
        self.assertRegex(done.stdout, r"(?m)^no-packing \[t=0.8\] +1 ")

    def test_a_seed_that_decides_nothing_is_said_to(self):
        done = self.experiment(self.study(), *FEW)
        self.assertRegex(done.stdout, r"(?m)^eva +2 same ")
        assert_golden(self, line_with(done.stdout, "same: "))

    def test_json_goes_to_the_standard_output_alone(self):
        done = self.experiment(self.study(seeds="1"), *FEW, "--json", "-", "--out", "here")
        self.assertEqual(json.loads(done.stdout)["name"], "study")
        self.assertTrue(os.path.exists(self.path("here/report.html")))

    def test_what_is_wrong_is_said_before_the_first_run(self):
        study = self.study("[grid.set]", "workload.max_job = 3")
        self.assert_refused(2, ["study.toml:6:", "grid 'grid 1': ", "did you mean 'max_jobs'?"],
                            "experiment", study)
        self.assert_refused(2, ["--seeds has to be"], "experiment", SMALL, "--seeds", "x")
        for own in ("seed=7", "trials=2", "policies=eva"):
            self.assert_refused(2, [f"--set {own}: cannot be set"], "experiment", SMALL,
                                "--set", own)
        self.assert_refused(1, ["nowhere.toml"], "experiment", "nowhere.toml")
        study = self.study(policies='"no-packing", "evva"')
        self.assert_refused(2, ["evva"], "experiment", study)

    def test_every_shipped_experiment_is_right(self):
        for folder, _, names in os.walk(EXPERIMENTS):
            for name in names:
                if not name.endswith(".toml"):
                    continue
                with self.subTest(experiment=name):
                    done = self.experiment(os.path.join(folder, name), "--dry-run")
                    # The full traces may not be there.
                    if done.returncode != 0 and "cannot be read" not in done.stderr:
                        self.fail(done.stderr)


if __name__ == "__main__":
    unittest.main()
