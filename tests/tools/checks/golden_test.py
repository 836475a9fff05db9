"""The texts of tests/golden: golden.py, and regenerate run on small trees."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

# What is tested here reads this: a test that regenerate itself runs must not pass it on.
os.environ.pop("MUSTER_GOLDEN_OUT", None)
from fixture import TESTS, write
import golden

PORT_TEST = """
import sys, unittest
sys.path.insert(0, "../support")
from golden import assert_golden

class Port(unittest.TestCase):
    def test_is_a_number(self):
        assert_golden(self, "jobs.csv:3: port: is 'x'", at="port")
        for port in (0, 65536):
            with self.subTest(port=port):
                assert_golden(self, f"{port} is\\n\\nno port\\n")

    def test_may_fail(self):
        self.assertTrue(FINE)
"""
TEXTS = golden.HEAD + """
Port.test_is_a_number
  - jobs.csv:3: port: is 'x'
  - 0 is

    no port\\n
  - 65536 is

    no port\\n
"""


class Form(unittest.TestCase):
    def test_no_byte_is_lost_and_those_that_cannot_be_seen_are_shown(self):
        for text, form in {"a\tb\r\n\\n \nc ": "a\\tb\\r\n\\\\n\\x20\nc\\x20",
                           "\n\na\n\nb\n": "\\n\\na\n\nb\\n", "\n\n": "\\n\\n",
                           "\0\x1b[1m": "\\x00\\x1b[1m", "5 µs": "5 µs", "": "\\empty"}.items():
            with self.subTest(text=text):
                self.assertEqual(golden.form(text), form)

    def test_a_file_is_read_as_it_was_written(self):
        tests = {"B.b": ["one", "- two\n\n  three\\n", "\\empty"], "A.a": ["# four"]}
        with tempfile.TemporaryDirectory(prefix="muster-golden-") as folder:
            path = os.path.join(folder, "room/texts.txt")
            golden.write(path, tests)
            self.assertEqual(golden.read(path), tests)
            golden.write(path, {"A.a": []})
            self.assertFalse(os.path.exists(path))


class Regenerate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-golden-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for name in ("golden/regenerate", "support/golden.py"):
            os.makedirs(os.path.join(self.root, "tests", os.path.dirname(name)))
            shutil.copy(os.path.join(TESTS, name), os.path.join(self.root, "tests", name))
        self.write_test("e2e", "e2e/port")

    def write_test(self, folder, name):
        """The test of ports in this folder of tests/, which ctest knows as NAME."""
        support = "../" * (folder.count("/") + 1) + "support"
        write(self.root, {
            f"tests/{folder}/port_test.py": PORT_TEST.replace("../support", support)
                                                     .replace("FINE", "True"),
            "build/CTestTestfile.cmake": f'add_test("{name}" "{sys.executable}" "-B" "-m" '
                                         f'"unittest" "port_test")\nset_tests_properties("{name}" '
                                         f'PROPERTIES WORKING_DIRECTORY '
                                         f'"{self.root}/tests/{folder}")\n'})

    def read(self, name):
        path = os.path.join(self.root, "tests/golden", name)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()

    def run_tests(self):
        done = subprocess.run([sys.executable, "-B", "-m", "unittest", "port_test"],
                              cwd=os.path.join(self.root, "tests/e2e"), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def regenerate(self, *arguments):
        return subprocess.run([os.path.join(self.root, "tests/golden/regenerate"), "--build",
                               os.path.join(self.root, "build"), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False).returncode

    def test_a_test_run_fails_without_a_text_and_writes_none(self):
        status, output = self.run_tests()
        self.assertEqual(status, 1)
        self.assertIn("no text 1 of Port.test_is_a_number in tests/golden/e2e/port.txt", output)
        self.assertIn("tests/golden/regenerate e2e/port", output)
        self.assertIsNone(self.read("e2e/port.txt"))

    def test_the_command_writes_the_texts_and_then_the_tests_pass(self):
        self.assertEqual(self.regenerate(), 0)
        self.assertEqual(self.read("e2e/port.txt"), TEXTS)
        self.assertEqual(self.run_tests()[0], 0)

    def test_the_command_finds_the_tests_of_the_checks_among_those_of_the_house(self):
        self.write_test("tools/checks", "house/port_test")
        self.assertEqual(self.regenerate("tools/checks"), 0)
        self.assertEqual(self.read("tools/checks/port.txt"), TEXTS)

    def test_a_test_that_asks_in_a_tree_of_its_own_has_no_texts(self):
        write(self.root, {"tests/e2e/port_test.py":
                          f"TEXT = {PORT_TEST!r}\nimport unittest\n"
                          "class Port(unittest.TestCase):\n    def test_fine(self): pass\n"})
        self.assertEqual(self.regenerate(), 0)
        self.assertIsNone(self.read("e2e/port.txt"))

    def test_a_text_that_changed_or_that_nobody_asks_for_fails(self):
        for texts, said in ((TEXTS.replace("0 is", "0 was"), "0 was"),
                            (TEXTS + "  - one more\n", "asked for 3 texts, and has 4")):
            with self.subTest(said=said):
                write(self.root, {"tests/golden/e2e/port.txt": texts})
                status, output = self.run_tests()
                self.assertEqual(status, 1)
                self.assertIn(said, output)
                self.assertEqual(self.read("e2e/port.txt"), texts)

    def test_texts_of_tests_that_are_gone_go_away(self):
        write(self.root, {"tests/golden/e2e/port.txt": TEXTS + "\nPort.test_gone\n  - gone\n",
                          "tests/golden/e2e/gone.txt": TEXTS})
        self.assertEqual(self.regenerate("e2e/port"), 0)
        self.assertEqual(self.read("e2e/port.txt"), TEXTS)
        self.assertEqual(self.read("e2e/gone.txt"), TEXTS)
        self.assertEqual(self.regenerate(), 0)
        self.assertIsNone(self.read("e2e/gone.txt"))

    def test_a_file_with_a_test_that_fails_stays_as_it_is(self):
        write(self.root, {"tests/golden/e2e/port.txt": "old\n",
                          "tests/e2e/port_test.py": PORT_TEST.replace("FINE", "False")})
        self.assertEqual(self.regenerate(), 1)
        self.assertEqual(self.read("e2e/port.txt"), "old\n")


if __name__ == "__main__":
    unittest.main()
