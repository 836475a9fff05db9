"""muster predict: scores the ways to predict run times, each as it would have predicted live."""

import json
import unittest

from fixture import COLUMNS, MusterTest, assert_golden, line_with

HINTED = COLUMNS.rstrip("\n") + ",runtime_hint_s\n"


def history(count, hint):
    """Two users a minute apart; the first's jobs run for 30 s, the second's for 900 s."""
    rows = []
    for i in range(count):
        duration = 900 if i % 2 else 30
        rows.append(f"{i},{60 * i},{'bob' if i % 2 else 'ann'},job-{i},1,0,1,4,{duration},c,"
                    f"{hint(duration)}\n")
    return HINTED + "".join(rows)


class Predict(MusterTest):
    def scores(self, *arguments):
        report = json.loads(self.succeed("predict", "--history", "history.csv", *arguments,
                                         "--json", "-"))
        return {source["by"]: source for source in report["sources"]}

    def test_each_way_is_scored_on_what_came_after_the_warm_up(self):
        self.write("history.csv", history(200, lambda duration: 3 * duration))
        scores = self.scores("--warm-up", "0.2")
        self.assertEqual({score["jobs"] for score in scores.values()}, {160})
        self.assertEqual(scores["log-ratio"]["within_double"], 1, "each user runs one thing")
        self.assertEqual(scores["log-ratio"]["nmae"], 0)
        self.assertEqual(scores["hint"]["within_double"], 0, "users say thrice as much")
        self.assertAlmostEqual(scores["hint"]["nmae"], 2)
        self.assertEqual(scores["log-ratio"]["users"], 2)

    def test_only_the_first_jobs_are_taken_where_a_number_is_said(self):
        self.write("history.csv", history(200, lambda duration: duration))
        for most, scored in (("0", 200), ("50", 50), ("300", 200)):
            scores = self.scores("--warm-up", "0", "--max-jobs", most)
            self.assertEqual({score["jobs"] for score in scores.values()}, {scored}, most)

    def test_where_the_truth_is_stated_it_is_not_learnt_from(self):
        self.write("history.csv", history(100, lambda duration: duration))
        text = self.succeed("predict", "--history", "history.csv")
        assert_golden(self, line_with(text, "learnt from"))
        self.assertIn("log-ratio", text)

    def test_ratios_are_a_table_of_how_far_it_was_off(self):
        self.write("history.csv", history(200, lambda duration: 3 * duration))
        self.succeed("predict", "--history", "history.csv", "--ratios", "ratios.csv")
        lines = self.read("ratios.csv").split()
        self.assertEqual(lines[0], "actual_over_predicted")
        self.assertEqual(set(lines[1:]), {"1"})

    def test_bad_input_is_named(self):
        self.write("history.csv", history(20, lambda duration: duration))
        for status, word, arguments in (
                (2, "--threshold", ("--threshold", "soon")), (2, "--warm-up", ("--warm-up", "2")),
                (1, "history.csv/ratios", ("--ratios", "history.csv/ratios"))):
            self.assert_refused(status, [word], "predict", "--history", "history.csv", *arguments)
        self.assert_refused(1, ["none.csv"], "predict", "--history", "none.csv")


if __name__ == "__main__":
    unittest.main()
