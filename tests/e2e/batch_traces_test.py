"""Batch traces: packed or not, converted or not, at another pace or load they are the same jobs."""

import gzip
import os
import unittest

from fixture import SOURCE, MusterTest

TINY = os.path.join(SOURCE, "config/replay/yahoo-tiny10.toml")
TRACE = os.path.join(SOURCE, "tests/data/yahoo-tiny10.tr")
TIMES = ("makespan_s", "mean_jct_h", "short_jobs", "long_jobs", "utilization")


class BatchTraces(MusterTest):
    def run_of(self, *arguments):
        run, = self.runs(TINY, *arguments)
        self.assertEqual((run["jobs_submitted"], run["jobs_completed"]), (10, 10))
        return run

    def test_every_job_runs_and_has_a_class(self):
        run = self.run_of("--set", "workload.cutoff_s=20")
        classes = run["short_jobs"], run["long_jobs"]
        self.assertEqual([each["jobs_completed"] > 0 for each in classes], [True, True])
        self.assertEqual(sum(each["jobs_completed"] for each in classes), 10)
        self.assertGreater(run["utilization"]["cpu"], 0)
        self.assertIsNone(run["utilization"]["gpu"])

    def test_a_packed_trace_and_a_converted_one_give_the_same_run(self):
        plain = self.run_of()
        with open(TRACE, "rb") as file, gzip.open(self.path("tiny.tr.gz"), "wb") as packed:
            packed.write(file.read())
        self.succeed("convert", "--from", "tr", "tiny.tr.gz", "tiny.csv")
        for path, form in (("tiny.tr.gz", "tr"), ("tiny.csv", "muster-csv")):
            run = self.run_of("--set", f"workload.path={self.path(path)}", "--set",
                              f"workload.format={form}")
            self.assertEqual(run["event_log_sha256"], plain["event_log_sha256"])

    def test_the_pace_and_the_load_are_options(self):
        spelt = self.run_of("--set", "workload.scale_time=0.5")
        self.assertEqual(self.run_of("--scale-time", "0.5")["event_log_sha256"],
                         spelt["event_log_sha256"])
        text = self.succeed("replay", TINY, "--load", "0.8")
        self.assertIn("(load 0.8 on the fleet)", text)
        self.assertRegex(text, r" x 0\.\d+")

    def test_a_load_needs_a_fleet_and_no_other_factor(self):
        with open(TINY, encoding="utf-8") as file:
            alone = file.read().replace('fleet = ["100*slot"]', "")
        self.write("alone.toml", alone)
        self.assert_refused(2, ["workload.load", "needs a fleet", "master.fleet"], "replay",
                            "alone.toml", "--load", "0.8")
        self.assert_refused(2, ["workload.scale_time", "has to be 1"], "replay", TINY, "--load",
                            "0.8", "--scale-time", "2")
        self.assert_refused(2, ["workload.load", "from 0 to 100"], "replay", TINY, "--load", "-1")

    def test_without_a_cutoff_the_table_is_as_it_was(self):
        text = self.succeed("replay", TINY, "--set", "workload.cutoff_s=0")
        self.assertNotIn("makespan", text)
        self.assertIn("makespan", self.succeed("replay", TINY))

    def test_a_trace_that_is_damaged_is_named(self):
        with open(self.path("cut.tr.gz"), "wb") as file:
            file.write(gzip.compress(b"0 1 5 5\n" * 99)[:-9])
        self.assert_refused(1, ["cut.tr.gz: is damaged"], "convert", "--from", "tr", "cut.tr.gz",
                            "out.csv")


if __name__ == "__main__":
    unittest.main()
