"""muster pareto and muster budget: what elastic jobs get for which budget, from a replay config."""

import json
import os
import unittest

from fixture import EVA_200, SOURCE, MusterTest, assert_golden, line_with

G4DN = os.path.join(SOURCE, "config/catalogs/ec2-g4dn.csv")
PROFILES = os.path.join(SOURCE, "tests/data/dl")
# A job of 3.76 GPU-hours every ten minutes: a load of 22.6 GPUs at $0.978 an hour each.
JOBS = 48
TRACE = "name,time,application\n" + "".join(f"bert-{i},{600 * i + 1},bert\n" for i in range(JOBS))


class Pareto(MusterTest):
    def training(self, more=""):
        self.write("trace.csv", TRACE)
        return self.config("training.toml", "trace.csv", form="training", catalog=G4DN,
                           more="task = { cpu = 4, memory_gib = 16 }\n[workload.training]\n"
                                f"profiles = {json.dumps(PROFILES)}\n{more}"
                                '[world]\nquantum = "1ms"\n[master]\nmin_stay = "0s"\n')

    def frontier(self, *arguments):
        return json.loads(self.succeed("pareto", *arguments, "--json", "-"))

    def budget(self, *arguments):
        return json.loads(self.succeed("budget", *arguments, "--json", "-"))

    def test_more_budget_is_less_time(self):
        made = self.frontier(self.training(), "--budgets", "23:83:10")
        load = made["load"]
        self.assertEqual(load["hours"], 8)
        self.assertAlmostEqual(load["load_gpus"], JOBS / 8 * 3.7593, delta=0.001)
        kept = [point for point in made["points"] if point["predicted"]]
        self.assertEqual(len(kept), 7)
        for point in kept:
            predicted = point["predicted"]
            self.assertLessEqual(predicted["gpus"], point["budget_gpus"] * (1 + 1e-9))
            self.assertGreaterEqual(predicted["mean_jct_s"], predicted["bound_jct_s"] * 0.999999)
            self.assertAlmostEqual(predicted["gpu_h"], 8 * predicted["gpus"])
            self.assertAlmostEqual(predicted["usd_h"], 0.978 * predicted["gpus"])
        times = [point["predicted"]["mean_jct_s"] for point in kept]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertLess(times[-1], times[0] / 2)

    def test_it_is_what_the_policy_plans(self):
        made = self.frontier(self.training(), "--budgets", "40")
        self.succeed("replay", "training.toml", "--policy",
                     "boa,budget=40,budget_counts=used,rates_h=bert:6", "--events", "events.jsonl")
        figures = [json.loads(line)["figures"] for line in self.read("events.jsonl").splitlines()
                   if '"figures"' in line and "planned_jct_s" in line]
        planned = next(dict(each) if isinstance(each, list) else each for each in figures)
        self.assertAlmostEqual(made["points"][0]["predicted"]["mean_jct_s"],
                               planned["planned_jct_s"])

    def test_replays_are_put_on_top(self):
        made = self.frontier(self.training(), "--budgets", "20:60:20", "--replay",
                             "--policy", "boa,rates_h=bert:6")
        self.assertEqual([bool(point["replayed"]) for point in made["points"]],
                         [False, True, True])
        run, = self.runs("training.toml", "--policy", "boa,rates_h=bert:6,budget=60")
        replayed = made["points"][2]["replayed"]
        self.assertAlmostEqual(replayed["usd"], run["total_cost_usd"])
        self.assertAlmostEqual(replayed["mean_jct_s"], 3600 * run["mean_jct_h"])
        self.assertEqual(replayed["jobs_left"], 0)
        # What is predicted of nodes that take 90 seconds is what the replay comes to.
        nodes = made["points"][2]["in_nodes"]
        self.assertAlmostEqual(nodes["mean_jct_s"] / replayed["mean_jct_s"], 1, delta=0.1)
        # Nodes that start and remainders of nodes are rented, too.
        self.assertGreater(replayed["rented_gpu_h"], made["points"][2]["predicted"]["gpu_h"] * 0.9)
        some = self.frontier("training.toml", "--budgets", "30:60:10", "--points", "2",
                             "--threads", "1")
        self.assertEqual([bool(point["replayed"]) for point in some["points"]],
                         [True, False, False, True])
        for few in ([], ["--points", "0"]):
            left = self.frontier("training.toml", "--budgets", "30:60:10", *few)["points"]
            self.assertEqual([bool(point["replayed"]) for point in left], [False] * 4)

    def test_it_prints_a_table_and_writes_a_page(self):
        text = self.succeed("pareto", self.training(), "--budgets", "20:60:20", "--html", "b.html")
        self.assertIn("training jobs trace.csv", text)
        note = line_with(text, "1 of 3 budgets")
        self.assertIn("22.56 GPUs", note)
        assert_golden(self, note)
        self.assertIn("report: b.html", text)
        page = self.read("b.html")
        self.assertIn("<canvas>", page)
        self.assertIn('"gpu_h":', page)

    def test_a_replay_says_that_a_budget_cannot_be_kept_and_ends(self):
        config = self.training()
        done = self.muster("replay", config, "--policy", "boa,budget=10", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("22.56 GPUs", done.stderr)
        assert_golden(self, done.stderr, at="boa,budget=10")
        run, = json.loads(done.stdout)["runs"]
        self.assertEqual(run["jobs_completed"], JOBS, "no queue grows without end")
        kept = self.muster("replay", config, "--policy", "boa,budget=60", "--json", "-")
        self.assertEqual(kept.stderr, "")

    def test_a_replay_says_that_nodes_which_take_hours_overspend_a_budget(self):
        config = self.training()
        slow = ("replay", config, "--set", "cloud.delay_scale=200", "--json", "-", "--policy")
        spent = self.muster(*slow, "boa,budget=40")
        self.assertEqual(spent.returncode, 0, spent.stderr)
        assert_golden(self, spent.stderr, at="boa,budget=40")
        run, = json.loads(spent.stdout)["runs"]
        self.assertGreater(run["gpus_while_arriving"]["rented"], 40, "as it was said")
        used = self.muster(*slow, "boa,budget=40,budget_counts=used")
        self.assertEqual(used.stderr, "", "what starts does not count against it")

    def test_a_replay_says_which_classes_rates_and_weights_misname(self):
        done = self.muster("replay", self.training(), "--policy",
                           "boa,rates_h=brt:6,weights=bert:2", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"brt"', done.stderr)
        self.assertIn('"bert"', done.stderr)
        self.assertNotIn("weights names", done.stderr)
        assert_golden(self, done.stderr)
        fleet = self.muster("replay", self.training(), "--policy", "boa,budget=40", "--json", "-",
                            "--set", "cloud.delay_scale=200",
                            "--set", 'master.fleet=["10*g4dn.12xlarge"]')
        self.assertEqual(fleet.stderr, "", "no node of a fleet starts")
        none = self.muster("replay", self.training(), "--policy", "boa,rates_h=bert:0",
                           "--json", "-")
        self.assertNotIn("elastic", none.stderr, "they are")

    def test_the_cheapest_budget_meets_its_target(self):
        found = self.budget(self.training(), "--jct", "45min")
        self.assertEqual(found["target_s"], 2700)
        budget = found["budget"]["budget_gpus"]
        self.assertLessEqual(found["budget"]["predicted"]["mean_jct_s"], 2700)
        below = self.frontier("training.toml", "--budgets", str(budget - 0.01))
        self.assertGreater(below["points"][0]["predicted"]["mean_jct_s"], 2700)
        text = self.succeed("budget", "training.toml", "--jct", "45min")
        self.assertIn(f"budget {budget:.3f} GPUs", text)
        self.assertIn("an hour", text)

    def test_classes_may_weigh_more(self):
        made = self.frontier(self.training(), "--budgets", "40", "--policy", "boa,weights=bert:2")
        self.assertEqual(made["load"]["classes"][0]["weight"], 2)
        self.assert_refused(2, ["weights", "bert:2"], "pareto", "training.toml", "--budgets", "40",
                            "--policy", "boa,weights=bert")

    def test_the_budget_is_what_is_asked_for(self):
        for own in ("boa,budget=30", "boa,budget_usd_h=30"):
            self.assert_refused(2, ["without a budget", own], "pareto", self.training(),
                                "--budgets", "40", "--policy", own)

    def test_types_of_gpus_are_compared_for_the_same_dollars(self):
        both = os.path.join(SOURCE, "config/catalogs/ec2-g4dn-p3.csv")
        faster = ("--set", f"catalog={both}", "--set", 'workload.training.families=["p3@3.5"]')
        made = self.frontier(self.training(), "--budgets", "25:65:20", "--types", *faster)
        self.assertEqual([(each["type"], each["speed"]) for each in made["load"]["types"]],
                         [("g4dn", 1), ("p3", 3.5)])
        for point in made["points"]:
            typed = point["typed"]
            self.assertAlmostEqual(typed["usd_h"], 0.978 * point["budget_gpus"])
            self.assertLess(typed["jct_s"], typed["one_type_jct_s"])
            self.assertLessEqual(0.978 * typed["gpus"][0] + 3.06 * typed["gpus"][1],
                                 typed["usd_h"] * (1 + 1e-9))
        self.assertIn("all types", self.succeed("pareto", "training.toml", "--budgets", "40",
                                                "--types", *faster))
        self.assert_refused(1, ["--types", "workload.training.families"], "pareto",
                            "training.toml", "--budgets", "40", "--types")
        self.assert_refused(1, ["p3@x", "FAMILY@SPEED"], "pareto", "training.toml", "--budgets",
                            "40", "--set", 'workload.training.families=["p3@x"]')

    def test_a_target_that_no_budget_meets_is_said_to_be_one(self):
        self.assert_refused(1, ["no budget", "60.0 s"], "budget", self.training(), "--jct", "1min")

    def test_budgets_below_the_load_are_refused_with_the_load(self):
        self.assert_refused(1, ["no budget of 20 GPUs", "22.56"], "pareto", self.training(),
                            "--budgets", "10:20:5", "--replay")

    def test_jobs_that_state_nothing_have_no_prediction(self):
        self.assert_refused(1, ["bert", "states_speedups"], "pareto",
                            self.training("states_speedups = false\n"), "--budgets", "40")
        self.assert_refused(1, ["elastic"], "budget", EVA_200, "--jct", "1h")

    def test_what_is_wrong_is_named(self):
        config = self.training()
        for wrong in ("", "40:60", "60:40:10", "40:60:0", "0:60:10", "many", "1:5000:1"):
            self.assert_refused(2, ["--budgets", "FROM:TO:STEP"], "pareto", config, "--budgets",
                                wrong)
        for wrong in ("0", "-5min", "soon"):
            self.assert_refused(2, ["--jct", "35min"], "budget", config, f"--jct={wrong}")
        for wrong in ("eva", "boa,budget=40", "boa,"):
            self.assert_refused(2, ["--policy"], "budget", config, "--jct", "1h", "--policy", wrong)
        self.assert_refused(2, ["plan", "glue"], "pareto", config, "--budgets", "40", "--policy",
                            "boa,plan=odd")
        self.assert_refused(2, ["world.interference.model", "it is odd"], "pareto", config,
                            "--budgets", "40", "--set", "world.interference.model=odd")
        self.assert_refused(1, ["absent.toml"], "budget", "absent.toml", "--jct", "1h")
        self.assert_refused(2, ["only one of"], "pareto", config, "--budgets", "40", "--json", "-",
                            "--html", "-")
        self.assertEqual(self.muster("pareto", config).returncode, 2)
        self.assertEqual(self.muster("budget", config).returncode, 2)
        self.assertEqual(self.muster("pareto", config, "--budgets", "40", "--points",
                                     "-1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
