"""check_unity, on small libraries."""

import unittest

from fixture import check

CMAKE = {"a/CMakeLists.txt": "muster_library(\n  a PCH json\n  SOURCES one.cpp two.cpp LINK x)\n"}
FILE = "namespace muster {{\nnamespace {{\n\n{}\n\n}}  // namespace\n}}  // namespace muster\n"


class CheckUnity(unittest.TestCase):
    def together(self, one, two, cmake=None):
        return check("check_unity", {**(cmake or CMAKE), "a/one.cpp": FILE.format(one),
                                     "a/two.cpp": FILE.format(two)})

    def test_the_same_name_twice_is_found(self):
        for one, two in (
                ("constexpr int kMost = 1;", "constexpr double kMost = 2;"),
                ("const std::string kNone;", "constexpr std::array<int, 2> kNone = {{1, 2}};"),
                ("struct Row {\n  int a;\n};", "class Row : public Base {\n  int b;\n};"),
                ("using Keys = std::set<int>;", "using Keys = std::vector<int>;"),
                ("int total() {\n  return 1;\n}", "double total() {\n  return 2;\n}"),
                ("bool is(const Row& row, int at) {\n  return true;\n}",
                 "bool is(const Row& other, int = 3) {\n  return true;\n}")):
            with self.subTest(two=two):
                status, output = self.together(one, f"int before() {{\n  return 0;\n}}\n\n{two}")
                self.assertEqual(status, 1, output)
                self.assertIn("a/two.cpp:8:", output)
                self.assertIn("in a/one.cpp too", output)

    def test_what_may_stand_twice_is_let_through(self):
        for one, two in (
                ("constexpr int kMost = 1;", "constexpr int kLeast = 1;"),
                ("namespace fs = std::filesystem;", "namespace fs = std::filesystem;"),
                ("using test::at;", "using test::at;"),
                ("using C = Config;", "using C = Config;"),
                ("void put(int a) {\n}", "void put(double a) {\n}"),
                ("struct A {\n  int one() {\n    return 1;\n  }\n};",
                 "struct B {\n  int one() {\n    return 1;\n  }\n};"),
                ("// struct Row {", "struct Row {\n};")):
            with self.subTest(two=two):
                self.assertEqual(self.together(one, two)[0], 0)

    def test_names_for_all_and_other_libraries_are_not_its_matter(self):
        function = "void run() {\n}\n"
        self.assertEqual(check("check_unity", {
            **CMAKE, "a/one.cpp": f"namespace a {{\n{function}}}  // namespace a\n",
            "a/two.cpp": f"namespace a {{\n{function}}}  // namespace a\n"})[0], 0)
        two = {"a/CMakeLists.txt": "muster_library(a SOURCES one.cpp)\n"
                                   "muster_library(b SOURCES two.cpp)\n"}
        self.assertEqual(self.together(function, function, two)[0], 0)

    def test_a_file_that_is_kept_out_may_clash(self):
        kept_out = {"a/CMakeLists.txt": CMAKE["a/CMakeLists.txt"] + (
            "set_source_files_properties(two.cpp PROPERTIES COMPILE_OPTIONS -O1\n"
            "                            SKIP_UNITY_BUILD_INCLUSION ON)\n")}
        self.assertEqual(self.together("class A {\n};", "class A {\n};", kept_out)[0], 0)


if __name__ == "__main__":
    unittest.main()
