"""Bad input: an exit status, what is wrong and where, and nothing else."""

import unittest

from fixture import COLUMNS, EVA_200, ONE_JOB, MusterTest

TYPES = "name,family,gpu,cpu,memory_gib,usd_per_hour\n"


class Usage(MusterTest):
    def test_a_command_is_needed(self):
        self.assert_refused(2, ["subcommand"])

    def test_an_unknown_command_is_refused(self):
        self.assert_refused(2, ["no command"], "frobnicate")

    def test_unknown_options_are_named(self):
        for command in (("replay", EVA_200), ("policies",), ("config-keys",)):
            with self.subTest(command=command[0]):
                self.assert_refused(2, ["--frobnicate"], *command, "--frobnicate")

    def test_a_config_is_needed(self):
        self.assert_refused(2, ["config"], "replay")

    def test_numbers_of_options_are_checked(self):
        for option, value in (("--seed", "one"), ("--seed", "-1"), ("--threads", "-1"),
                              ("--threads", "two")):
            with self.subTest(option=option, value=value):
                self.assert_refused(2, [option], "replay", EVA_200, option, value)

    def test_a_scale_of_delays_that_is_none_starts_no_cluster(self):
        for scale in ("-1", "nan", "inf", "10001"):
            with self.subTest(scale=scale):
                self.assert_refused(2, ["--delay-scale", "0 to 10000"], "up", "--dir",
                                    "cluster", f"--delay-scale={scale}")

    def test_a_cluster_of_more_parts_than_there_can_be_is_not_begun(self):
        for flag, most in (("--sites", 5), ("--masters", 8), ("--nodes", 14)):
            for wrong in (0, most + 1):
                with self.subTest(flag=flag, wrong=wrong):
                    self.assert_refused(2, [flag], "up", "--dir", "cluster", flag, str(wrong))

    def test_caps_of_another_form_start_no_cluster(self):
        for caps in ("usd_h=0", "gpus=4", "instances=1.5"):
            with self.subTest(caps=caps):
                self.assert_refused(2, ["--caps"], "up", "--dir", "cluster", "--caps", caps)

    def test_where_no_cluster_is_nothing_ends(self):
        self.assert_refused(2, ["cluster"], "down", "--dir", "cluster")

    def test_what_runs_the_parts_of_a_cluster_names_what_it_lacks(self):
        self.assert_refused(2, ["DIR"], "keeper")
        self.assert_refused(2, ["absent.toml"], "node", "--config", "absent.toml", "--verbose")

    def test_a_report_that_no_worker_takes_is_answered_with_the_rule(self):
        for report, rule in ((("--metric", "p99"), "NAME=VALUE"),
                             (("--metric", "P99=1"), "small letters"),
                             (("--metric", "p99=fast"), "-1e18 to 1e18"),
                             (("--metric", "p99=1", "ten"), "0 to 1e15"),
                             ((), "nothing to report")):
            with self.subTest(report=report):
                self.assert_refused(2, [rule], "progress", *report)

    def test_an_unknown_policy_is_answered_with_the_known_ones(self):
        self.assert_refused(2, ['"evva"', "no-packing, eva"], "replay", EVA_200, "--policy",
                            "evva", "--json", "runs.json")

    def test_an_unknown_parameter_is_answered_with_the_known_ones(self):
        self.assert_refused(2, ['"eva"', '"tt"', "artifact", "period_s"], "replay", EVA_200,
                            "--policy", "eva,tt=0.9", "--json", "runs.json")

    def test_a_parameter_out_of_range_is_answered_with_the_range(self):
        for value in ("7", "0", "-0.5", "nan", "inf", "fast", ""):
            with self.subTest(value=value):
                self.assert_refused(2, ['"t"', "> 0 and <= 1"], "replay", EVA_200, "--policy",
                                    f"eva,t={value}")

    def test_one_bad_policy_among_good_ones_stops_them_all(self):
        self.assert_refused(2, ['"evva"'], "replay", EVA_200, "--policy", "no-packing",
                            "--policy", "evva", "--json", "runs.json", "--events", "e.jsonl")


