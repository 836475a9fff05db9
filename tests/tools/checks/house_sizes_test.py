"""house_sizes, on a small tree."""

import json
import os
import tempfile
import unittest

from fixture import run, write

HEADER = """#pragma once

/// What is kept.
class Store {
 public:
  Store();
  Store(const Store&) = delete;
  int get(int at) const { return rows_[at]; }
  int get(char at) const;
  void put(int at, int value);

 private:
  struct Row {
    int value = 0;
  };
  std::vector<int> rows_;
  std::map<int, std::vector<int>> by_name_{{1, {2}}};  // a second way
  int size_ = 0;
};
"""
SOURCE = """#include "model/store.hpp"

int Store::get(char at) const {
  return 1;
}

void Store::put(int at, int value) {
  rows_[at] = value;
}
"""


def large_class(methods, members):
    lines = [f"  int f{i}();" for i in range(methods)]
    lines += [f"  int a{i}_ = 0;" for i in range(members)]
    return "\n".join(["class Large {", *lines, "};"]) + "\n"


class HouseSizes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-house-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        write(self.root, {"model/store.hpp": HEADER, "model/store.cpp": SOURCE})

    def figures(self, *options):
        path = os.path.join(self.root, "now.json")
        status, output = run("house_sizes", self.root, "--json", path, *options)
        self.assertEqual(status, 0, output)
        with open(path, encoding="utf-8") as file:
            return json.load(file), output

    def test_a_room_has_its_files_functions_types_comments_and_tests(self):
        write(self.root, {"tests/model/store_test.cpp": "int a;\n" * 14, "tests/e2e/a.cpp": "\n"})
        now, output = self.figures()
        self.assertEqual(now["rooms"]["model"], {
            "files": 2, "lines": 28, "code": 23, "functions": 3, "p50": 3, "p90": 3, "max": 3,
            "types": 2, "comments %": 3.6, "with trailing %": 7.1, "tests": 14,
            "python": 0, "tests/code": 0.5})
        self.assertEqual(now["rooms"]["tests/"]["tests"], 1)
        self.assertEqual(now["rooms"]["all"]["tests"], 15)
        self.assertIn("model", output)

    def test_a_folder_below_tools_is_a_room(self):
        write(self.root, {"tools/client/a.cpp": "int a;\n",
                          "tests/tools/client/b.cpp": "int b;\n" * 2})
        self.assertEqual(self.figures()[0]["rooms"]["tools/client"]["tests/code"], 2)

    def test_python_that_runs_a_room_counts_among_its_tests(self):
        write(self.root, {"tools/client/a.cpp": "int a;\n" * 4, "tools/cli/c.cpp": "int c;\n",
                          "workers/process/b.cpp": "int b;\n",
                          "tests/tools/client/a_test.cpp": "int a;\n",
                          "tests/e2e/client_ways_test.py": "a = 1\n" * 3,
                          "tests/e2e/live/walls_test.py": "a = 1\n" * 5,
                          "tests/e2e/live/moves_test.py": "a = 1\n" * 2,
                          "tests/e2e/replay_test.py": "a = 1\n", "tests/e2e/other.py": "a = 1\n"})
        rooms = self.figures()[0]["rooms"]
        self.assertEqual({room: figures["python"] for room, figures in rooms.items()
                          if figures["python"]},
                         {"tools/client": 3, "workers": 5, "tools/cli": 3, "all": 11})
        self.assertEqual(rooms["tools/client"]["tests/code"], 1)
        self.assertEqual(self.figures("--depth", "2")[0]["rooms"]["workers/process"]["python"], 5)

    def test_rooms_are_as_deep_as_is_asked_for(self):
        write(self.root, {"model/deep/a.cpp": "int a;\n", "tests/model/deep/b.cpp": "int b;\n"})
        self.assertNotIn("model/deep", self.figures()[0]["rooms"])
        rooms = self.figures("--depth", "2")[0]["rooms"]
        self.assertEqual((rooms["model/deep"]["files"], rooms["model/deep"]["tests"]), (1, 1))

    def test_a_class_is_above_the_bounds_by_methods_members_lines_or_files(self):
        self.assertEqual(self.figures()[0]["classes"], {})
        write(self.root, {"model/store_more.cpp": "int Store::more() {\n  return 1;\n}\n",
                          "model/store_last.cpp": "int Store::last() {\n  return 1;\n}\n"})
        self.assertEqual(self.figures()[0]["classes"], {
            "Store": {"lines": 28, "methods": 5, "members": 3, "files": 4}})
        for methods, members in ((31, 1), (1, 21)):
            with self.subTest(methods=methods, members=members):
                write(self.root, {"model/large.hpp": large_class(methods, members)})
                self.assertEqual(self.figures()[0]["classes"]["Large"], {
                    "lines": methods + members + 2, "methods": methods, "members": members,
                    "files": 1})
        write(self.root, {"model/large.hpp": large_class(30, 20)})
        self.assertNotIn("Large", self.figures()[0]["classes"])

    def test_plain_data_may_have_any_number_of_members(self):
        write(self.root, {"model/large.hpp": large_class(1, 21).replace("_ =", " =")})
        self.assertEqual(self.figures()[0]["classes"], {})

    def test_lines_that_stand_twice_are_counted_once_for_each_pair_of_places(self):
        def body(first, lines):
            return f"int {first}() {{\n" + "".join(f"  f({i});\n" for i in range(lines)) + "}\n"
        write(self.root, {"model/one.cpp": body("one", 6), "model/two.cpp": body("two", 6)})
        self.assertEqual(self.figures()[0]["repeated"], {"6": 1, "12": 0})
        write(self.root, {"model/one.cpp": body("one", 12), "tests/two.cpp": body("two", 12)})
        self.assertEqual(self.figures()[0]["repeated"], {"6": 3, "12": 1})

    def test_figures_of_before_stand_in_brackets(self):
        before = os.path.join(self.root, "before.json")
        with open(before, "w", encoding="utf-8") as file:
            json.dump(self.figures()[0], file)
        write(self.root, {"model/more.cpp": "int a;\n"})
        self.assertIn("3 (2)", self.figures("--against", before)[1])

    def test_a_file_of_something_else_to_compare_with_is_refused(self):
        path = os.path.join(self.root, "x.json")
        write(self.root, {"x.json": "[1]"})
        status, output = run("house_sizes", self.root, "--against", path)
        self.assertEqual(status, 2)
        self.assertIn("no file of --json", output)


if __name__ == "__main__":
    unittest.main()
