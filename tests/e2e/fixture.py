"""Runs the muster command on files in a folder of the test's own."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(SOURCE, "tests/support"))
from golden import assert_golden, line_with
EVA_200 = os.path.join(SOURCE, "config/replay/eva-200.toml")
CATALOG = os.path.join(SOURCE, "config/catalogs/ec2-eva.csv")
EVA_JOBS = os.path.join(SOURCE, "tests/data/eva-jobs.json")
OPENB_PODS = os.path.join(SOURCE, "tests/data/openb-pods.csv")
COLUMNS = "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class\n"
ONE_JOB = COLUMNS + "1,0,ada,train,1,1,4,24,7200,resnet18\n"
LIMIT_S = 540


def traces():
    """The folder of the full traces; it may not exist."""
    return os.path.abspath(os.environ.get("MUSTER_DATA") or
                           os.path.join(SOURCE, "../shared/data"))


class MusterTest(unittest.TestCase):
    """Every test works in an empty folder, self.folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="muster-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def config(self, name, workload, form="muster-csv", catalog=CATALOG, more=""):
        """A config under no-packing; the paths may be relative to the folder."""
        quote = json.dumps  # a JSON text is a TOML text, too
        return self.write(name, f'policies = ["no-packing"]\ncatalog = {quote(catalog)}\n'
                                f"[workload]\nformat = {quote(form)}\npath = {quote(workload)}\n"
                                f"{more}")

    def muster(self, *arguments, **options):
        """What came of `muster ARGUMENTS`, run in the folder."""
        environment = {**os.environ, "MUSTER_DATA": traces()}
        return subprocess.run([os.environ["MUSTER"], *arguments], cwd=self.folder,
                              env=environment, check=False,
                              **{"timeout": LIMIT_S, "stdin": subprocess.DEVNULL, "text": True,
                                 "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})

    def succeed(self, *arguments):
        """The standard output of a run that went well and had nothing to complain of."""
        done = self.muster(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def assert_refused_at(self, status, place, *arguments):
        """assert_refused, and the errors are the texts of tests/golden, which name the place."""
        assert_golden(self, self.assert_refused(status, [], *arguments), at=place)

    def runs(self, *arguments):
        """The runs of `muster replay ARGUMENTS --json -`."""
        return json.loads(self.succeed("replay", *arguments, "--json", "-"))["runs"]

    def assert_refused(self, status, words, *arguments):
        """The run ends with the status and the words, which are returned, says nothing else and
        leaves no file."""
        before = sorted(os.listdir(self.folder))
        done = self.muster(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        return done.stderr
