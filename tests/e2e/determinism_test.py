"""The same config and seed give the same events; the log bills what the figures say."""

import hashlib
import json
import os
import unittest

from fixture import EVA_200, SOURCE, MusterTest, assert_golden

MULTI_TASK = os.path.join(SOURCE, "config/replay/eva-multi-task.toml")
MEASURED = ("decision_ms_mean", "decision_ms_p99", "wall_s")  # by the clock on the wall


def decided(runs):
    """The runs without what differs from one time to the next."""
    return [{key: run[key] for key in run if key not in MEASURED} for run in runs]


class Determinism(MusterTest):
    def test_the_same_seed_decides_the_same_on_any_number_of_threads(self):
        first = decided(self.runs(EVA_200, "--threads", "1"))
        self.assertEqual(decided(self.runs(EVA_200, "--threads", "1")), first)
        self.assertEqual(decided(self.runs(EVA_200, "--threads", "2")), first)
        self.assertEqual(decided(self.runs(EVA_200)), first)

    def test_another_seed_is_another_world_where_chance_has_a_part(self):
        arguments = (MULTI_TASK, "--set", "trials=2", "--set", "workload.synthetic.jobs=20",
                     "--policy", "eva")
        one = self.runs(*arguments, "--seed", "5")
        self.assertEqual([run["seed"] for run in one], [5, 6])
        self.assertNotEqual(one[0]["event_log_sha256"], one[1]["event_log_sha256"])
        self.assertNotEqual(one[0]["total_cost_usd"], one[1]["total_cost_usd"])
        again = self.runs(*arguments, "--seed", "5", "--threads", "1")
        self.assertEqual(decided(again), decided(one))
        other = self.runs(*arguments, "--seed", "6")
        self.assertEqual(other[0]["event_log_sha256"], one[1]["event_log_sha256"])

    def test_an_order_of_policies_decides_nothing(self):
        shas = [{run["policy"]: run["event_log_sha256"] for run in self.runs(
            EVA_200, "--policy", first, "--policy", second)}
            for first, second in (("eva", "no-packing"), ("no-packing", "eva"))]
        self.assertEqual(shas[0], shas[1])


class EventLog(MusterTest):
    def digest(self, name):
        with open(self.path(name), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def events(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def test_the_digest_is_that_of_the_file(self):
        run, = self.runs(EVA_200, "--policy", "eva", "--events", "eva.jsonl")
        self.assertEqual(os.listdir(self.folder), ["eva.jsonl"])
        self.assertEqual(self.digest("eva.jsonl"), run["event_log_sha256"])
        without, = self.runs(EVA_200, "--policy", "eva")
        self.assertEqual(without["event_log_sha256"], run["event_log_sha256"])

    def test_every_run_has_a_file_of_its_own(self):
        runs = self.runs(EVA_200, "--policy", "no-packing", "--policy", "eva,t=0.8", "--events",
                         "log.jsonl", "--set", "trials=2", "--set", "workload.max_jobs=20")
        self.assertEqual(len(runs), 4)
        names = {f"log.{run['policy']}.{run['seed']}.jsonl": run for run in runs}
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))
        for name, run in names.items():
            self.assertEqual(self.digest(name), run["event_log_sha256"])
            header = self.events(name)[0]
            self.assertEqual((header["policy"], header["seed"]), (run["policy"], run["seed"]))

    def test_the_same_policy_given_twice_makes_two_equal_runs_with_a_file_each(self):
        done = self.muster("replay", EVA_200, "--policy", "eva", "--policy", "eva", "--threads",
                           "1", "--events", "log.jsonl", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("eva is named 2 times", done.stderr)
        assert_golden(self, done.stderr)
        twice = json.loads(done.stdout)["runs"]
        self.assertEqual(len(twice), 2)
        self.assertEqual(twice[0]["event_log_sha256"], twice[1]["event_log_sha256"])
        names = os.listdir(self.folder)
        self.assertEqual(len(names), 2, names)
        for name in names:
            self.assertEqual(self.digest(name), twice[0]["event_log_sha256"])

    def test_the_instances_of_the_log_cost_what_the_run_says(self):
        run, = self.runs(EVA_200, "--policy", "eva", "--events", "eva.jsonl")
        price, up, cost = {}, {}, 0.0
        for event in self.events("eva.jsonl"):
            kind, instance = event.get("event"), event.get("instance")
            if kind == "launch_requested":
                self.assertNotIn(instance, price)
                price[instance] = event["price_usd_h"]
            elif kind == "instance_up":
                up[instance] = event["t"]
            elif kind == "instance_gone":
                cost += (event["t"] - up.pop(instance)) * price[instance] / 3600
        self.assertEqual(up, {})
        self.assertEqual(len(price), run["instances_launched"])
        self.assertAlmostEqual(cost, run["total_cost_usd"], places=4)

    def test_the_log_counts_what_the_run_says(self):
        run, = self.runs(EVA_200, "--policy", "eva", "--events", "eva.jsonl")
        header, *events = self.events("eva.jsonl")
        self.assertEqual(len(events), run["events"])
        kinds = [event["event"] for event in events]
        self.assertEqual(kinds.count("round_decided"), run["rounds"])
        self.assertEqual(kinds.count("job_finished"), run["jobs_completed"])
        self.assertEqual(len(header["types"]), 21)
        self.assertEqual([event["t"] for event in events],
                         sorted(event["t"] for event in events))
        moves = kinds.count("task_assigned") - run["jobs_submitted"]
        self.assertAlmostEqual(moves / run["jobs_submitted"], run["migrations_per_task"])


if __name__ == "__main__":
    unittest.main()
