"""service_curves, on servers that are measured for an instant."""

import csv
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "tools" / "bench" / "service_curves"


def load():
    loader = importlib.machinery.SourceFileLoader("service_curves", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


curves = load()


class Folder(curves.Quota):
    """A group in a folder that is none: nothing is limited."""

    def part_processors(self, cores):
        pass

    def make(self):
        super().make()
        self.write("cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n")

    def remove(self):
        for file in self.folder.iterdir():
            file.unlink()
        super().remove()

    def said(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


class ServiceCurves(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-curves-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "measured.csv"

    def measure(self, *words, version=2, act=lambda quota: None):
        """Measures with a group of the test's own. The group, and how it ended."""
        quota = Folder(self.folder / "group", version)
        quota.make()
        options = curves.parse([str(self.out), "--cores", "0.5,1", "--memory-gib", "0.125",
                                "--seconds", "0.1", *words])
        started = []
        real = curves.subprocess.Popen

        def start(*arguments, **named):
            started.append(real(*arguments, **named))
            act(quota)
            return started[-1]

        fault = None
        with mock.patch.object(curves, "make_quota", return_value=quota), \
                mock.patch.object(curves.subprocess, "Popen", start), \
                mock.patch.object(curves.os, "setpriority"), redirect_stderr(io.StringIO()):
            try:
                curves.run(options)
            except (curves.Failed, KeyboardInterrupt) as error:
                fault = error
        self.assertFalse(quota.folder.exists(), "the group is gone, however it ended")
        for process in started:
            self.assertIsNotNone(process.poll(), "and so is each server")
        return fault

    def test_variants_are_measured_at_each_size(self):
        limits = []
        fault = self.measure("--variants", "1",
                             act=lambda quota: limits.append(quota.said("cpu.max")))
        self.assertIsNone(fault)
        with open(self.out, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(tuple(rows[0]), curves.COLUMNS)
        self.assertEqual([(row["cores"], row["memory_gib"]) for row in rows],
                         [("0.5", "0.125"), ("1", "0.125")])
        self.assertEqual(len({row["service"] for row in rows}), 1)
        self.assertTrue(all(float(row["performance"]) > 0 for row in rows))
        self.assertEqual(limits, ["50000 50000"], "a server starts with all of its cores")

    def test_a_server_of_ones_own_is_told_its_memory(self):
        server = f"{sys.executable} {curves.SERVER} --memory-gib {{memory_gib}} --value-kib 1"
        self.assertIsNone(self.measure("--server", server, "--name", "web", "--path", "/work"))
        self.assertIn("web,0.5,0.125,", self.out.read_text(encoding="utf-8"))

    def test_nothing_stays_of_a_run_that_fails(self):
        server = f"{sys.executable} {curves.SERVER}"
        bad = [(("--server", f"{sys.executable} -c 'exit(3)'"), "ended with 3"),
               (("--server", "/nowhere/server"), "/nowhere/server"),
               (("--server", server, "--path", "/other"), "status 404")]
        for words, why in bad:
            with self.subTest(why):
                self.assertRegex(str(self.measure(*words)), why)
                self.assertFalse(self.out.exists())

    def test_an_interrupt_ends_the_server(self):
        with mock.patch.object(curves.Running, "measure", side_effect=KeyboardInterrupt):
            self.assertIsInstance(self.measure("--variants", "1"), KeyboardInterrupt)
        self.assertFalse(self.out.exists())

    def test_a_server_keeps_to_its_memory(self):
        greedy = mock.Mock(memory_gib=0.125, most_mib=lambda: 129)
        with self.assertRaisesRegex(curves.Failed, "129 MiB"):
            curves.Curves.check_memory(greedy)

    def test_groups_are_sought_where_processors_belong_to_them(self):
        found = curves.cgroup_parents("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/user/own\n")
        self.assertEqual([(str(path), version) for path, version in found],
                         [("/sys/fs/cgroup/user/own", 2), ("/sys/fs/cgroup/user", 2),
                          ("/sys/fs/cgroup", 2)])
        found = curves.cgroup_parents(
            "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n"
            "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n",
            "4:cpuset:/\n2:cpu,cpuacct:/own\n")
        self.assertEqual([(str(path), version) for path, version in found],
                         [("/sys/fs/cgroup/cpu/own", 1)])
        self.assertEqual(curves.cgroup_parents("proc /proc proc rw 0 0\n", "0::/\n"), [])

    def test_a_limit_is_written_in_the_words_of_the_version(self):
        quota = Folder(self.folder / "old", 1)
        quota.make()
        quota.limit(0.25)
        self.assertEqual(quota.said("cpu.cfs_quota_us"), "12500")
        self.assertEqual(quota.said("cpu.cfs_period_us"), "50000")
        quota.remove()

    def test_requests_count_by_the_time_that_the_quota_grants(self):
        first = curves.Count(10, 100, 5, 40, 40)
        for name, last, rate in [
                ("less than it was held back for", curves.Count(12, 300, 5.4, 80, 78), 125),
                ("more than granted", curves.Count(12, 300, 6, 80, 40), 50),
                ("free most of the time", curves.Count(12, 300, 5.4, 80, 50), 100),
                ("no count of periods", curves.Count(12, 300, 5.4, 40, 40), 100)]:
            with self.subTest(name):
                self.assertAlmostEqual(curves.rate_of(first, last, 0.25), rate)

    def test_variants_are_those_of_the_seed(self):
        self.assertEqual(curves.example_variants(4, 1), curves.example_variants(4, 1))
        self.assertNotEqual(curves.example_variants(4, 1), curves.example_variants(4, 2))

    def test_a_call_that_cannot_be_is_refused(self):
        for words, why in [((), "required"), (("a", "--cores", "1,0.5"), "should ascend"),
                           (("a", "--memory-gib", "x"), "should be numbers"),
                           (("a", "--cores", "0.001"), "0.02"),
                           (("a", "--cores", f"{(os.cpu_count() or 1) + 1}"), "--cores"),
                           (("a", "--seconds", "0"), "above 0"), (("a", "--server", ""), "command"),
                           (("a", "--cores", ",".join(f"0.{n}" for n in range(10, 40)),
                             "--memory-gib", "1,2,3"), "64 sizes")]:
            said = io.StringIO()
            with self.subTest(why), redirect_stderr(said), self.assertRaises(SystemExit) as end:
                curves.parse(list(words))
            self.assertEqual(end.exception.code, 2)
            self.assertIn(why, said.getvalue())


if __name__ == "__main__":
    unittest.main()
