"""check_words: which habits it finds, in which texts, and that there are never more of them."""

import os
import sys
import unittest

from fixture import CHECKS, check

sys.path.insert(0, CHECKS)
import plain_words


def habits(text):
    return [habit for habit, _ in plain_words.slips(text)]


class Habits(unittest.TestCase):
    def test_a_sentence_that_begins_with_its_clause(self):
        for text in ("What does not fit waits.", "It ends. Who asks waits.",
                     "busy; what waits stays", "by: whatever it costs", "**What it does.** No."):
            self.assertEqual(habits(text), ["subject"], text)
        for text in ("It does what it is told.", "Which jobs wait?", "What does it cost?",
                     "tasks, what they cost", "what_it_is"):
            self.assertEqual(habits(text), [], text)

    def test_a_number_without_a_name(self):
        for text in ("only the first so many jobs", "it lasts so long", "So often it is asked."):
            self.assertEqual(habits(text), ["amount"], text)
        for text in ("so long as it runs", "so many that they fill it", "a so-many-th"):
            self.assertEqual(habits(text), [], text)

    def test_the_same_without_a_noun(self):
        for text in ("the same for spot instances", "It is the same.", "does the same"):
            self.assertEqual(habits(text), ["same"], text)
        for text in ("the same job", "of the same type", "at the same time as it"):
            self.assertEqual(habits(text), [], text)

    def test_none_in_the_place_of_a_noun(self):
        for text in ("0: none", "none is kept", "Nobody waits for it."):
            self.assertEqual(habits(text), ["none"], text)
        for text in ("a job, or none", "none of the tasks", "caps = \"none\"", "`none`", "none: 3"):
            self.assertEqual(habits(text), [], text)


class Places(unittest.TestCase):
    def kinds(self, path, text):
        return [(kind, habit, line) for kind, habit, line, _ in plain_words.found_in(path, text)]

    def test_comments_and_literals_of_the_product(self):
        text = ("/// It ends.\n/// What waits stays.\nint a;  // who asks\n"
                "const char* b = \"what \"\n  \"waits\";\n")
        self.assertEqual(self.kinds("model/a.hpp", text),
                         [("docs", "subject", 1), ("comments", "subject", 3),
                          ("texts", "subject", 4)])

    def test_of_the_tests_comments_alone(self):
        text = "// who asks\nconst char* b = \"what waits\";\n"
        self.assertEqual(self.kinds("tests/model/a.cpp", text), [("comments", "subject", 1)])

    def test_lines_of_one_comment_are_one_text(self):
        self.assertEqual(self.kinds("model/a.hpp", "/// does the\n/// same job\n"), [])
        self.assertEqual(self.kinds("model/a.hpp", "/// does the\n/// same.\n"),
                         [("docs", "same", 1)])

    def test_single_words_are_names(self):
        self.assertEqual(self.kinds("model/a.cpp", 'f("what", "none");'), [])

    def test_pages_without_their_code(self):
        self.assertEqual(self.kinds("docs/a.md", "It is\nthe same.\n\n```\nnone\n```\n"),
                         [("pages", "same", 1)])
        self.assertEqual(self.kinds("docs/a.md", "| key | none | `none` |\n"), [])

    def test_headings_items_and_cells_begin_a_sentence(self):
        for text in ("What waits is shown.\n", "## What is lost\n", "- Whatever runs ends\n",
                     "1. Who waits is told\n", "> What is kept stays\n", "| a | What is b |\n"):
            for path in ("README.md", "docs/research/a.md", "tests/e2e/README.md"):
                self.assertEqual(self.kinds(path, text), [("pages", "subject", 1)], text)
        for text in ("What costs?\n", "| `a` | what it is |\n", "```\nWhat is it.\n```\n"):
            self.assertEqual(self.kinds("README.md", text), [], text)

    def test_numbers_of_expected_texts(self):
        path = "tests/golden/serve/a.txt"
        self.assertEqual(self.kinds(path, "A.b\n  - 1 requests wait\n"),
                         [("texts", "plural", 2)])
        self.assertEqual(self.kinds(path, "A.b\n  - 11 requests, 1 request, 0.1 seconds\n"), [])


class Limits(unittest.TestCase):
    def test_research_has_limits_of_its_own(self):
        self.assertEqual(plain_words.room_of("docs/research/a.md"), "docs/research")
        self.assertEqual(plain_words.room_of("docs/a.md"), "docs")

    def test_a_room_without_such_texts_gets_no_new_one(self):
        status, output = check("check_words", {"model/a.hpp": "int a;  ///< what it is\n"})
        self.assertEqual(status, 1)
        self.assertIn("model/a.hpp:1: subject: ", output)

    def test_the_numbers_that_are_left_only_shrink(self):
        files = {"model/a.hpp": "int a;  ///< what it is\n",
                 "tools/checks/plain_words.txt": "model docs subject 1\n"}
        self.assertEqual(check("check_words", files), (0, ""))
        files["model/b.hpp"] = "int b;  ///< what it is\n"
        status, output = check("check_words", files)
        self.assertEqual(status, 1)
        self.assertIn("1 are allowed", output)
        files["model/a.hpp"] = files["model/b.hpp"] = "int a;  ///< its size\n"
        status, output = check("check_words", files)
        self.assertEqual(status, 1)
        self.assertIn("run tools/checks/plain_words.py", output)


if __name__ == "__main__":
    unittest.main()
