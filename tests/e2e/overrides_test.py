"""muster replay --set: keys of the config, given on the command line."""

import os
import unittest

from fixture import EVA_200, SOURCE, MusterTest


class Overrides(MusterTest):
    def test_a_value_takes_the_place_of_the_config_s(self):
        plain, = self.runs(EVA_200, "--policy", "no-packing")
        few, = self.runs(EVA_200, "--policy", "no-packing", "--set", "workload.max_jobs=50")
        self.assertEqual((plain["jobs_submitted"], few["jobs_submitted"]), (200, 50))
        self.assertLess(few["total_cost_usd"], plain["total_cost_usd"])

    def test_paths_are_relative_to_the_config(self):
        half, = self.runs(EVA_200, "--policy", "no-packing")
        relative, = self.runs(EVA_200, "--policy", "no-packing", "--set",
                              "catalog=../catalogs/ec2-eva.csv")
        absolute, = self.runs(EVA_200, "--policy", "no-packing", "--set", "catalog=" +
                              os.path.join(SOURCE, "config/catalogs/ec2-eva.csv"))
        self.assertEqual(relative["total_cost_usd"], absolute["total_cost_usd"])
        self.assertLess(relative["total_cost_usd"], half["total_cost_usd"])

    def test_policies_and_seed_can_be_set(self):
        run, = self.runs(EVA_200, "--set", "policies=eva,rp", "--set", "seed=7")
        self.assertEqual((run["policy"], run["seed"]), ("eva,rp", 7))
        listed = self.runs(EVA_200, "--set", 'policies=["eva", "no-packing"]')
        self.assertEqual([run["policy"] for run in listed], ["eva", "no-packing"])

    def test_without_interference_eva_is_cheaper_and_nothing_slows_down(self):
        slowed, = self.runs(EVA_200, "--policy", "eva")
        free, = self.runs(EVA_200, "--policy", "eva", "--set", "world.interference.model=none")
        self.assertEqual(free["mean_normalized_throughput"], 1)
        self.assertLess(free["total_cost_usd"], slowed["total_cost_usd"])

    def test_a_cap_on_instances_holds_and_every_job_completes_later(self):
        plain, = self.runs(EVA_200, "--policy", "no-packing")
        capped, = self.runs(EVA_200, "--policy", "no-packing", "--set",
                            "master.max_instances=10", "--events", "log.jsonl")
        self.assertEqual(capped["jobs_completed"], 200)
        self.assertGreater(capped["mean_jct_h"], plain["mean_jct_h"])
        now = most = 0
        for line in self.read("log.jsonl").splitlines():
            now += ('"event":"launch_requested"' in line) - ('"event":"instance_gone"' in line)
            most = max(most, now)
        self.assertEqual(most, 10)

    def test_an_invalid_one_is_refused_with_what_would_be_right(self):
        cases = {
            "nonsense": "dotted.key=value",
            "=1": "--set =1",
            "master.max_usd=1": "max_usd_h",
            "a.b=1": "unknown key",
            "master.max_usd_h=-1": "from 0 to",
            "master.max_usd_h=inf": "from 0 to",
            "workload.max_jobs=many": "whole number",
            "world.interference.model=fierce": "pairwise",
            "world.quantum=0s": "world.quantum",
            "workload=3": "workload",
            "policies=": "policies",
        }
        for override, words in cases.items():
            with self.subTest(override=override):
                self.assert_refused(2, [f"--set {override}", words], "replay", EVA_200, "--set",
                                    override, "--json", "runs.json")


if __name__ == "__main__":
    unittest.main()
