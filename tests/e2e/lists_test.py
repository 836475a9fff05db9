"""What the command says about itself: policies, config keys, version and help."""

import json
import re
import unittest

from fixture import EVA_200, MusterTest, assert_golden, line_with

COMMANDS = ("replay", "bound", "pareto", "budget", "experiment", "policies", "explain", "convert",
            "train", "config-keys", "api")
EVA_PARAMS = {"eager", "artifact", "full-only", "partial-only", "rp", "single", "t", "period_s",
              "paper", "spot"}
HCOOP_PARAMS = {"group", "pairing", "exact_tasks", "backfill", "on_demand_fallback",
                "max_interruptions",
                "threshold_s", "idle_release_s", "period_s"}


class Lists(MusterTest):
    def test_policies_are_listed_with_their_parameters(self):
        policies = json.loads(self.succeed("policies", "--json", "-"))["policies"]
        params = {policy["name"]: policy["params"] for policy in policies}
        self.assertLessEqual({"no-packing", "eva", "hcoop", "hcoop-no-packing"}, set(params))
        self.assertEqual({param["name"] for param in params["eva"]}, EVA_PARAMS)
        self.assertEqual({param["name"] for param in params["hcoop"]}, HCOOP_PARAMS)
        text = self.succeed("policies")
        groups = json.loads(self.succeed("policies", "--json", "-"))["groups"]
        self.assertEqual([group["name"] for group in groups], ["sparrow", "eagle", "pigeon"])
        for policy in policies + groups:
            self.assertRegex(text, rf"(?m)^{policy['name']}$")
            for param in policy["params"]:
                self.assertEqual(set(param), {"name", "default", "range", "meaning"})
                self.assertIn(f"{param['name']} = {param['default']}  ({param['range']})", text)

    def test_policies_say_how_sites_take_jobs_in_and_what_they_use(self):
        listed = json.loads(self.succeed("policies", "--json", "-"))
        by_name = {policy["name"]: policy for policy in listed["policies"] + listed["groups"]}
        self.assertEqual(by_name["hcoop"]["intake"], {"classify_by": "svm", "masters_per_job": 2})
        self.assertEqual(by_name["eva"]["intake"], {"classify_by": None, "masters_per_job": 1})
        self.assertEqual(by_name["eva"]["uses"], ["throughput", "prices"])
        self.assertEqual(by_name["sparrow"]["uses"], [])
        intake = line_with(self.succeed("policies"), "classify.by = svm")
        self.assertIn("site.masters_per_job = 2", intake)
        assert_golden(self, intake.strip())

    def test_the_api_is_listed_as_it_is_served(self):
        document = json.loads(self.succeed("api", "--json", "-"))
        text = self.succeed("api")
        for path, methods in document["paths"].items():
            for method in methods:
                self.assertIn(f"\n### {method.upper()} {path}\n", text)
        self.assertIn("| `usd` | number |", text)

    def test_every_listed_default_can_be_given(self):
        policies = json.loads(self.succeed("policies", "--json", "-"))["policies"]
        for policy in policies:
            given = ",".join([policy["name"]] + [f"{param['name']}={param['default']}"
                                                 for param in policy["params"]])
            with self.subTest(policy=given):
                costs = []
                for text in (policy["name"], given):
                    done = self.muster("replay", EVA_200, "--set", "workload.max_jobs=10",
                                       "--policy", text, "--json", "-")
                    # A budget for elastic jobs means nothing to those of this trace.
                    said = (f"muster: {text}: the workload has no elastic jobs: the budget has no "
                            "effect\n") if policy["name"] == "boa" else ""
                    self.assertEqual((done.returncode, done.stderr), (0, said))
                    run, = json.loads(done.stdout)["runs"]
                    costs.append(run["total_cost_usd"])
                self.assertEqual(costs[0], costs[1])

    def test_config_keys_are_listed_with_type_default_and_range(self):
        keys = json.loads(self.succeed("config-keys", "--json", "-"))["keys"]
        names = [key["key"] for key in keys]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({"seed", "policies", "catalog", "workload.path",
                              "world.interference.model", "master.max_usd_h"}, set(names))
        self.check_rows(keys, self.succeed("config-keys"))

    def test_the_keys_of_a_cluster_file_are_listed_likewise(self):
        keys = json.loads(self.succeed("config-keys", "--cluster", "--json", "-"))["keys"]
        self.assertLessEqual({"seed", "node.NAME.address", "master.max_usd_day", "link.timeout"},
                             {key["key"] for key in keys})
        self.check_rows(keys, self.succeed("config-keys", "--cluster"))

    def check_rows(self, keys, table):
        rows = table.splitlines()
        self.assertEqual(len(rows), len(keys) + 2)
        for key, row in zip(keys, rows[2:]):
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            self.assertEqual(cells, [f"`{key['key']}`", key["type"], key["default"],
                                     key["range"], key["meaning"]])

    def test_every_listed_default_is_what_a_config_means_without_it(self):
        keys = json.loads(self.succeed("config-keys", "--json", "-"))["keys"]
        given = [word for key in keys if key["default"] not in ("", "required")
                 if not key["key"].startswith("world.interference")
                 if key["key"] != "master.min_stay"  # the paper's, in this config
                 for word in ("--set", f"{key['key']}={key['default']}")]
        self.assertGreater(len(given), 20)
        plain, = self.runs(EVA_200, "--policy", "eva", "--set", "workload.max_jobs=20")
        spelt, = self.runs(EVA_200, "--policy", "eva", *given, "--set", "workload.max_jobs=20")
        self.assertEqual(plain["event_log_sha256"], spelt["event_log_sha256"])

    def test_the_version_is_a_number(self):
        self.assertTrue(re.fullmatch(r"\d+\.\d+\.\d+\n", self.succeed("--version")))

    def test_help_names_every_command_and_ends_well(self):
        text = self.succeed("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^ +{command} ")
            self.assertIn("--help", self.succeed(command, "--help"))
        for option in ("--policy", "--seed", "--set", "--threads", "--json", "--html",
                       "--events", "--scale-time", "--load"):
            self.assertIn(option, self.succeed("replay", "--help"))


if __name__ == "__main__":
    unittest.main()
