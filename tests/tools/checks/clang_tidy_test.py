"""clang_tidy, run on a small tree with the project's own .clang-tidy."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

from fixture import CHECKS, assert_golden, run, write


# A finding a check, each of which must show where its file is looked at together with others.
FOUND_TOGETHER = {
    "bugprone-branch-clone": "int f(bool b) { if (b) { return 1; } else { return 1; } }\n",
    "bugprone-integer-division": "double f(int a) { return a / 2; }\n",
    "bugprone-macro-parentheses": "#define TWICE(a) a * 2\nint f() { return TWICE(1); }\n",
    "bugprone-suspicious-semicolon": "void f(bool b, int& a) { if (b); a = 1; }\n",
    "bugprone-unused-raii":
        "struct A { A(int); ~A(); };\nvoid g();\nvoid f() { A(1); g(); }\n",
    "modernize-deprecated-headers": "#include <assert.h>\n",
    "modernize-loop-convert":
        "int f() { int a[3] = {}; int s = 0; for (int i = 0; i < 3; ++i) s += a[i]; return s; }\n",
    "modernize-redundant-void-arg": "int f(void) { return 1; }\n",
    "modernize-use-bool-literals": "bool f() { return 1; }\n",
    "modernize-use-equals-default": "struct A { A(); int a = 1; };\nA::A() {}\n",
    "modernize-use-override":
        "struct A { virtual ~A(); virtual int f(); };\nstruct B : A { virtual int f(); };\n",
    "modernize-use-using": "typedef int Number;\nNumber f();\n",
    "performance-for-range-copy":
        "struct A { A(const A&); ~A(); int a; };\nstruct L { A* begin() const; A* end() const; };\n"
        "int f(const L& l) { int s = 0; for (const A a : l) s += a.a; return s; }\n",
    "performance-unnecessary-value-param":
        "struct A { A(const A&); ~A(); int a; };\nint f(const A a) { return a.a; }\n",
    "readability-identifier-naming": "int Total();\n",
    "readability-misleading-indentation":
        "void g();\nvoid f(bool b) {\n  if (b)\n    g();\n    g();\n}\n",
}


class ClangTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-house-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        os.makedirs(os.path.join(self.root, "tools"))
        shutil.copytree(CHECKS, os.path.join(self.root, "tools/checks"))
        shutil.copy(os.path.join(CHECKS, "../../.clang-tidy"), self.root)
        # tools/test says by MUSTER_TIDY what is looked at: these tests say it themselves.
        environment = unittest.mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("MUSTER_TIDY", None)

    def check(self, **modules):
        """Runs the check on the files ROOM/a.cpp; all of them are in the compile commands."""
        return self.check_files({f"{module}/a.cpp": text for module, text in modules.items()})

    def check_files(self, files, flags="", modules=()):
        write(self.root, files)
        commands = [{"directory": self.root, "file": f"{self.root}/{path}",
                     "command": f"ccache /usr/bin/c++ -std=c++20 {flags} -I{self.root} "
                                f"-o build/{path}.o -c {path}"} for path in files]
        return self.run_on(commands, modules)

    def run_on(self, commands, modules=()):
        write(self.root, {"build/compile_commands.json": json.dumps(commands)})
        return run("clang_tidy", os.path.join(self.root, "build"), self.root, *modules)

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

    def test_files_looked_at_together_lose_no_finding(self):
        for check, code in FOUND_TOGETHER.items():
            with self.subTest(check=check):
                # New each time: what has passed would not be looked at together with the other.
                clean = f"int twice(int number) {{ return 2 * number; }}  // {check}\n"
                status, output = self.check_files({"model/a.cpp": clean, "model/b.cpp": code})
                self.assertEqual(status, 1, output)
                self.assertIn("model/b.cpp:", output)
                self.assertIn(f"[{check},", output)
                self.assertIn("2 looked at, 1 with findings", output)

    def test_what_clashes_with_another_file_is_looked_at_alone(self):
        code = "namespace { int total() { return 1; } }\nint used_%s() { return total(); }\n"
        status, output = self.check_files({"model/a.cpp": code % "a", "model/b.cpp": code % "b"})
        self.assertEqual(status, 0, output)
        self.assertNotIn("only in part", output)
        self.assertIn("0 looked at", self.check_files({"model/a.cpp": code % "a"})[1])

    def test_the_files_of_a_unity_build_are_looked_at(self):
        unity = "build/model/CMakeFiles/model.dir/Unity/unity_0_cxx.cxx"
        write(self.root, {"model/a.cpp": "int total();\n", "model/b.cpp": "int Total();\n",
                          unity: f'#include "{self.root}/model/a.cpp"\n\n'
                                 f'#include "{self.root}/model/b.cpp"\n'})
        status, output = self.run_on([{
            "directory": self.root, "file": f"{self.root}/{unity}",
            "command": f"/usr/bin/c++ -std=c++20 -I{self.root} -o a.o -c {unity}"}])
        self.assertEqual(status, 1, output)
        self.assertIn("model/b.cpp:1", output)
        self.assertIn("2 sources, 2 looked at, 1 with findings", output)

    def test_only_the_named_floors_are_looked_at(self):
        files = {"model/a.cpp": "int Total();\n", "config/a.cpp": "int total();\n"}
        status, output = self.check_files(files, modules=["config"])
        self.assertEqual(status, 0, output)
        self.assertIn("1 sources, 1 looked at", output)
        self.assertEqual(self.check_files(files, modules=["model"])[0], 1)
        self.assertIn("0 looked at", self.check_files(files, modules=["config"])[1])

    def test_precompiled_headers_are_left_out(self):
        status, output = self.check_files({"model/a.cpp": "int total();\n"},
                                          flags="-Winvalid-pch -include /nowhere/cmake_pch.hxx")
        self.assertEqual(status, 0, output)
        self.assertNotIn("only in part", output)

    def test_floors_with_actors_are_left_out(self):
        text = "int Total();\n"
        status, output = self.check(actors=text, **{"schedulers/site": text})
        self.assertEqual(status, 0, output)
        self.assertIn("0 sources", output)

    def commit(self, files):
        write(self.root, files)
        git = ["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b.example"]
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "a"]):
            subprocess.run(git + words, check=True)

    def test_of_a_change_only_what_differs_is_looked_at(self):
        include = '#include "model/b.hpp"\n'
        sources = {"model/a.cpp": "int Total();\n", "model/b.cpp": include, "model/c.cpp": include}
        self.commit({**sources, "model/b.hpp": "int total();\n", ".gitignore": "build/\n"})
        self.commit({"README": "Says what it is.\n"})
        with unittest.mock.patch.dict(os.environ, MUSTER_TIDY="changed"):
            write(self.root, {"model/b.hpp": "int Count();\n"})
            self.assert_only_the_header_is_found(*self.check_files(sources))
            self.commit({"model/b.hpp": "int Count();\n"})
            self.assert_only_the_header_is_found(*self.check_files(sources))
        self.assertIn("model/a.cpp:1", self.check_files(sources)[1])

    def assert_only_the_header_is_found(self, status, output):
        self.assertEqual(status, 1, output)
        self.assertIn("model/b.hpp:1", output)
        self.assertNotIn("model/a.cpp:1", output)
        self.assertIn("3 sources, 1 looked at", output)

    def test_what_clang_cannot_parse_is_named_and_no_failure(self):
        status, output = self.check(model="int total = unknown_name;\n")
        self.assertEqual(status, 0, output)
        told = [line for line in output.splitlines() if line.startswith("model/a.cpp: ")]
        self.assertEqual(len(told), 1, output)
        ours, _, clangs = told[0].partition(": /")
        self.assertIn("model/a.cpp:1:", clangs)
        assert_golden(self, ours, at="model/a.cpp")


if __name__ == "__main__":
    unittest.main()
