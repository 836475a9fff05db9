"""muster replay on the shipped extract of 200 jobs: the table, the JSON and the HTML report."""

import html.parser
import json
import os
import re
import unittest

from fixture import COLUMNS, EVA_200, ONE_JOB, MusterTest, assert_golden, line_with

WHOLE = ("seed", "jobs_submitted", "jobs_completed", "instances_launched", "interruptions",
         "rounds", "events")
NUMBERS = ("total_cost_usd", "normalized_cost", "mean_jct_h", "p50_jct_h", "p95_jct_h",
           "p99_jct_h", "p50_slowdown", "p95_slowdown", "mean_idle_h",
           "mean_normalized_throughput", "tasks_per_instance", "migrations_per_task",
           "lost_work_h", "decision_ms_mean", "decision_ms_p99", "wall_s")
FLEET = ("normalized_jct", "makespan_s", "throughput_jobs_h", "normalized_throughput",
         "utilization", "short_jobs", "long_jobs", "bound", "tariff_usd")
KEYS = {*WHOLE, *NUMBERS, *FLEET, "policy", "allocation", "full_reconfiguration_share",
        "event_log_sha256", "cost_by_purpose", "jobs_not_completed", "not_completed",
        "rows_left_out",
        "rounds_by_choice", "round_figures", "over_time", "gpu_h", "gpus_while_arriving",
        "gpu_h_unused", "efficiency", "width_error", "services"}
PURPOSES = {"tasks", "boot", "idle", "drain", "fragmentation"}


