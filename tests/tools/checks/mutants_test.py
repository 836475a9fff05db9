"""What tools/checks/mutants changes, and that it puts back what it changed."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

from fixture import CHECKS, write

sys.path.insert(0, CHECKS)
LOADER = importlib.machinery.SourceFileLoader("mutants", os.path.join(CHECKS, "mutants"))
SPEC = importlib.util.spec_from_loader("mutants", LOADER)
mutants = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(mutants)

LIMITS = """namespace muster {
// a < b stays, as a comment does
bool over(int used, int limit) {
  if (used < 0) return false;
  log("used < limit");
  return used >= limit && limit != 0;
}
}  // namespace muster
"""


class Mutants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-mutants-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        write(self.root, {"model/limits.cpp": LIMITS, "model/limits.hpp": "bool over(int a = 1);\n",
                          "tests/model/CMakeLists.txt": "muster_test(\n  model SOURCES a.cpp)\n"})

    def test_code_in_functions_is_changed_and_comments_and_literals_are_not(self):
        found = {(number + 1, changed.strip())
                 for _, number, changed in mutants.candidates(self.root, "model")}
        self.assertEqual(found, {
            (4, "if (used <= 0) return false;"), (4, "if (used < 0) return true;"),
            (4, "if (used < 1) return false;"), (4, "if (!(used < 0)) return false;"), (5, ";"),
            (6, "return used > limit && limit != 0;"), (6, "return used >= limit || limit != 0;"),
            (6, "return used >= limit && limit == 0;"),
            (6, "return used >= limit && limit != 1;")})

    def test_a_room_without_programs_has_those_of_the_folder_above(self):
        self.assertEqual(mutants.test_programs(self.root, "model/deep"), ["model"])
        with self.assertRaises(SystemExit):
            mutants.test_programs(self.root, "nowhere")

    def test_a_room_has_those_of_the_folder_above_that_try_its_sources(self):
        write(self.root, {"tests/model/CMakeLists.txt":
                          "muster_test(model SOURCES a.cpp)\n"
                          "muster_test(\n  deep SOURCES b.cpp deep/c.cpp)\n"
                          "muster_test(deeper SOURCES deeper/c.cpp)\n"})
        self.assertEqual(mutants.test_programs(self.root, "model/deep"), ["deep"])
        self.assertEqual(mutants.test_programs(self.root, "model"), ["model", "deep", "deeper"])
        self.assertEqual(mutants.test_programs(self.root, "model/other"),
                         ["model", "deep", "deeper"])

    def test_a_line_is_put_back_whatever_became_of_it(self):
        for builds, passes, verdict in ((False, None, None), (True, True, "unnoticed"),
                                        (True, False, "noticed"), (True, None, "noticed")):
            with self.subTest(builds=builds, passes=passes):
                trials = mutants.Trials(self.root, "build", ["model"], "")
                seen = []
                trials.build = lambda _: seen.append(self.read()) or builds
                trials.test = lambda _: passes
                self.assertEqual(trials.verdict("model/limits.cpp", 3, "  // nothing"), verdict)
                self.assertIn("// nothing", seen[0])
                self.assertEqual(self.read(), LIMITS)

    def test_other_tests_are_asked_where_the_rooms_own_notice_nothing(self):
        own = [("build", ["model_test"]), ("test", "^(model)/")]
        for pattern, targets, others in (
                ("", [], []), ("^e2e/", [], [("build", ["all"]), ("test", "^e2e/")]),
                ("^e2e/", ["muster"], [("build", ["muster"]), ("test", "^e2e/")])):
            for passes in (True, False):
                with self.subTest(pattern=pattern, targets=targets, passes=passes):
                    trials = mutants.Trials(self.root, "build", ["model"], pattern, targets)
                    done = []
                    trials.build = lambda names: done.append(("build", names)) or True
                    trials.test = lambda names: done.append(("test", names)) or passes
                    self.assertEqual(trials.outcome(), "unnoticed" if passes else "noticed")
                    self.assertEqual(done, own + others if passes else own)

    def test_an_interrupted_run_puts_the_line_back(self):
        trials = mutants.Trials(self.root, "build", ["model"], "")

        def interrupted(_):
            raise KeyboardInterrupt

        trials.build = interrupted
        with self.assertRaises(KeyboardInterrupt):
            trials.verdict("model/limits.cpp", 3, "")
        self.assertEqual(self.read(), LIMITS)

    def read(self):
        with open(os.path.join(self.root, "model/limits.cpp"), encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main()
