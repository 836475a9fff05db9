"""tidy, run on small trees."""

import unittest

from fixture import assert_golden, check

HEADER = "#pragma once\n\n"


def function(lines, head="int f() {"):
    """A function of so many lines."""
    return "\n".join([head] + ["  g();"] * (lines - 2) + ["}"]) + "\n"


class TidyTest(unittest.TestCase):
    def assert_says(self, path, text, *words):
        status, output = check("tidy", {path: text})
        self.assertEqual(status, 1, output)
        for word in words:
            self.assertIn(word, output)

    def assert_fine(self, path, text):
        status, output = check("tidy", {path: text})
        self.assertEqual((status, output), (0, ""))


class Sizes(TidyTest):
    def test_a_function_may_have_70_lines(self):
        self.assert_fine("model/a.cpp", function(70))

    def test_a_longer_function_is_named_with_its_length(self):
        self.assert_says("model/a.cpp", "int x;\n" + function(71), "model/a.cpp:2: f has 71 lines")

    def test_every_kind_of_function_is_measured(self):
        heads = {
            "Node::send": "Expected<int, Error> Node::send(\n    int x) const noexcept {",
            "operator()": "struct A {\n void operator()(int) {",
            "Node::Node": "Node::Node(int a)\n    : Base{a}, a_{a}, b_(std::move(a)) {",
            "f": "template <class T, class U = std::vector<T>>\nauto f(T x) -> std::vector<U> {",
            "TEST": "TEST(Suite, Name) {",
        }
        for name, head in heads.items():
            with self.subTest(head=head):
                end = "};\n" if "struct" in head else ""
                text = "namespace m {\n" + function(80, head) + end + "}\n"
                self.assert_says("model/a.cpp", text, f"{name} has 8", "lines")

    def test_braces_in_literals_and_comments_do_not_confuse_it(self):
        body = ["int f() {", "  // } not the end {", "  g(\"}\", '}', 1'000, R\"x(}\")x\");",
                "  /* } */"] + ["  g();"] * 66 + ["}"]
        self.assert_says("model/a.cpp", "\n".join(body) + "\n", "f has 71 lines")

    def test_a_long_type_or_table_is_no_long_function(self):
        fields = "".join(f"  int f{i} = g({i});\n" for i in range(90))
        self.assert_fine("model/a.cpp", f"struct A {{\n{fields}}};\n")
        rows = "".join(f"    {{{i}, f({i})}},\n" for i in range(90))
        self.assert_fine("model/a.cpp", f"const std::array<Row, 90> kRows = {{\n{rows}}};\n")

    def test_python_functions_are_measured_too(self):
        self.assert_says("tools/x.py", "def f():\n" + "    g()\n" * 70, "f has 71 lines")

    def test_a_file_may_have_500_lines(self):
        self.assert_fine("model/a.cpp", "int x;\n" * 500)
        self.assert_says("model/a.cpp", "int x;\n" * 501, "the file has 501 lines")
        self.assert_fine("docs/a.md", "text\n" * 600)

    def test_a_line_may_have_100_columns(self):
        self.assert_fine("model/a.cpp", "//" + "x" * 98 + "\n")
        self.assert_says("model/a.cpp", "\n//" + "x" * 99 + "\n", "model/a.cpp:2: 101 columns")
        self.assert_fine("docs/a.md", "x" * 200 + "\n")


class BannedCalls(TidyTest):
    def test_each_is_reported_with_what_to_use_instead(self):
        for code, instead in [
                ("auto t = std::chrono::system_clock::now();", "take the Instant"),
                ("auto t = std::chrono::steady_clock::now();", "take the Instant"),
                ("int x = rand();", "model/rng.hpp"),
                ("std::random_device device;", "model/rng.hpp"),
                ("std::uniform_int_distribution<int> d(0, 1);", "model/rng.hpp"),
                ("std::cout << x;", "return the text"),
                ('printf("x");', "return the text"),
                ("auto* x = new Thing();", "std::make_unique"),
                ("delete x;", "std::unique_ptr"),
                ("delete[] x;", "std::unique_ptr"),
                ("std::this_thread::sleep_for(1s);", "delayed message"),
                ("std::exit(1);", "Expected"),
                ("assert(x);", "MUSTER_CHECK")]:
            with self.subTest(code=code):
                self.assert_says("masters/a.cpp", f"void f() {{\n  {code}\n}}\n",
                                 "masters/a.cpp:2: ", instead)

    def test_look_alikes_are_fine(self):
        for code in ["A(const A&) = delete;", "int renew = newest;", "operand(1);", "x.rand();",
                     "// std::cout << new Thing", 'auto s = "delete x;";', "snprintf(a, 1, b);",
                     "static_assert(true);", "std::unique_ptr<Trace>(new Trace(1));",
                     "auto t = clock.now();", "#include <new>"]:
            with self.subTest(code=code):
                self.assert_fine("masters/a.cpp", f"{code}\n")

    def test_the_command_may_print_and_measure_time(self):
        self.assert_fine("tools/main.cpp", "std::cout << std::chrono::steady_clock::now();\n")

    def test_the_clock_of_the_actors_may_read_the_time(self):
        self.assert_fine("actors/time/clock.cpp", "auto t = std::chrono::steady_clock::now();\n")

    def test_what_waits_for_others_may_read_the_clock_of_the_machine(self):
        for path in ["actors/link/a.cpp", "workers/process/a.cpp",
                     "storage/stores/store_journal.cpp"]:
            self.assert_fine(path, "auto t = std::chrono::steady_clock::now();\n")
        for path in ["actors/a.cpp", "workers/a.cpp", "storage/stores/store.cpp",
                     "tests/support/a.hpp"]:
            self.assert_says(path, "#pragma once\nauto t = std::chrono::steady_clock::now();\n",
                             "take the Instant")

    def test_the_shim_may_print(self):
        self.assert_fine("workers/process/shim/shim.cpp", 'std::fputs("x", stderr);\n')
        self.assert_says("workers/process/shim/shim_supervisor.cpp", 'std::fputs("x", stderr);\n',
                         "return the text")

    def test_an_excuse_has_to_say_why(self):
        self.assert_fine("masters/a.cpp", "x(new A);  // NOLINT: owned elsewhere\n")
        self.assert_says("masters/a.cpp", "x(new A);  // NOLINT\n", "std::make_unique")

    BEHAVIOR = "A::behavior_type B::make_behavior() {\n  return {\n%s\n  };\n}\n"

    def test_no_handler_stands_for_none(self):
        for stub in ("[](greet_atom) {},", "[](const LogAnswer&) {},",
                     "[](watch_atom, const JobListener&, const std::vector<JobId>&) {},",
                     "[](const LogRequest&) -> caf::result<LogAnswer> {\n"
                     "  return ActorError::unknown;\n},",
                     "[=](hold_atom, JobId, bool) -> caf::result<JobId> {\n"
                     "  return caf::make_error(ActorError::not_connected);\n},"):
            self.assert_says("masters/a.cpp", self.BEHAVIOR % stub, "masters/a.cpp:3: a handler",
                             "narrower interface")

    def test_a_handler_may_say_why_it_does_nothing(self):
        self.assert_fine("masters/a.cpp", self.BEHAVIOR % "[](const LogAnswer&) {},  // not asked")
        self.assert_fine("masters/a.cpp", self.BEHAVIOR % "[this](greet_atom) { greet(); },")

    def test_what_an_answer_is_waited_with_is_no_handler(self):
        self.assert_fine("masters/a.cpp",
                         "void f() {\n  keep(news, [](const std::string&) {});\n}\n")

    def test_a_header_opens_no_namespace(self):
        self.assert_says("masters/a.hpp", HEADER + "using namespace std;\n", "name the namespace")
        self.assert_fine("masters/a.cpp", "using namespace std::chrono_literals;\n")


