"""wordings.py: what counts as an assertion on wording, and that there are never more of them."""

import os
import sys
import unittest

from fixture import CHECKS, check

sys.path.insert(0, CHECKS)
import wordings

SAID = '"has to be a number"'


class Counting(unittest.TestCase):
    def assert_counts(self, count, text, path="tests/config/a_test.cpp"):
        self.assertEqual(len(wordings.wordings(path, text)), count, text)

    def test_sentences_that_are_expected_count(self):
        for text in (f"EXPECT_EQ(error.message, {SAID});",
                     f"ASSERT_THAT(error(R\"(x)\"), HasSubstr({SAID}));",
                     f"EXPECT_THAT(errors, ElementsAre(AllOf(StartsWith({SAID}), _), \"a\"));",
                     'EXPECT_EQ(error,\n  "p.csv:3: size: has to "\n  "be a number");',
                     f"EXPECT_TRUE(error.find({SAID}) != npos);",
                     f"EXPECT_EQ(errors, std::vector<std::string>{{{SAID}}});"):
            self.assert_counts(1, text)
        self.assert_counts(2, f"EXPECT_EQ(a, {SAID});\nEXPECT_EQ(b, {SAID});\n")

    def test_values_inputs_and_explanations_do_not(self):
        for text in (f"EXPECT_EQ(parse({SAID}), Error::malformed);",
                     f"EXPECT_THAT(parse({SAID}), IsGoldenAt(\"p.csv:3: size\"));",
                     f"EXPECT_EQ(size, 3) << {SAID};", f"EXPECT_TRUE(parse({SAID}));",
                     'EXPECT_EQ(name, "from 1 to 8");', f"const char* kSaid = {SAID};"):
            self.assert_counts(0, text)

    def test_python_counts_alike(self):
        path = "tests/e2e/a_test.py"
        self.assert_counts(1, f"self.assertIn({SAID}, done.stderr)\n", path)
        self.assert_counts(1, f"self.assert_refused(2, ['a', {SAID}], 'replay')\n", path)
        self.assert_counts(0, f"assert_golden(self, done.stderr, at='a')\nx = {SAID}\n", path)
        self.assert_counts(0, f"self.assertTrue(done, msg={SAID})\n", path)
        self.assert_counts(0, f"self.assertEqual(done, 3, {SAID})\n", path)
        self.assert_counts(0, f"self.assertFalse(done, {SAID})\n", path)
        self.assert_counts(1, f"self.assertTrue({SAID} in done.stderr)\n", path)

    def test_only_tests_count(self):
        self.assert_counts(0, f"EXPECT_EQ(error, {SAID});", "config/a_test.cpp")


class Orphans(unittest.TestCase):
    def test_a_text_without_its_test_is_named(self):
        files = {"tests/config/a_test.cpp": "TEST(A, Is) {}\nTEST_P(B,\n       Has) {}\n",
                 "tests/e2e/b_test.py": "def test_c():\n    pass\n",
                 "tests/golden/config/a.txt": "# T\n\nA.Is\n  - x\n\nAll/B.Has/1\n  - y\n",
                 "tests/golden/e2e/b.txt": "C.test_c\n  - z\n"}
        self.assertEqual(check("tidy", files), (0, ""))
        files["tests/golden/config/a.txt"] += "\nA.Was\n  - z\n"
        files["tests/golden/config/gone.txt"] = "A.Is\n  - x\n"
        status, output = check("tidy", files)
        self.assertEqual(status, 1)
        self.assertIn("tests/golden/config/a.txt:9: no test A.Was", output)
        self.assertIn("tests/golden/config/gone.txt:1: no test A.Is", output)


class Limits(unittest.TestCase):
    def assert_tidy(self, allowed, count, *words):
        lines = "".join(f"EXPECT_EQ(e{i}, {SAID});\n" for i in range(count))
        status, output = check("tidy", {"tools/checks/wordings.txt": allowed,
                                        "tests/config/a_test.cpp": lines})
        self.assertEqual(status, 1 if words else 0, output)
        for word in words:
            self.assertIn(word, output)

    def test_no_more_than_stand_in_the_list(self):
        self.assert_tidy("config 2\n", 2)
        self.assert_tidy("config 2\n", 3, "tests/config has 3 assertions on wording, 2 are allowed")
        self.assert_tidy("", 1, "tests/config has 1 assertions on wording, 0 are allowed")

    def test_a_list_that_allows_more_than_there_are_is_lowered(self):
        self.assert_tidy("config 3\n", 2, "2 assertions", "3 are allowed", "wordings.py")


if __name__ == "__main__":
    unittest.main()
