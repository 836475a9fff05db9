"""--json is one option of all commands: without a file the document goes to the standard output."""

import json
import os
import re
import shutil
import unittest

import pareto_test
from fixture import EVA_200, SOURCE, MusterTest
from train_test import SMALL, history

FEW = ("--set", "workload.max_jobs=5")
# Commands that take "--json [FILE]", each called so that it has something to say.
CALLS = {
    "replay": (EVA_200, *FEW, "--policy", "no-packing"),
    "bound": (EVA_200, *FEW),
    "experiment": ("study.toml", *FEW),
    "pareto": ("training.toml", "--budgets", "40"),
    "budget": ("training.toml", "--jct", "1h"),
    "train": ("--history", "history.csv", "--out", "model", *SMALL),
    "predict": ("--history", "history.csv"),
    "policies": (),
    "config-keys": (),
    "api": (),
    "explain": ("--events", "events.jsonl", "--task", "1"),
    "store check": ("store",),
}
# It makes a folder that must not be there before.
SALVAGE = ("store salvage", "store", "--to")


def names_below(text):
    """Of the subcommands that a --help lists."""
    listed = text.partition("\nSubcommands:\n")[2]
    return re.findall(r"^  ([a-z-]+)(?: |$)", listed, re.MULTILINE)


class JsonOption(MusterTest):
    def setUp(self):
        super().setUp()
        pareto_test.Pareto.training(self)
        self.write("history.csv", history(300))
        self.write("study.toml", f"[[grid]]\nconfig = {json.dumps(EVA_200)}\n"
                                 'policy = ["no-packing"]\nseeds = "1"\n')
        shutil.copytree(os.path.join(SOURCE, "tests/data/store-1/n2/master"), self.path("store"))
        self.succeed("replay", *CALLS["replay"], "--events", "events.jsonl")

    def printed(self, name, *arguments):
        """The command may tell of its progress on standard error."""
        done = self.muster(*name.split(), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def forms(self, *command):
        """{command: what its --help says of --json} of the command and those below it."""
        text = self.succeed(*command, "--help")
        found = re.search(r"^  --json(?: (\[FILE\]))?(?:  |$)", text, re.MULTILINE)
        forms = {" ".join(command): found[1]} if found else {}
        for name in names_below(text):
            forms.update(self.forms(*command, name))
        return forms

    def test_every_command_has_it_as_a_flag_or_with_a_file_that_may_be_left_out(self):
        forms = self.forms()
        self.assertEqual({name for name, value in forms.items() if value},
                         {*CALLS, SALVAGE[0]})
        self.assertLess({"jobs", "job", "submit", "nodes", "up", "token list", "store dump"},
                        {name for name, value in forms.items() if not value})

    def test_the_document_is_one_wherever_it_goes(self):
        for name, call in CALLS.items():
            with self.subTest(command=name):
                document = json.loads(self.printed(name, *call, "--json"))
                self.assertEqual(json.loads(self.printed(name, *call, "--json", "-")).keys(),
                                 document.keys())
                self.assertIn("\n", self.printed(name, *call, "--json", "out.json"))
                self.assertEqual(json.loads(self.read("out.json")).keys(), document.keys())

    def test_that_of_a_salvage_is_one_wherever_it_goes(self):
        document = json.loads(self.printed(*SALVAGE, "new", "--json"))
        self.assertEqual(json.loads(self.printed(*SALVAGE, "other", "--json", "-")), document)
        self.assertIn("\n", self.printed(*SALVAGE, "third", "--json", "out.json"))
        self.assertEqual(json.loads(self.read("out.json")), document)

    def test_a_word_that_an_argument_needs_is_not_its_file(self):
        document = json.loads(self.printed("replay", *FEW, "--policy", "eva", "--json", EVA_200))
        self.assertEqual(len(document["runs"]), 1)
        self.assertIn("problems", json.loads(self.printed("store check", "--json", "store")))
        # But for how long the decisions took.
        figures = re.compile(r" *\d+\.\d+ *")
        self.assertEqual(
            figures.sub(" N ", self.printed("replay", *FEW, "--json", "out.json", EVA_200)),
            figures.sub(" N ", self.printed("replay", *FEW, EVA_200)))


if __name__ == "__main__":
    unittest.main()