class BadConfig(MusterTest):
    def assert_config_refused(self, text, *words, status=2):
        self.write("mine.toml", text)
        self.assert_refused(status, words, "replay", "mine.toml", "--json", "runs.json", "--html",
                            "report.html", "--events", "log.jsonl")

    def setUp(self):
        super().setUp()
        self.write("jobs.csv", ONE_JOB)
        with open(self.config("mine.toml", "jobs.csv"), encoding="utf-8") as file:
            self.good = file.read()

    def test_malformed_toml(self):
        self.assert_config_refused(self.good.replace("[workload]", "[workload"),
                                   "mine.toml:3:", "]")
        self.assert_config_refused(self.good + 'path = "jobs.csv"\n', "mine.toml:6:", "path")

    def test_an_unknown_key_is_answered_with_the_nearest(self):
        self.assert_config_refused(self.good + "[master]\nmax_instancs = 3\n", "mine.toml:7:1:",
                                   "max_instancs", "did you mean", "max_instances")

    def test_values_of_another_type_or_range(self):
        for line, words in {"max_usd_h = -1": ("from 0 to", "-1"),
                            "max_usd_h = nan": ("from 0 to", "nan"),
                            "max_instances = 1.5": ("whole number", "1.5"),
                            'launch_backoff = "5 apples"': ("launch_backoff", "5 apples")}.items():
            with self.subTest(line=line):
                self.assert_config_refused(f"{self.good}[master]\n{line}\n", "mine.toml:7:",
                                           *words)

    def test_words_are_answered_with_the_known_ones(self):
        self.assert_config_refused(self.good.replace("muster-csv", "csv"), "mine.toml:4:", "csv",
                                   "muster-csv", "openb-csv", "eva-json", "synthetic")

    def test_every_error_is_reported_at_once(self):
        self.assert_config_refused("seed = -1\n[workload]\nformat = 3\n", "mine.toml:1:", "seed",
                                   "mine.toml:3:", "workload.format", "policies: is missing",
                                   "catalog: is missing")

    def test_no_input_floods_the_terminal(self):
        flood = "k" * 100_000
        self.write("long.toml", self.good + f"{flood} = 1\n")
        self.write("section.toml", f"[{flood}]\nx = 1\n" + self.good)
        self.write("value.toml", self.good + f'max_jobs = "{flood}"\n')
        for arguments in (("long.toml",), ("section.toml",), ("value.toml",), (flood,),
                          ("mine.toml", "--policy", flood), ("mine.toml", "--set", flood),
                          ("mine.toml", "--set", f"workload.format={flood}"),
                          ("mine.toml", "--set", f"{flood}=1")):
            with self.subTest(arguments=[word[:30] for word in arguments]):
                done = self.muster("replay", *arguments)
                self.assertIn(done.returncode, (1, 2))
                self.assertLess(len(done.stderr), 3000)

    def test_a_policy_of_the_config_is_checked_like_one_of_the_command(self):
        self.write("mine.toml", self.good.replace("no-packing", "evva"))
        self.assert_refused(2, ['"evva"', "no-packing, eva"], "replay", "mine.toml")

    def test_missing_files_are_named(self):
        self.assert_refused(1, ["absent.toml"], "replay", "absent.toml")
        self.assert_config_refused(self.good.replace("jobs.csv", "absent.csv"), "absent.csv",
                                   status=1)
        self.assert_config_refused(self.good.replace("ec2-eva.csv", "absent.csv"), "absent.csv",
                                   status=1)
        self.assert_config_refused(
            self.good + '[world.interference]\nmodel = "pairwise"\nmatrix = "absent.csv"\n',
            "absent.csv", status=1)

    def test_a_folder_is_no_file(self):
        self.assert_refused(1, ["cannot be read"], "replay", ".")


