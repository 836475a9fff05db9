"""muster explain: the stories of tasks and instances, from a log that muster replay wrote."""

import json
import unittest

from fixture import EVA_200, MusterTest


class Explain(MusterTest):
    def setUp(self):
        super().setUp()
        self.run_made, = self.runs(EVA_200, "--policy", "eva", "--events", "eva.jsonl")

    def explain(self, *about):
        return self.succeed("explain", "--events", "eva.jsonl", *about)

    def events(self):
        return [json.loads(line) for line in self.read("eva.jsonl").splitlines()[1:]]

    def story(self, *about):
        story = json.loads(self.explain(*about, "--json", "-"))
        self.assertIn("title", story)
        for line in story["lines"]:
            self.assertLessEqual({"t_s", "time", "what", "text"}, set(line))
        return story

    def test_the_story_of_a_task_has_its_moves_with_cause_and_gain(self):
        assigned = [event for event in self.events()
                    if event["event"] == "task_assigned" and event["task"] == 17]
        self.assertGreater(len(assigned), 1)
        text = self.explain("--task", "17")
        self.assertTrue(text.startswith("task 17 "), text)
        moves = [line for line in self.story("--task", "17")["lines"]
                 if line["what"] in ("placed", "moved")]
        self.assertEqual([move["to"] for move in moves], [event["to"] for event in assigned])
        for move, event in zip(moves, assigned):
            self.assertEqual((move["t_s"], move["cause"], move["gain_usd_h"]),
                             (event["t"], event["cause"]["code"], event["cause"]["gain_usd_h"]))
            self.assertIn(move["text"], text)
            self.assertIn(move["cause"], move["text"])
        end = self.story("--task", "17")["lines"][-1]
        self.assertEqual((end["what"], end["outcome"]), ("job over", "completed"))
        self.assertIn(end["text"], text)

    def test_a_refusal_is_told_with_what_was_asked_and_available(self):
        refused = next(event for event in self.events() if event["event"] == "task_refused")
        text = self.explain("--task", str(refused["task"]))
        refusal = refused["refusal"]
        for words in (refusal["kind"], refusal["binding"], f"asked {refusal['asked']}",
                      f"available {refusal['available']}"):
            self.assertIn(words, text)

    def test_the_story_of_an_instance_runs_from_its_launch_to_its_end(self):
        story = self.story("--instance", "3")
        self.assertEqual(story["lines"][0]["what"], "launched")
        self.assertGreater(story["lines"][0]["price_usd_h"], 0)
        text = self.explain("--instance", "3")
        self.assertTrue(text.startswith("instance 3 "), text)
        for line in story["lines"]:
            self.assertIn(line["text"], text)
        gone = next(event for event in self.events()
                    if event["event"] == "instance_gone" and event["instance"] == 3)
        self.assertEqual(story["lines"][-1]["t_s"], gone["t"])
        self.assertEqual(story["lines"][-1]["what"], "gone")

    def test_json_in_a_file_comes_with_the_text(self):
        text = self.explain("--task", "17", "--json", "story.json")
        self.assertEqual(text, self.explain("--task", "17"))
        self.assertEqual(json.loads(self.read("story.json")), self.story("--task", "17"))

    def test_an_unknown_id_is_answered_with_the_known_ones(self):
        self.assert_refused(1, ["no task 999", "from 0 to 199"],
                            "explain", "--events", "eva.jsonl", "--task", "999")
        last = self.run_made["instances_launched"] - 1
        self.assert_refused(1, ["no instance 9999", f"from 0 to {last}"],
                            "explain", "--events", "eva.jsonl", "--instance", "9999")

    def test_it_is_about_one_of_the_two(self):
        words = ["--task", "--instance"]
        self.assert_refused(2, words, "explain", "--events", "eva.jsonl")
        self.assert_refused(2, words, "explain", "--events", "eva.jsonl", "--task", "1",
                            "--instance", "1")
        self.assert_refused(2, ["--events"], "explain", "--task", "1")
        self.assert_refused(2, ["--task"], "explain", "--events", "eva.jsonl", "--task", "one")

    def test_a_log_that_is_none_is_refused_with_its_line(self):
        lines = self.read("eva.jsonl").splitlines(keepends=True)
        logs = {
            "cut.jsonl": ("".join(lines[:9]) + lines[9][:20], "cut.jsonl:10: "),
            "empty.jsonl": ("", "empty.jsonl:1: "),
            "headless.jsonl": ("".join(lines[1:]), "headless.jsonl:1: "),
            "other.jsonl": ("what is this?\n", "other.jsonl:1: "),
        }
        for name, (text, words) in logs.items():
            with self.subTest(log=name):
                self.write(name, text)
                self.assert_refused(1, [words], "explain", "--events", name, "--task", "1")
        self.assert_refused(1, ["absent.jsonl"], "explain", "--events", "absent.jsonl", "--task",
                            "1")


if __name__ == "__main__":
    unittest.main()
