"""The full traces of Eva's paper, and the reference runs of its authors' simulator."""

import json
import os
import sys
import unittest

from fixture import SOURCE, MusterTest, traces

GAVEL = os.path.join(SOURCE, "config/replay/eva-gavel.toml")
ALIBABA = os.path.join(SOURCE, "config/replay/eva-alibaba.toml")
JOBS = 6274


def setUpModule():
    needed = [os.path.join(traces(), "eva", name)
              for name in ("pai_full_gavel.json", "pai_full_alibaba.json", "pai_200.json")]
    absent = [path for path in needed if not os.path.exists(path)]
    if absent:
        message = f"SKIPPED: no traces: {', '.join(absent)} absent; MUSTER_DATA names the folder"
        print(message, file=sys.stderr, flush=True)
        raise unittest.SkipTest(message)


class Trace(MusterTest):
    def policies(self, config, *policies, more=()):
        """The runs by policy; each completed what was submitted."""
        given = [word for policy in policies for word in ("--policy", policy)]
        runs = self.runs(config, *given, *more)
        for run in runs:
            self.assertEqual(run["jobs_completed"], run["jobs_submitted"])
            self.assertEqual(run["not_completed"], [])
            self.assertAlmostEqual(sum(run["cost_by_purpose"].values()), run["total_cost_usd"],
                                   places=4)
        return {run["policy"]: run for run in runs}

    def assert_within(self, share, cost, run):
        self.assertLessEqual(abs(run["total_cost_usd"] / cost - 1), share,
                             f"{run['policy']} costs {run['total_cost_usd']}, not {cost}")

    def test_gavel_durations(self):
        runs = self.policies(GAVEL, "no-packing", "eva,paper", "eva,artifact", "eva")
        plain = runs["no-packing"]
        self.assertEqual((plain["jobs_submitted"], plain["instances_launched"]), (JOBS, JOBS))
        self.assertAlmostEqual(plain["total_cost_usd"], 831227.28, delta=0.01)
        self.assertEqual(round(plain["mean_jct_h"], 2), 16.81)
        self.assert_within(0.03, 483472, runs["eva,paper"])
        self.assert_within(0.03, 483472, runs["eva,artifact"])

    def test_alibaba_durations(self):
        runs = self.policies(ALIBABA, "no-packing", "eva,paper")
        plain = runs["no-packing"]
        self.assertEqual(plain["jobs_submitted"], JOBS)
        self.assertAlmostEqual(plain["total_cost_usd"], 442333.74, delta=0.01)
        self.assertLess(runs["eva,paper"]["total_cost_usd"], plain["total_cost_usd"])

    def test_reference_runs_of_the_authors_simulator(self):
        jobs = os.path.join(traces(), "eva/pai_200.json")
        runs = self.policies(GAVEL, "no-packing", "eva,artifact",
                             more=("--set", f"workload.path={jobs}", "--set",
                                   "world.interference.model=pairwise"))
        plain = runs["no-packing"]
        self.assertEqual(plain["instances_launched"], 200)
        self.assertAlmostEqual(plain["total_cost_usd"], 20736.38, delta=0.01)
        self.assertEqual(round(plain["mean_jct_h"], 2), 17.67)
        self.assert_within(0.02, 15248.76, runs["eva,artifact"])

    def test_the_bounds_below_every_policy(self):
        """Proved within the nodes that are allowed.

        docs/research/appendix/muster.md has the figures."""
        for config, model, usd in ((GAVEL, "uniform", 410707.91), (GAVEL, "none", 367465.02),
                                   (GAVEL, "pairwise", 403010.28), (ALIBABA, "uniform", 230381.45)):
            with self.subTest(config=os.path.basename(config), model=model):
                text = self.succeed("bound", config, "--set", f"world.interference.model={model}",
                                    "--json", "-")
                bound, = json.loads(text)["bounds"]
                self.assertTrue(bound["exact"])
                self.assertAlmostEqual(bound["bound_usd"] / usd, 1, delta=0.00001)
                self.assertEqual(bound["tasks"], JOBS)

    def test_the_trace_gives_the_same_events_on_one_and_two_threads(self):
        shas = [[run["event_log_sha256"] for run in self.runs(GAVEL, "--threads", threads)]
                for threads in ("1", "2")]
        self.assertEqual(shas[0], shas[1])


if __name__ == "__main__":
    unittest.main()