class Json(MusterTest):
    def setUp(self):
        super().setUp()
        output = self.succeed("replay", EVA_200, "--json", "-")
        document = json.loads(output)  # fails when anything else stands there
        self.assertEqual(set(document), {"runs"})
        self.runs_made = document["runs"]
        self.no_packing, self.eva, self.own = self.runs_made

    def test_a_run_has_exactly_the_agreed_keys(self):
        self.assertEqual([run["policy"] for run in self.runs_made],
                         ["no-packing", "eva", "muster"])
        for run in self.runs_made:
            with self.subTest(policy=run["policy"]):
                self.assertEqual(set(run), KEYS)
                self.assertEqual(set(run["allocation"]), {"gpu", "cpu", "memory"})
                self.assertEqual(set(run["cost_by_purpose"]), PURPOSES)

    def test_every_figure_has_its_type(self):
        for run in self.runs_made:
            for key in WHOLE:
                self.assertIs(type(run[key]), int, key)
            for key in NUMBERS:
                self.assertIs(type(run[key]), float, key)
            for part in ("allocation", "cost_by_purpose"):
                for key, value in run[part].items():
                    self.assertIs(type(value), float, key)
            self.assertRegex(run["event_log_sha256"], "^[0-9a-f]{64}$")
            self.assertEqual(run["seed"], 1)

    def test_what_has_no_meaning_is_null(self):
        self.assertIsNone(self.no_packing["full_reconfiguration_share"])
        self.assertGreater(self.eva["full_reconfiguration_share"], 0)
        self.assertLess(self.eva["full_reconfiguration_share"], 1)

    def test_the_notes_of_the_rounds_are_summed_up_whatever_the_policy_is(self):
        choices = self.eva["rounds_by_choice"]
        self.assertEqual(set(choices), {"full", "partial"})
        self.assertEqual(self.eva["full_reconfiguration_share"],
                         choices["full"] / sum(choices.values()))
        self.assertEqual(set(self.eva["round_figures"]),
                         {"S_F", "M_F", "S_P", "M_P", "D", "lambda", "p"})
        for name, figure in self.eva["round_figures"].items():
            with self.subTest(figure=name):
                self.assertTrue(0 < figure["rounds"] <= self.eva["rounds"])
                self.assertTrue(figure["min"] <= figure["mean"] <= figure["max"])

    def test_every_job_completes(self):
        for run in self.runs_made:
            self.assertEqual((run["jobs_submitted"], run["jobs_completed"]), (200, 200))
            self.assertEqual(run["not_completed"], [])

    def test_the_parts_of_the_cost_add_up(self):
        for run in self.runs_made:
            self.assertAlmostEqual(sum(run["cost_by_purpose"].values()), run["total_cost_usd"],
                                   places=6)
            for purpose, cost in run["cost_by_purpose"].items():
                self.assertGreaterEqual(cost, 0, purpose)

    def test_costs_are_relative_to_the_first_policy(self):
        self.assertEqual(self.no_packing["normalized_cost"], 1)
        self.assertAlmostEqual(self.eva["normalized_cost"],
                               self.eva["total_cost_usd"] / self.no_packing["total_cost_usd"])
        first, second = self.runs(EVA_200, "--policy", "eva", "--policy", "no-packing")
        self.assertEqual((first["policy"], first["normalized_cost"]), ("eva", 1))
        self.assertAlmostEqual(second["normalized_cost"], 1 / self.eva["normalized_cost"])

    def test_without_packing_every_task_has_an_instance_and_stays_there(self):
        self.assertEqual(self.no_packing["instances_launched"], 200)
        self.assertEqual(self.no_packing["migrations_per_task"], 0)
        self.assertEqual(self.no_packing["mean_normalized_throughput"], 1)
        self.assertLessEqual(self.no_packing["tasks_per_instance"], 1)

    def test_eva_packs_and_costs_less(self):
        self.assertLess(self.eva["total_cost_usd"], 0.8 * self.no_packing["total_cost_usd"])
        self.assertGreater(self.eva["tasks_per_instance"], 1)
        self.assertGreater(self.eva["migrations_per_task"], 0)
        self.assertLess(self.eva["mean_normalized_throughput"], 1)
        self.assertGreaterEqual(self.eva["mean_jct_h"], self.no_packing["mean_jct_h"])

    def test_muster_costs_less_than_eva_and_is_done_no_later(self):
        self.assertLess(self.own["total_cost_usd"], 0.97 * self.eva["total_cost_usd"])
        self.assertLess(self.own["mean_jct_h"], self.eva["mean_jct_h"])
        self.assertEqual(set(self.own["rounds_by_choice"]), {"repartition", "at once"})

    def test_shares_are_shares_and_percentiles_rise(self):
        for run in self.runs_made:
            for kind, share in run["allocation"].items():
                self.assertTrue(0 < share <= 1, kind)
            self.assertTrue(0 < run["p50_jct_h"] < run["p95_jct_h"] < run["p99_jct_h"])


