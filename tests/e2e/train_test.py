"""muster train: learns from a history, is tested on its later part and writes the model."""

import json
import os
import random
import unittest

from fixture import COLUMNS, EVA_JOBS, OPENB_PODS, MusterTest, assert_golden

HINTED = COLUMNS.rstrip("\n") + ",runtime_hint_s\n"
SMALL = ("--threshold", "5min", "--folds", "4", "--max-samples", "60")


def history(count, seed=1, hint=lambda duration: ""):
    """Jobs a minute apart: large ones run for an hour, small ones for 30 s, one in ten not."""
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        large = rng.random() < 0.4
        is_long = large != (rng.random() < 0.1)
        duration = 3600 if is_long else 30
        rows.append(f"{i},{60 * i},ann,job-{i},{rng.randint(1, 9)},0,{16 if large else 1},"
                    f"{64 if large else 4},{duration},c,{hint(duration)}\n")
    return HINTED + "".join(rows)


class Train(MusterTest):
    def train(self, *arguments, name="history.csv"):
        return self.succeed("train", "--history", name, "--out", "model", *SMALL, *arguments)

    def report(self, *arguments, name="history.csv"):
        return json.loads(self.train("--json", "-", *arguments, name=name))

    def test_it_learns_from_the_first_part_and_is_tested_on_the_later_one(self):
        self.write("history.csv", history(300))
        report = self.report()
        self.assertEqual((report["jobs"], report["first_part"]), (300, 210))
        self.assertEqual(report["learnt_from"], 60)
        self.assertEqual(report["chosen"]["folds"], 4)
        validated, later = report["cross_validated"], report["later_part"]
        self.assertEqual((validated["jobs"], later["jobs"]), (60, 90))
        for part in (validated, later):
            self.assertGreater(part["classifier"]["accuracy"], 0.8)
            self.assertGreater(part["classifier"]["accuracy"], part["majority"]["accuracy"])
            cells = [part["classifier"][key] for key in
                     ("short_as_short", "short_as_long", "long_as_short", "long_as_long")]
            self.assertEqual(sum(cells), part["jobs"])
            self.assertEqual(part["classifier"]["accuracy"], (cells[0] + cells[3]) / part["jobs"])

    def test_it_can_leave_the_last_jobs_out(self):
        self.write("history.csv", history(300))
        self.assertEqual(self.report("--max-jobs", "100")["first_part"], 70)

    def test_jobs_that_still_ran_when_the_later_part_began_are_not_learnt_from(self):
        lasting = "".join(f"{i},{i},ann,x,1,0,1,4,{10 ** 6 if i % 2 else 30},c\n"
                          for i in range(100))
        self.write("history.csv", COLUMNS + lasting)
        report = self.report()
        self.assertEqual(report["first_part"], 70)
        self.assertLess(report["length_known"], 40, "long ones are known to be after 5 min only")

    def test_it_says_what_it_found(self):
        self.write("history.csv", history(300, hint=lambda duration: duration * 2))
        text = self.train()
        for words in ("300 jobs", "short: at most 300 s", "C ", "gamma ",
                      "cross-validated: 60 jobs", "later part: 90 jobs", "is \\ taken for",
                      "classifier", "always ", "user's hint", "spot (eps"):
            self.assertIn(words, text)

    def test_hints_are_judged_where_there_are_any(self):
        self.write("history.csv", history(200))
        self.assertIsNone(self.report()["later_part"]["hint"])
        self.write("history.csv", history(200, hint=lambda duration: duration * 2))
        self.assertEqual(self.report()["later_part"]["hint"]["accuracy"], 1)
        self.write("history.csv", history(200, hint=lambda duration: 10 ** 5))
        self.assertEqual(self.report()["later_part"]["hint"]["recall_long"], 1)
        self.assertEqual(self.report()["later_part"]["hint"]["recall_short"], 0)

    def test_the_same_seed_gives_the_same_model_and_another_one_does_not(self):
        self.write("history.csv", history(200))
        models = []
        for seed in ("1", "1", "2"):
            self.train("--seed", seed)
            models.append(self.read("model"))
        self.assertEqual(models[0], models[1])
        self.assertNotEqual(models[0], models[2])
        self.assertTrue(models[0].startswith("muster-learnt sorter 2\n"))

    def test_the_model_can_go_to_the_standard_output(self):
        self.write("history.csv", history(200))
        self.train()
        text = self.succeed("train", "--history", "history.csv", "--out", "-", *SMALL)
        self.assertEqual(text, self.read("model"))

    def test_a_history_of_one_length_gives_a_model_that_always_answers_it(self):
        self.write("history.csv", COLUMNS + "".join(
            f"{i},{60 * i},ann,x,1,0,1,4,30,c\n" for i in range(60)))
        self.assertIn("always short", self.train())
        self.assertEqual(self.report()["constant"], "short")
        self.assertIsNone(self.report()["chosen"])

    def test_it_reads_the_other_formats(self):
        for form, name in (("eva-json", EVA_JOBS), ("openb-csv", OPENB_PODS)):
            with self.subTest(format=form):
                report = self.report("--format", form, "--test-share", "0", name=name)
                self.assertGreater(report["jobs"], 5)
                self.assertIsNone(report["later_part"])

    def test_what_cannot_be_done_is_said(self):
        self.write("history.csv", history(50))
        self.write("broken.csv", COLUMNS + "1,0,ada,x,none,1,4,24,7200,c\n")
        self.write("empty.csv", COLUMNS)
        train = ("train", "--out", "model")
        self.assert_refused(2, ["--history"], *train)
        self.assert_refused(2, ["--out"], "train", "--history", "history.csv")
        self.assert_refused(2, ["--threshold", "soon"], *train, "--history", "history.csv",
                            "--threshold", "soon")
        self.assert_refused(2, ["--test-share"], *train, "--history", "history.csv",
                            "--test-share", "1")
        self.assert_refused(2, ["synthetic"], *train, "--history", "history.csv", "--format",
                            "synthetic")
        self.assert_refused(2, ["standard output"], "train", "--history", "history.csv", "--out",
                            "-", "--json", "-")
        self.assert_refused(1, ["workload format", "muster-csv"], *train, "--history",
                            "history.csv", "--format", "tape")
        self.assert_refused(1, ["absent.csv"], *train, "--history", "absent.csv")
        self.assert_refused(1, ["broken.csv:2", "tasks"], *train, "--history", "broken.csv")
        self.assert_refused(1, ["empty.csv", "has no jobs"], *train, "--history",
                            "empty.csv")
        self.assertFalse(os.path.exists(self.path("model")))
        os.mkdir(self.path("folder"))
        self.assert_refused(1, ["folder"], "train", "--history", "history.csv", "--out", "folder")

    def test_measured_services_become_a_file_that_sizes_are_predicted_from(self):
        rows = [f"web-{i},{cores},{gib},{min(cores, i) * 100 + gib}\n"
                for i in range(1, 4) for cores in (1, 2, 4) for gib in (2, 8)]
        self.write("past.csv", "service,cores,memory_gib,performance\n" + "".join(rows))
        said = self.succeed("train", "services", "past.csv", "--out", "past")
        self.assertIn("--policy lrasched,history=past", said)
        assert_golden(self, said)
        self.assertTrue(self.read("past").startswith("muster-learnt past-services 1\n"))
        said = self.succeed("train", "services", "past.csv", "--out", "late", "--most", "2")
        assert_golden(self, said)
        text = self.succeed("train", "services", "past.csv", "--out", "-")
        self.assertEqual(text, self.read("past"))

    def test_measurements_that_make_no_sense_are_all_named(self):
        self.write("past.csv", "service,cores,memory_gib,performance\nweb,1,2,fast\nweb,-1,2,1\n"
                               "queue,1,2,3\nqueue,2,4,3\n")
        train = ("train", "services", "past.csv", "--out", "past")
        self.assert_refused_at(2, "past.csv:2: performance", *train)
        self.assertFalse(os.path.exists(self.path("past")))
        self.assert_refused(2, ["--most"], *train, "--most", "601")
        self.assert_refused(2, ["--out"], "train", "services", "past.csv")
        self.assert_refused(1, ["absent.csv"], "train", "services", "absent.csv", "--out", "past")

    def test_a_replay_begins_with_the_services_of_a_history(self):
        self.write("past.csv", "service,cores,memory_gib,performance\n"
                               "web,1,2,1\nweb,1,8,2\nweb,4,2,3\nweb,4,8,4\n")
        self.succeed("train", "services", "past.csv", "--out", "past")
        self.write("jobs.csv", COLUMNS + "1,0,ann,x,1,0,1,4,30,c\n")
        replay = ("replay", self.config("run.toml", "jobs.csv"), "--policy")
        self.assertIn("1/1", self.succeed(*replay, "lrasched,history=past"))
        self.assert_refused_at(2, '--policy: policy "lrasched": history', *replay,
                               "lrasched,history=absent")
        self.write("past", self.read("past").replace("services 1\n", "services 7\n", 1))
        self.assert_refused(2, ["lrasched", "history: past: line 1", "version 7",
                                "muster train services"], *replay, "lrasched,history=past")


if __name__ == "__main__":
    unittest.main()