class BadFiles(MusterTest):
    def assert_catalog_refused(self, text, *words):
        self.write("types.csv", text)
        self.write("jobs.csv", ONE_JOB)
        config = self.config("mine.toml", "jobs.csv", catalog="types.csv")
        self.assert_refused(1, words, "replay", config, "--json", "runs.json")

    def assert_workload_refused(self, text, *words, form="muster-csv"):
        self.write("jobs.txt", text)
        self.assert_refused(1, words, "replay", self.config("mine.toml", "jobs.txt", form),
                            "--json", "runs.json")
        self.assert_refused(1, words, "convert", "--from", form, "jobs.txt", "out.csv")

    def test_a_catalog_with_bad_numbers_and_names(self):
        self.assert_catalog_refused(TYPES + "a,x,1,4,16,-1\na,x,1,8,16,2\n",
                                    "types.csv:2: usd_per_hour", "'-1'", "from 0 to",
                                    "types.csv:3: name", "'a'", "line 2")
        for price in ("nan", "inf", "1e999", "cheap", ""):
            with self.subTest(price=price):
                self.assert_catalog_refused(f"{TYPES}a,x,1,4,16,{price}\n",
                                            "types.csv:2: usd_per_hour")

    def test_a_catalog_with_bad_columns(self):
        self.assert_catalog_refused(TYPES.replace("gpu", "gpus") + "a,x,1,4,16,1\n",
                                    "types.csv:1:", "gpus")
        self.assert_catalog_refused(TYPES + "a,x,1,4,16\n", "types.csv:2:")
        self.assert_catalog_refused(TYPES + 'a,x,1,"4,16,1\n', "types.csv:2:")
        self.assert_catalog_refused("", "types.csv:", "columns")

    def test_duplicate_ids_are_reported_with_both_lines(self):
        self.assert_workload_refused(ONE_JOB + "2,0,,,1,0,1,1,60,a\n1,5,,,1,0,1,1,60,a\n",
                                     "jobs.txt:4: id", "line 2")

    def test_numbers_are_finite_and_not_negative(self):
        for field, column in (("submit_s", 1), ("tasks", 4), ("cpu", 6), ("memory_gib", 7),
                              ("duration_s", 8)):
            for value in ("nan", "inf", "-1", "1e400", "many"):
                row = "1,0,ada,train,1,1,4,24,7200,resnet18".split(",")
                row[column] = value
                with self.subTest(field=field, value=value):
                    self.write("jobs.csv", COLUMNS + ",".join(row) + "\n")
                    self.assert_refused(1, [f"jobs.csv:2: {field}", f"'{value}'"], "replay",
                                        self.config("mine.toml", "jobs.csv"))

    def test_every_bad_row_is_reported_at_once(self):
        self.assert_workload_refused(COLUMNS + "1,0,,,1,0,1,1,nan,a\n1,0,,,0,0,1,1,60,a\n",
                                     "jobs.txt:2: duration_s", "'nan'", "jobs.txt:3: id",
                                     "jobs.txt:3: tasks")

    def test_a_malformed_trace_is_reported_with_line_and_column(self):
        self.assert_workload_refused('{"0": {"name": "a",\n "arrival_time": }\n',
                                     "jobs.txt:2:18:", form="eva-json")
        self.assert_workload_refused("", "jobs.txt:", form="eva-json")
        self.assert_workload_refused("[1, 2]\n", "jobs.txt:", form="eva-json")

    def test_a_trace_without_a_field_is_answered_with_job_and_field(self):
        self.assert_workload_refused('{"7": {"name": "a"}}\n', "jobs.txt", "7", "arrival_time",
                                     form="eva-json")

    def test_a_malformed_pod_list_is_reported_with_its_line(self):
        head = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
                "creation_time,deletion_time,scheduled_time\n")
        self.assert_workload_refused(head + "a,few,16384,1,1000,,LS,Running,0,10,0\n",
                                     "jobs.txt:2: cpu_milli", "'few'", form="openb-csv")


if __name__ == "__main__":
    unittest.main()
