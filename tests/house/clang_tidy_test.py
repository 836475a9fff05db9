"""clang_tidy, run on a small tree with the project's own .clang-tidy."""

import json
import os
import shutil
import tempfile
import unittest

from fixture import CHECKS, run, write


class ClangTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-house-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        os.makedirs(os.path.join(self.root, "tools"))
        shutil.copytree(CHECKS, os.path.join(self.root, "tools/checks"))
        shutil.copy(os.path.join(CHECKS, "../../.clang-tidy"), self.root)

    def check(self, **rooms):
        """Runs the check on the files ROOM/a.cpp; all of them are in the compile commands."""
        write(self.root, {f"{room}/a.cpp": text for room, text in rooms.items()})
        commands = [{"directory": self.root, "file": f"{self.root}/{room}/a.cpp",
                     "command": f"ccache /usr/bin/c++ -std=c++20 -I{self.root} -c {room}/a.cpp"}
                    for room in rooms]
        write(self.root, {"build/compile_commands.json": json.dumps(commands)})
        return run("clang_tidy", os.path.join(self.root, "build"), self.root)

    def test_the_names_of_the_house_pass(self):
        status, output = self.check(model="""
            namespace muster {
            constexpr int kLimit = 3;
            constexpr double kCap_usd_h = 3;
            enum class Phase { not_yet, done };
            class Counter {
             public:
              int total() const { return total_; }
             private:
              int total_ = 0;
            };
            template <class Row, int kSize> struct Table { Row rows[kSize]; int used = 0; };
            }\n""")
        self.assertEqual(status, 0, output)

    def test_other_names_do_not(self):
        for code in ("int GetTotal();", "constexpr int limit = 3;", "class counter {};",
                     "enum class Phase { NotYet };", "class A { int total; };"):
            with self.subTest(code=code):
                status, output = self.check(model=f"{code}\n")
                self.assertEqual(status, 1, output)
                self.assertIn("readability-identifier-naming", output)

    def test_what_passed_is_looked_at_again_only_after_a_change(self):
        write(self.root, {"model/a.hpp": "int total();\n"})
        text = '#include "model/a.hpp"\n'
        self.assertIn("1 looked at", self.check(model=text)[1])
        self.assertIn("0 looked at", self.check(model=text)[1])
        write(self.root, {"model/a.hpp": "int Total();\n"})
        status, output = self.check(model=text)
        self.assertEqual(status, 1)
        self.assertIn("model/a.hpp:1", output)
        self.assertIn("1 looked at", self.check(model=text)[1])

    def test_floors_with_actors_are_left_out(self):
        text = "int Total();\n"
        status, output = self.check(actors=text, **{"schedulers/site": text})
        self.assertEqual(status, 0, output)
        self.assertIn("0 sources", output)

    def test_what_clang_cannot_parse_is_named_and_no_failure(self):
        status, output = self.check(model="int total = unknown_name;\n")
        self.assertEqual(status, 0, output)
        self.assertIn("model/a.cpp: checked only in part", output)


if __name__ == "__main__":
    unittest.main()
