"""tools/build --times, on a small log of ninja's."""

import os
import shutil
import subprocess
import tempfile
import unittest

from fixture import CHECKS, assert_golden, write

LOG = """# ninja log v5
0\t30000\t1\ta.dir/a.cpp.o\t1
100\t2600\t1\ta.dir/a.cpp.o\t1
0\t12500\t1\tpch.dir/all.hxx.gch\t2
0\t1000\t1\tb.dir/b.cpp.o\t3
0\t9000\t1\tgone.dir/gone.cpp.o\t4
2600\t3100\t1\tlib.a\t5
3100\t3400\t1\tschema.c++\t6
3100\t3400\t1\tschema.h\t6
"""


class BuildTimes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-house-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        os.makedirs(os.path.join(self.root, "tools"))
        shutil.copy(os.path.join(CHECKS, "../build"), os.path.join(self.root, "tools"))
        shutil.copy(os.path.join(CHECKS, "../../CMakePresets.json"), self.root)

    def times(self, *arguments):
        done = subprocess.run([os.path.join(self.root, "tools/build"), "--times", *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_the_dearest_come_first_and_the_sums_last(self):
        built = ("a.dir/a.cpp.o", "pch.dir/all.hxx.gch", "b.dir/b.cpp.o", "lib.a", "schema.c++",
                 "schema.h")
        write(self.root, {f"build/debug/{name}": "" for name in built})
        write(self.root, {"build/debug/.ninja_log": LOG})
        status, output, _ = self.times("debug")
        self.assertEqual(status, 0)
        lines = output.splitlines()
        self.assertEqual(lines[:3], ["   12.5 s  pch.dir/all.hxx.gch",
                                     "    2.5 s  a.dir/a.cpp.o",
                                     "    1.0 s  b.dir/b.cpp.o"])
        self.assertEqual([line[:11] for line in lines[3:]], ["   16.0 s  ", "    0.8 s  "])
        assert_golden(self, "\n".join(lines[3:]))

    def test_twenty_are_named_and_all_are_counted(self):
        names = [f"{number}.o" for number in range(30)]
        write(self.root, {f"build/release/{name}": "" for name in names})
        lines = [f"0\t{1000 + i}\t1\t{name}\t{i}" for i, name in enumerate(names)]
        write(self.root, {"build/release/.ninja_log": "# ninja log v5\n" + "\n".join(lines)})
        _, output, _ = self.times()
        self.assertEqual(len(output.splitlines()), 22)
        self.assertTrue(output.startswith("    1.0 s  29.o\n"), output)
        self.assertIn("   30.4 s  to compile 30 objects", output)

    def test_without_a_build_it_says_so(self):
        status, _, error = self.times("debug")
        self.assertEqual(status, 1)
        self.assertIn("build/debug", error)
        assert_golden(self, error)


if __name__ == "__main__":
    unittest.main()
