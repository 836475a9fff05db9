"""The figures on the pages that people read first are those that their commands print."""

import os
import re
import shlex
import tempfile
import unittest

from fixture import MusterTest
from page_blocks import ROOT, blocks

# These columns say how long the machine took, which is another time on each.
OF_THE_MACHINE = ("decision", "wall")
NIGHTLY = os.environ.get("MUSTER_NIGHTLY") == "1"


def table(text):
    """{policy: its cells} of a table of runs, which may be cut into tables below each other."""
    rows = {}
    for part in text.split("\n\n"):
        lines = part.strip("\n").split("\n")
        if lines[0].startswith("policy "):
            for line in lines[2:]:
                name, *cells = line.split()
                rows.setdefault(name, []).extend(cells)
    return rows


def headings(text):
    line = next(line for line in text.split("\n") if line.startswith("policy "))
    return re.split(r"\s{2,}", line.strip())[1:]


class Documented(MusterTest):
    def compare(self, shown, printed):
        names = headings(printed)
        rows = table(printed)
        self.assertGreater(len(table(shown)), 1, shown)
        for policy, cells in table(shown).items():
            for name, cell, now in zip(names, cells, rows[policy]):
                if name not in OF_THE_MACHINE:
                    self.assertEqual(cell, now, f"{policy}, {name}")

    @staticmethod
    def words_of(command):
        words = shlex.split(command.replace("\\\n", ""))
        return [str(ROOT / word) if word.startswith("config/") else word for word in words[1:]]

    def replay(self, command):
        return self.succeed(*self.words_of(command))

    def after_command(self, page, begins):
        """(command, the block after it) of the page's command that begins so."""
        found = blocks(page)
        for at, block in enumerate(found):
            if block.startswith(begins):
                return block, found[at + 1]
        self.fail(f"{page} has no command that begins with {begins}")

    def test_the_table_of_the_first_replay(self):
        shown = next(block for block in blocks("README.md") if "policy " in block)
        self.compare(shown, self.replay("muster replay config/replay/eva-200.toml"))

    def test_policies_beside_each_other(self):
        shown = next(block for block in blocks("docs/replays.md") if "eva,t=0.8  " in block)
        variants = ["no-packing", "eva", "eva,t=0.8", "muster", "muster,patient=false"]
        self.compare(shown, self.replay("muster replay config/replay/eva-200.toml"
                                        + "".join(f" --policy {each}" for each in variants)))

    def test_the_shipped_series_of_prices_is_as_described(self):
        command, shown = blocks("config/prices/README.md")[0].split("\n", 1)
        self.assertEqual(self.succeed(*command.removeprefix("$ muster ").split()), shown)
        self.assertIn("60/60", self.replay("muster replay config/replay/moving-prices.toml"))

    def test_a_fleet_of_ones_own(self):
        command, shown = self.after_command("docs/replays.md", "muster replay config/replay/yahoo")
        self.compare(shown, self.replay(command))

    def test_why_a_task_is_where_it_is(self):
        begins = "muster replay config/replay/eva-200.toml --policy eva"
        commands, shown = self.after_command("docs/replays.md", begins)
        with tempfile.TemporaryDirectory() as folder:
            log = f"{folder}/eva.jsonl"
            replay, explain, _ = commands.replace("eva.jsonl", log).strip().split("\n")
            self.replay(replay)
            self.assertEqual(self.replay(explain), shown)

    def test_the_table_of_an_experiment(self):
        command, shown = self.after_command("docs/experiments.md", "muster experiment config/")
        done = self.muster(*self.words_of(command))  # its progress is told on standard error
        self.assertEqual(done.returncode, 0, done.stderr)
        self.compare(shown, done.stdout)

    @unittest.skipUnless(NIGHTLY, "MUSTER_NIGHTLY=1 runs the replays of whole traces")
    def test_the_table_of_a_whole_trace(self):
        command, shown = self.after_command("docs/research/appendix/system.md",
                                            "muster replay config/replay/eva-gavel.toml")
        self.compare(shown, self.replay(command))


if __name__ == "__main__":
    unittest.main()
