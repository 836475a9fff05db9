"""muster bound: what no policy can cost less than, from a replay config."""

import json
import os
import unittest

from fixture import COLUMNS, EVA_200, SOURCE, MusterTest

# Two tasks that fill a p3.2xlarge ($3.06/h) together, of ten hours each.
PAIR = COLUMNS + ("1,0,ada,half,1,0,4,30,36000,resnet18\n" "2,0,ada,half,1,1,4,30,36000,resnet18\n")
UNIFORM = '[world.interference]\nmodel = "uniform"\ndefault_pair = 0.8\n'


class Bound(MusterTest):
    def bounds(self, *arguments):
        """The bounds of `muster bound ARGUMENTS --json -`."""
        return json.loads(self.succeed("bound", *arguments, "--json", "-"))["bounds"]

    def small(self, more=""):
        self.write("jobs.csv", PAIR)
        self.write("one.csv", "name,family,gpu,cpu,memory_gib,usd_per_hour,acquire_s,setup_s,"
                   "terminate_s\np3.2xlarge,p3,1,8,61,3.06,20,100,1\n")
        return self.config("small.toml", "jobs.csv", catalog="one.csv", more=more)

    def test_it_is_worked_out_by_hand(self):
        self.assertAlmostEqual(self.bounds(self.small())[0]["bound_usd"], 30.6, delta=0.001)
        # 8 hours of work each in ten hours together.
        slowed, = self.bounds(self.small(UNIFORM))
        self.assertAlmostEqual(slowed["bound_usd"], 30.6 / 0.8, delta=0.001)
        self.assertAlmostEqual(slowed["stretch"], 1 / 0.8, delta=0.001)
        self.assertTrue(slowed["exact"])

    def test_it_prints_a_table(self):
        text = self.succeed("bound", self.small())
        self.assertIn("workload jobs.csv", text)
        self.assertIn("exact", text)
        self.assertIn("p3.2xlarge", text)

    def test_no_run_costs_less(self):
        bound, = self.bounds(EVA_200)
        for run in self.runs(EVA_200, "--policy", "eva", "--policy", "muster"):
            self.assertGreater(run["total_cost_usd"], bound["bound_usd"])

    def test_a_replay_shows_how_far_above_it_lies(self):
        bound, = self.bounds(EVA_200)
        runs = self.runs(EVA_200, "--bound", "--policy", "no-packing", "--policy", "muster")
        for run in runs:
            self.assertEqual(run["bound"]["usd"], bound["bound_usd"])
            self.assertAlmostEqual(run["bound"]["above"],
                                   run["total_cost_usd"] / bound["bound_usd"] - 1)
        table = self.succeed("replay", EVA_200, "--bound")
        self.assertIn("bound %", table)
        self.assertIn(f"{100 * runs[0]['bound']['above']:.1f}", table)
        plain, = self.runs(EVA_200, "--policy", "no-packing")
        self.assertIsNone(plain["bound"])
        self.assertNotIn("bound %", self.succeed("replay", EVA_200, "--policy", "no-packing"))

    def test_a_replay_that_has_none_says_so_before_it_runs(self):
        self.assert_refused(1, ["no bound", "master.fleet"], "replay", self.small(), "--bound",
                            "--set", 'master.fleet=["2*p3.2xlarge"]')

    def test_it_is_lower_and_holds_when_the_search_is_cut_off(self):
        whole, = self.bounds(EVA_200)
        cut, = self.bounds(EVA_200, "--nodes", "1000")
        self.assertFalse(cut["exact"])
        self.assertLess(cut["bound_usd"], whole["bound_usd"])
        self.assertGreaterEqual(cut["reached_usd"], whole["reached_usd"])

    def test_trials_have_the_workloads_of_their_seeds(self):
        config = os.path.join(SOURCE, "config/replay/eva-multi-task.toml")
        few = ("--set", "workload.synthetic.jobs=5", "--set", "trials=2")
        both = self.bounds(config, *few, "--seed", "3")
        self.assertEqual([bound["seed"] for bound in both], [3, 4])
        second, = self.bounds(config, *few, "--seed", "4", "--set", "trials=1")
        self.assertEqual(second, both[1])

    def test_a_fixed_fleet_has_none(self):
        self.assert_refused(1, ["no bound", "master.fleet"], "bound", self.small(),
                            "--set", 'master.fleet=["2*p3.2xlarge"]')

    def test_what_is_wrong_is_named(self):
        config = self.small()
        self.assert_refused(2, ["world.interference.model", "it is odd"], "bound", config,
                            "--set", "world.interference.model=odd")
        self.assert_refused(1, ["absent.toml"], "bound", "absent.toml")
        self.assert_refused(1, ["workload.path", "absent.csv"], "bound", config,
                            "--set", "workload.path=absent.csv")
        for wrong in ("0", "-1", "many"):
            done = self.muster("bound", config, "--nodes", wrong)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--nodes", done.stderr)
        self.assertEqual(self.muster("bound").returncode, 2)


if __name__ == "__main__":
    unittest.main()