class Table(MusterTest):
    def test_it_has_a_row_a_policy_with_the_figures_of_the_json(self):
        table = self.succeed("replay", EVA_200, "--json", "runs.json").splitlines()
        for run in json.loads(self.read("runs.json"))["runs"]:
            row, = (line for line in table if re.match(rf"{run['policy']} ", line))
            self.assertIn("200/200", row)
            self.assertIn(f"{run['total_cost_usd']:,.2f}", row)
            self.assertIn(f"{100 * run['normalized_cost']:.1f}", row)
            self.assertIn(f"{run['mean_jct_h']:.2f}", row)

    def test_nothing_is_drawn_when_nobody_looks(self):
        table = self.succeed("replay", EVA_200)
        self.assertNotIn("\r", table)
        self.assertNotIn("\x1b", table)

    def test_a_job_that_fits_no_type_is_said_and_listed_and_the_others_go_on(self):
        self.write("jobs.csv", ONE_JOB + "2,0,bob,big,1,9,4,24,3600,vit\n")
        done = self.muster("replay", self.config("mine.toml", "jobs.csv"), "--policy",
                           "no-packing", "--policy", "eva", "--json", "runs.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        for run in json.loads(self.read("runs.json"))["runs"]:
            self.assertEqual((run["jobs_submitted"], run["jobs_completed"]), (2, 1))
            self.assertEqual(run["jobs_not_completed"], 1)
            self.assertIn("1 of 2", line_with(done.stderr, f"under {run['policy']} "))
            assert_golden(self, line_with(done.stderr, f"under {run['policy']} "))
            missed, = run["not_completed"]
            self.assertEqual(set(missed), {"job", "reason"})
            self.assertEqual(missed["job"], "2")
            self.assertRegex(missed["reason"], "^never: .*gpu: asked 9, available 8")
            self.assertIn(f"{run['policy']}: job 2 did not complete: {missed['reason']}",
                          done.stderr)
            self.assertRegex(done.stdout, rf"(?m)^{run['policy']} +1/2 ")

    def test_what_does_not_fit_on_a_fleet_is_rented_and_the_fleet_stays(self):
        fleet = ("--set", 'master.fleet=["2*p3.8xlarge"]', "--set", "workload.max_jobs=20")
        beyond = (*fleet, "--set", "master.rent_beyond_fleet=true")
        for policy in ("muster", "eva", "no-packing", "hcoop"):
            with self.subTest(policy=policy):
                run, = self.runs(EVA_200, "--policy", policy, *beyond, "--events", "log.jsonl")
                self.assertEqual(run["jobs_completed"], 20)
                self.assertGreater(run["instances_launched"], 2)
                events = [json.loads(line) for line in self.read("log.jsonl").splitlines()]
                causes = {event["instance"]: event["cause"]["code"] for event in events
                          if event.get("event") == "launch_requested"}
                released = {event["instance"]: event["cause"]["code"] for event in events
                            if event.get("event") == "release_decided"}
                owned = [id for id, cause in causes.items() if cause == "fixed fleet"]
                self.assertEqual(len(owned), 2)
                self.assertEqual({released[id] for id in owned}, {"drained"})

    def test_a_workload_without_jobs_is_refused(self):
        self.write("jobs.csv", COLUMNS)
        self.assert_refused(1, ["jobs.csv: has no jobs"], "replay",
                            self.config("mine.toml", "jobs.csv"), "--json", "runs.json")


class Page(html.parser.HTMLParser):
    """The tags of a page, what they refer to, and the text in style sheets."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.references = []
        self.styles = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.references += [value for name, value in attrs
                            if name in ("src", "href", "srcset", "data", "poster", "action")]

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "style":
            self.styles += data


class Report(MusterTest):
    def test_it_is_one_file_that_needs_no_other(self):
        output = self.succeed("replay", EVA_200, "--html", "report.html")
        self.assertIn("report: report.html", output)
        self.assertEqual(os.listdir(self.folder), ["report.html"])
        text = self.read("report.html")
        page = Page(text)
        for reference in page.references:
            self.assertRegex(reference, "^(data:|#)")
        self.assertNotIn("@import", page.styles)
        for target in re.findall(r"url\(([^)]*)\)", page.styles):
            self.assertRegex(target.strip("'\""), "^(data:|#)")
        self.assertNotIn("link", page.tags)
        self.assertIn("script", page.tags)
        self.assertIn("canvas", text)
        for words in ("no-packing", "eva"):
            self.assertIn(words, text)

    def test_with_json_on_standard_output_it_is_not_mentioned_there(self):
        document = json.loads(self.succeed("replay", EVA_200, "--policy", "no-packing", "--json",
                                           "-", "--html", "report.html"))
        self.assertEqual(len(document["runs"]), 1)
        self.assertTrue(self.read("report.html").rstrip().endswith("</html>"))

    def test_a_missing_folder_is_made(self):
        self.succeed("replay", EVA_200, "--policy", "no-packing", "--json", "new/one/runs.json")
        self.assertEqual(len(json.loads(self.read("new/one/runs.json"))["runs"]), 1)


if __name__ == "__main__":
    unittest.main()
