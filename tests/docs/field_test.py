"""docs/add-a-field.md names every file in which a field of a job stands that a user sets and sees.

The page's example, a note, is not in the tree. `done_on_stop` is: so each file that declares,
reads, keeps or compares it has to be on the page, and the page's code to be where its blocks say.
The test add_a_field compiles and runs the page's code."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/add-a-field.md").read_text(encoding="utf-8")
# Masters and workers make use of a field; the others only have it.
ROOMS = ("actors", "config", "learning", "model", "schedulers", "serve", "storage", "tools")


class FieldPage(unittest.TestCase):
    def test_every_place_of_a_field_is_named(self):
        for room in ROOMS:
            for path in sorted((ROOT / room).rglob("*.*")):
                if path.suffix not in (".cpp", ".hpp", ".json", ".js", ".capnp"):
                    continue
                if re.search(r"done_on_stop|doneOnStop", path.read_text(encoding="utf-8")):
                    with self.subTest(path=str(path.relative_to(ROOT))):
                        self.assertIn(path.name, PAGE)

    def test_seven_files_take_a_field(self):
        blocks = re.findall(r"^ *```\w+\n *(?://|#) ([\w/.]+), ", PAGE, re.MULTILINE)
        self.assertEqual(len(set(blocks)), 7, "a field that a user sets and sees takes seven files")
        for path in blocks:
            with self.subTest(path=path):
                self.assertRegex((ROOT / path).read_text(encoding="utf-8"), r"\bretries\b")


if __name__ == "__main__":
    unittest.main()
