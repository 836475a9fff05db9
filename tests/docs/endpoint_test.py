"""docs/add-an-endpoint.md names every file in which an endpoint of its kind stands.

The page's example, /v1/offers, is not in the tree. /v1/decisions is: a view that masters give. So
each file that speaks of it by one of its names has to be on the page, and its code to be where the
page's blocks say. The test add_an_endpoint compiles and runs the page's code."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/add-an-endpoint.md").read_text(encoding="utf-8")
ROOMS = ("model", "actors", "masters", "serve", "tools", "tests/serve", "tests/support")
NAMES = re.compile(r"DecisionsView|decisions_atom|Operation::decisions|merge::decisions"
                   r'|"Decisions"|/v1/decisions')


class EndpointPage(unittest.TestCase):
    def test_every_place_of_an_endpoint_is_named(self):
        for room in ROOMS:
            for path in sorted((ROOT / room).rglob("*.*")):
                if path.suffix not in (".cpp", ".hpp", ".json", ".js"):
                    continue
                if NAMES.search(path.read_text(encoding="utf-8")):
                    with self.subTest(path=str(path.relative_to(ROOT))):
                        self.assertTrue(path.name in PAGE)

    def test_each_block_names_a_file_in_which_the_endpoint_stands(self):
        blocks = re.findall(r"^ *```cpp\n *// ([\w/.]+), ", PAGE, re.MULTILINE)
        self.assertEqual(len(set(blocks)), 8, "an endpoint with a view takes eight files")
        for path in blocks:
            with self.subTest(path=path):
                text = (ROOT / path).read_text(encoding="utf-8")
                self.assertRegex(text, r"[dD]eci(sion|ded)")


if __name__ == "__main__":
    unittest.main()