class Headers(TidyTest):
    def test_a_header_begins_with_pragma_once(self):
        self.assert_says("model/a.hpp", "/// A.\nstruct A {};\n", "#pragma once")

    def test_public_types_and_functions_say_what_they_are(self):
        for code, name in [("struct Thing {\n  int x;\n};", "type Thing"),
                           ("enum class Kind { a };", "type Kind"),
                           ("template <class T>\nclass Box {\n};", "type Box"),
                           ("int total(int x);", "function total"),
                           ("inline std::vector<int> sums(int x) {\n  return {x};\n}",
                            "function sums")]:
            with self.subTest(code=code):
                text = HEADER + "namespace muster {\n\n" + "{doc}" + code + "\n\n}\n"
                self.assert_says("model/a.hpp", text.replace("{doc}", ""), f"the {name} has no ///")
                self.assert_fine("model/a.hpp", text.replace("{doc}", "/// What it is.\n"))

    def test_a_group_needs_one_comment(self):
        self.assert_fine("model/a.hpp", HEADER + "/// The sums.\nint a(int x);\nint b(int x);\n")

    def test_what_nobody_else_sees_needs_none(self):
        self.assert_fine("model/a.hpp", HEADER + "namespace muster::detail {\nstruct A;\n}\n"
                         "namespace detail {\nstruct B {\n};\n}\n")
        self.assert_fine("model/a.cpp", "struct A {\n};\n")
        self.assert_fine("tests/model/a.hpp", HEADER + "struct A {\n};\n")

    def test_members_and_forward_declarations_need_none(self):
        self.assert_fine("model/a.hpp", HEADER + "class Other;\n\n/// A.\nstruct A {\n"
                         "  struct B {\n    int x;\n  };\n\n  int f() const { return 1; }\n};\n")

    def test_macros_between_declarations_do_not_confuse_it(self):
        text = HEADER + "CAF_BEGIN(muster, 1)\n  CAF_ADD_TYPE(muster, (A))\nCAF_END(muster)\n\n"
        self.assert_fine("actors/a.hpp", text + "/// B.\nstruct B {\n  int x;\n};\n")


class Leftovers(TidyTest):
    def test_notes_to_oneself_are_reported(self):
        for word in ("TO" + "DO", "FIX" + "ME"):
            self.assert_says("model/a.cpp", f"// {word}: later\n", "leftover note")
            self.assert_says("docs/a.md", f"{word} later\n", "leftover note")

    def test_paths_of_one_machine_are_reported(self):
        for path in ("/wo" + "rk/x", "/ho" + "me/me", "/ro" + "ot/x"):
            self.assert_says("config/a.toml", f'file = "{path}"\n', "absolute path")
        self.assert_fine("config/a.toml", 'file = "../work/x"\n')

    def test_white_space_is_kept_in_order(self):
        status, output = check("tidy", {"model/a.cpp": "int x; \n"})
        self.assertEqual(status, 1, output)
        assert_golden(self, output, at="model/a.cpp:1")
        self.assert_says("model/a.cpp", "\tint x;\n", "a tab")
        self.assert_says("docs/a.md", "x\n\ny  \n", "docs/a.md:3: white space")
        self.assert_says("model/a.cpp", "int x;", "no line end")

    def test_other_peoples_files_are_left_alone(self):
        self.assert_fine("tests/replay/data/a.json", "{} \n")
        self.assert_fine("config/a.csv", "a\t \n")


if __name__ == "__main__":
    unittest.main()
