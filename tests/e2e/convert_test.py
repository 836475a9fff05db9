"""muster convert: what it writes replays like what it read."""

import csv
import json
import os
import unittest

from fixture import EVA_JOBS, EVA_200, OPENB_PODS, SOURCE, MusterTest, assert_golden

MATRIX = os.path.join(SOURCE, "config/interference/eva-contention-matrix.csv")
INTERFERENCE = f'[world.interference]\nmodel = "pairwise"\nmatrix = "{MATRIX}"\n'
JCTS = ("mean_jct_h", "p50_jct_h", "p95_jct_h", "p99_jct_h")


class Convert(MusterTest):
    def rows(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def convert_pods(self):
        done = self.muster("convert", "--from", "openb-csv", OPENB_PODS, "pods.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        assert_golden(self, done.stderr)

    def test_a_converted_trace_replays_to_the_same_figures(self):
        self.succeed("convert", "--from", "eva-json", EVA_JOBS, "jobs.csv")
        policies = ("--policy", "no-packing", "--policy", "eva")
        direct = self.runs(self.config("json.toml", EVA_JOBS, "eva-json", more=INTERFERENCE),
                           *policies)
        by_csv = self.runs(self.config("csv.toml", "jobs.csv", more=INTERFERENCE), *policies)
        for one, other in zip(direct, by_csv):
            self.assertEqual(one["jobs_completed"], 6)
            for key in ("policy", "total_cost_usd", "instances_launched", *JCTS):
                self.assertEqual(one[key], other[key], key)

    def test_it_writes_a_row_a_job(self):
        self.succeed("convert", "--from", "eva-json", EVA_JOBS, "jobs.csv")
        rows = self.rows("jobs.csv")
        self.assertEqual(sorted(row["id"] for row in rows), ["0", "1", "10", "14", "2", "6"])
        first, = (row for row in rows if row["id"] == "0")
        for key, value in {"submit_s": "960", "tasks": "1", "gpu": "1", "cpu": "12",
                           "memory_gib": "16", "class": "resnet18[0]", "interference": "resnet18",
                           "iterations": "26103", "iterations_per_s": "2.1", "init_s": "80",
                           "runtime_hint_s": "12430"}.items():
            self.assertEqual(first[key], value, key)

    def test_its_own_format_comes_out_as_it_went_in(self):
        shipped = os.path.join(SOURCE, "config/workloads/pai-200.csv")
        self.succeed("convert", "--from", "muster-csv", shipped, "same.csv")
        with open(shipped, encoding="utf-8") as file:
            self.assertEqual(self.read("same.csv"), file.read())

    def test_without_a_file_it_writes_to_standard_output(self):
        self.succeed("convert", "--from", "eva-json", EVA_JOBS, "jobs.csv")
        for target in ((), ("-",)):
            self.assertEqual(self.succeed("convert", "--from", "eva-json", EVA_JOBS, *target),
                             self.read("jobs.csv"))

    def test_it_stops_after_so_many_jobs(self):
        text = self.succeed("convert", "--from", "eva-json", EVA_JOBS, "--max-jobs", "2")
        self.assertEqual(len(text.splitlines()), 3)

    def test_a_pod_list_converts_without_the_failed_pods(self):
        with open(OPENB_PODS, encoding="utf-8", newline="") as file:
            pods = [row for row in csv.DictReader(file) if row["pod_phase"] != "Failed"]
        self.assertEqual(len(pods), 8)
        self.convert_pods()
        rows = self.rows("pods.csv")
        self.assertEqual([row["name"] for row in rows], [pod["name"] for pod in pods])
        for row, pod in zip(rows, pods):
            life = int(pod["deletion_time"]) - int(pod["creation_time"])
            self.assertEqual((row["submit_s"], row["gpu"], row["duration_s"]),
                             (pod["creation_time"], pod["num_gpu"], str(life)))

    def test_a_converted_pod_list_replays_like_the_list(self):
        self.convert_pods()
        self.config("list.toml", OPENB_PODS, "openb-csv")
        self.config("csv.toml", "pods.csv")
        runs = []
        for config in ("list.toml", "csv.toml"):
            done = self.muster("replay", config, "--json", "-")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("job 8 ", done.stderr)
            self.assertIn("(cpu: asked 65", done.stderr)
            assert_golden(self, done.stderr)
            runs += json.loads(done.stdout)["runs"]
        self.assertEqual([run["jobs_completed"] for run in runs], [7, 7])
        for key in ("total_cost_usd", "not_completed", *JCTS):
            self.assertEqual(runs[0][key], runs[1][key], key)

    def test_input_of_another_format_leaves_no_output(self):
        self.assert_refused(1, ["openb-pods.csv:1:"], "convert", "--from", "eva-json", OPENB_PODS,
                            "out.csv")
        self.assert_refused(1, ["eva-jobs.json:"], "convert", "--from", "openb-csv", EVA_JOBS,
                            "out.csv")
        self.assert_refused(1, ["absent.json"], "convert", "--from", "eva-json", "absent.json",
                            "out.csv")
        self.assert_refused(1, ["eva-200.toml:"], "convert", "--from", "muster-csv", EVA_200,
                            "out.csv")

    def test_standard_input_converts_like_a_file(self):
        self.succeed("convert", "--from", "eva-json", EVA_JOBS, "jobs.csv")
        with open(EVA_JOBS, "rb") as file:
            done = self.muster("convert", "--from", "eva-json", "-", stdin=file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, self.read("jobs.csv"))

    def test_what_is_left_out_is_said_and_bad_rows_only_where_they_may_be_skipped(self):
        line = "{} {} 5 {} 4 -1 -1 4 600 -1 1 3 1 2 1 -1 -1 -1\n".format
        self.write("log.swf", line(3, 0, 50) + line(4, 1, 0) + line(5, 2, "long"))
        convert = ("convert", "--from", "swf", "log.swf", "-")
        self.assert_refused(1, ["log.swf:3: run time", "'long'"], *convert)
        done = self.muster(*convert, "--skip-bad")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        assert_golden(self, done.stderr, at=("log.swf", "log.swf:3: run time"))
        config = self.config("log.toml", "log.swf", "swf")
        run, = self.runs(config, "--set", "workload.skip_bad=true", "--policy", "no-packing")
        self.assertEqual(list(run["rows_left_out"].values()), [1, 1])
        assert_golden(self, "\n".join(run["rows_left_out"]))

    def test_an_unknown_format_is_answered_with_the_known_ones(self):
        self.assert_refused(2, ["eva-json", "openb-csv", "muster-csv", "swf"], "convert",
                            "--from", "csv", EVA_JOBS, "out.csv")


if __name__ == "__main__":
    unittest.main()
