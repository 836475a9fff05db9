"""tools/site, on small trees: which pages the site has, and what is found wrong with it."""

import os
import sys
import tempfile
import unittest

from fixture import write

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools")
sys.path += [os.path.join(TOOLS, "checks"), os.path.join(TOOLS, "site")]
import flags
import pages
import sequence
import verify


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.target = f"{folder.name}/root", f"{folder.name}/site"

    def gather(self, files):
        write(self.root, files)
        return pages.gather(self.root, self.target)

    def text_of(self, path):
        with open(os.path.join(self.target, path), encoding="utf-8") as file:
            return file.read()

    def test_links_between_pages_stay(self):
        text = "[a](docs/a.md#b) [c](https://example.org)\n```\n[d](e)\n```\n"
        self.assertEqual(self.gather({"README.md": text, "docs/a.md": "# b\n"}), [])
        self.assertEqual(self.text_of("README.md"), text)

    def test_a_linked_file_comes_along_and_a_folder_is_shown_by_its_readme(self):
        self.gather({"README.md": "[a](x/job.toml) [b](x) [c](y)\n", "x/job.toml": "a = 1\n",
                     "x/README.md": "x\n", "y/z.txt": ""})
        self.assertEqual(self.text_of("README.md"), "[a](x/job.toml) [b](x/README.md) c\n")
        self.assertEqual(self.text_of("x/job.toml"), "a = 1\n")

    def test_a_sequence_diagram_becomes_a_picture(self):
        self.gather({"README.md": "```mermaid\nsequenceDiagram\n participant A as Ann\n"
                                  " Note over A: <waits>\n```\n"})
        self.assertRegex(self.text_of("README.md"), r"^!\[.*\]\(README-1\.svg\)\n$")
        self.assertIn("&lt;waits&gt;", self.text_of("README-1.svg"))

    def test_a_list_needs_an_empty_line_before_it(self):
        self.assertEqual(len(self.gather({"README.md": "words\n- one\n"})), 1)
        self.assertEqual(self.gather({"README.md": "words\n\n- one\n  more\n- two\n"}), [])

    def test_a_page_outside_the_navigation_is_named(self):
        self.gather({"README.md": "a\n", "docs/b.md": "b\n"})
        write(self.root, {"mkdocs.yml": "nav:\n  - A page: README.md\n"})
        problems = pages.left_out(self.target, f"{self.root}/mkdocs.yml")
        self.assertEqual([problem.split(":")[0] for problem in problems], ["docs/b.md"])


class Drawing(unittest.TestCase):
    def test_an_unknown_line_is_an_error(self):
        with self.assertRaises(ValueError):
            sequence.drawing("sequenceDiagram\nparticipant A as Ann\nloop forever\n")


class Known:
    """Help texts of two commands."""

    def of(self, words):
        texts = {"up": "  --caps TEXT", "submit": "  --cpus N"}
        first = words.split(" ")[0]
        return (first, texts[first]) if first in texts else None


class Flags(unittest.TestCase):
    def problems(self, text):
        return flags.problems_of("a.md", text, Known())

    def test_calls_that_the_command_knows_are_fine(self):
        for text in ("`muster up --caps none`\n", "`muster submit train.sh --epochs 3`\n",
                     "```\n$ muster submit --cpus 2 -- make --jobs 4\n```\n",
                     "muster is --what\n"):
            with self.subTest(text=text):
                self.assertEqual(self.problems(text), [])

    def test_unknown_flags_and_commands_are_named(self):
        for text in ("`muster up --cap none`\n", "    muster submit \\\n        --caps 2\n",
                     "```\nmuster upp\n```\n"):
            with self.subTest(text=text):
                self.assertEqual(len(self.problems(text)), 1)


class Verify(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as site:
            write(site, files)
            return verify.problems_of(site)

    def test_a_site_whose_links_lead_somewhere_is_fine(self):
        self.assertEqual(self.problems({"index.html": '<a href="b.html#x">b</a><a href="#y">y</a>'
                                                      '<p id="y"><a href="https://example.org">',
                                        "b.html": '<h1 id="x">'}), [])

    def test_broken_links_are_named(self):
        broken = self.problems({"a.html": '<a href="b.html">b</a><a href="#z">z</a>'})
        self.assertEqual([problem.split()[:4] for problem in broken],
                         [["a.html:", "the", "link", place] for place in ("#z", "b.html")])

    def test_nothing_is_loaded_from_another_host(self):
        for text in ('<script src="https://cdn.example/x.js">', '<img src="//cdn.example/x.png">',
                     '<link rel="preconnect" href="https://fonts.example">',
                     '<pre class="mermaid">'):
            with self.subTest(text=text):
                self.assertEqual(len(self.problems({"a.html": text})), 1)
        self.assertEqual(len(self.problems({"a.css": "a { background: url(https://x/y) }"})), 1)


if __name__ == "__main__":
    unittest.main()
