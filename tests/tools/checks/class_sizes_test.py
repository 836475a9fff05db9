"""class_sizes.py, by tidy and as a command: bounds of classes and the list of those above them."""

import os
import tempfile
import unittest

from fixture import check, run, write

LIST = "tools/checks/class_sizes.txt"


def class_of(methods=1, members=1, lines=0, name="Large"):
    """A class in a header, with at least that many lines."""
    rows = [f"  int f{i}();" for i in range(methods)]
    rows += [f"  int a{i}_ = 0;" for i in range(members)]
    rows += [""] * (lines - 2 - len(rows))
    return "\n".join(["#pragma once", "", "/// Large.", f"class {name} {{", *rows, "};"]) + "\n"


def sources_of(count):
    """Sources that have one function each of Large."""
    return {f"model/large{i}.cpp": f"int Large::f{i}() {{\n  return 1;\n}}\n" for i in range(count)}


class Bounds(unittest.TestCase):
    def assert_fine(self, files):
        self.assertEqual(check("tidy", files), (0, ""))

    def assert_says(self, files, *words):
        status, output = check("tidy", files)
        self.assertEqual(status, 1, output)
        for word in words:
            self.assertIn(word, output)

    def test_each_size_has_a_bound(self):
        self.assert_fine({"model/large.hpp": class_of(30, 20, lines=400 - 6), **sources_of(2)})
        for large, words in ((class_of(31), "31 methods"), (class_of(members=21), "21 members"),
                             (class_of(lines=401), "401 lines")):
            self.assert_says({"model/large.hpp": large}, "model/large.hpp:4:", words)
        self.assert_says({"model/large.hpp": class_of(3), **sources_of(3)}, "4 files")

    def test_functions_outside_count_among_the_lines(self):
        files = {"model/large.hpp": class_of(2, lines=398), **sources_of(1)}
        self.assert_says(files, "401 lines")

    def test_a_function_that_takes_a_function_is_its_class_s(self):
        files = {"model/large.hpp": class_of(2, lines=398),
                 "model/large.cpp": "int Large::f0(int a, std::function<void(T<int>, F(int))> b){\n"
                                    "  return 1;\n}\n"}
        self.assert_says(files, "401 lines")

    def test_overloads_count_once(self):
        overloads = "".join(f"  void operator()(T<{i}> x);\n  void f(T<{i}> x);\n"
                            for i in range(40))
        self.assert_fine({"model/large.hpp": class_of(28).replace("};", overloads + "};")})

    def test_a_function_that_is_kept_is_a_member_and_a_class_that_is_named_is_none(self):
        more = "  std::function<void(int)> more_;\n  class Other;\n};"
        self.assert_fine({"model/large.hpp": class_of(30, 19).replace("};", more)})
        self.assert_says({"model/large.hpp": class_of(30, 20).replace("};", more)}, "21 members")

    def test_plain_data_may_have_any_number_of_members(self):
        self.assert_fine({"model/large.hpp": class_of(1, 30).replace("_ =", " =")})

    def test_a_class_within_another_is_one_of_its_own(self):
        inner = "\n".join(class_of(20, 15, name="Row").split("\n")[3:])
        self.assert_fine({"model/large.hpp": class_of(20, 15).replace("};\n", inner + "};\n")})

    def test_classes_of_tests_are_not_bounded(self):
        self.assert_fine({"tests/model/large.hpp": class_of(31)})

    def test_a_class_of_the_list_may_have_its_sizes_there(self):
        files = {"model/large.hpp": class_of(32, 22), LIST: "Large - 32 22 -\n"}
        self.assert_fine(files)
        self.assert_says(files | {"model/large.hpp": class_of(33, 22)},
                         "33 methods", "is 32")
        self.assert_says(files | {LIST: "Large - 32 - -\n"}, "22 members")

    def test_the_list_allows_no_more_than_there_is(self):
        row = {LIST: "Large - 33 - -\n"}
        for files, words in (({"model/large.hpp": class_of(32)}, "32 methods"),
                             ({"model/large.hpp": class_of(30)}, "methods within the limit"),
                             ({}, "methods within the limit")):
            self.assert_says({**files, **row}, f"{LIST}:1:", words, "class_sizes.py")
        self.assert_says({"model/large.hpp": class_of(30), LIST: "Large - - - -\n"}, LIST)

    def test_a_line_of_the_list_is_a_row(self):
        self.assert_says({LIST: "Large 33\n"}, f"{LIST}:1:", "CLASS LINES")


class Command(unittest.TestCase):
    def rewritten(self, files, before):
        with tempfile.TemporaryDirectory(prefix="muster-house-") as root:
            write(root, {**files, LIST: before})
            self.assertEqual(run("class_sizes.py", root), (0, ""))
            with open(os.path.join(root, LIST), encoding="utf-8") as file:
                return file.read()

    def test_sizes_become_smaller_and_rows_vanish(self):
        files = {"model/large.hpp": class_of(32, 21, lines=401)}
        self.assertEqual(self.rewritten(files, "Gone - 31 - -\nLarge 500 33 21 5\n"),
                         "Large 401 32 21 -\n")
        self.assertEqual(self.rewritten({"model/large.hpp": class_of(30)}, "Large - 33 - -\n"), "")

    def test_no_size_grows_and_no_row_is_added(self):
        files = {"model/large.hpp": class_of(40, 30)}
        self.assertEqual(self.rewritten(files, "Large - 33 - -\n"), "Large - 33 - -\n")
        self.assertEqual(self.rewritten(files, ""), "")

    def test_changes_that_met_become_the_smaller_one(self):
        met = "<<<<<<< HEAD\nLarge - 33 - -\n=======\nLarge - 32 22 -\n>>>>>>> x\n"
        self.assertEqual(self.rewritten({"model/large.hpp": class_of(32)}, met), "Large - 32 - -\n")


if __name__ == "__main__":
    unittest.main()
