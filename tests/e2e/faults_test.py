"""What was called or written wrongly: exit code 2, with the place and what would be right; what
could not be done: 1."""

import os
import unittest

from fake_api import FakeApi, Reply, TOKEN, job, problem
from fixture import EVA_200, ONE_JOB, MusterTest, assert_golden

LONG = "1" + 309 * "0"
RANGE = "a number has to be from -1.8e308 to 1.8e308"

# name, exit code, words of the complaint, command, files that are there
ONE_TYPE = """name,family,gpu,cpu,memory_gib,usd_per_hour,acquire_s,setup_s,terminate_s
a,a,0,4,8,0.2,1,1,1
"""
ONE_NODE = """name = "c"
state = "state"
catalog = "types.csv"
insecure_loopback = true
master.caps = "none"
[[node]]
name = "n0"
address = "127.0.0.1:1"
workers = "127.0.0.1:2"
site = "a"
latitude = 1
longitude = 1
master = "m0"
cloud = true
"""
FAULTS = [
    ("a fleet that cannot be read", 2, ["master.fleet: has to be", "nope:3"],
     ["replay", EVA_200, "--set", "master.fleet=nope:3"], {}),
    ("a fleet of a type that is not on offer", 2, ["master.fleet", "no type nope"],
     ["replay", EVA_200, "--set", "master.fleet=3*nope"], {}),
    ("a load without a fleet", 2, ["workload.load", "master.fleet"],
     ["replay", EVA_200, "--load", "0.5"], {}),
    ("a config with a wrong value", 2, ["r.toml:1:8: seed: has to be"], ["replay", "r.toml"],
     {"r.toml": "seed = -1\n"}),
    ("a config that is no TOML", 2, ["r.toml:1:", RANGE], ["replay", "r.toml"],
     {"r.toml": f"seed = {LONG}\n"}),
    ("a config that is not there", 1, ["absent.toml: cannot be read"],
     ["replay", "absent.toml"], {}),
    ("a catalog that is not there", 1, ["catalog: ", "absent.csv: cannot be read"],
     ["replay", EVA_200, "--set", "catalog=absent.csv"], {}),
    ("a catalog of a file that is not there", 1,
     ["r.toml:2:11: catalog: ", "absent.csv: cannot be read"], ["replay", "r.toml"],
     {"r.toml": 'policies = ["eva"]\ncatalog = "absent.csv"\n[workload]\npath = "a.csv"\n'
                'format = "muster-csv"\n'}),
    ("a policy of a file that there is not", 2, ["--set policies: ", 'called "nope"'],
     ["replay", EVA_200, "--set", 'policies=["nope"]'], {}),
    ("a workload that is not there", 1, ["workload.path: ", "absent.csv: cannot be read"],
     ["replay", EVA_200, "--set", "workload.path=absent.csv", "--set",
      "workload.format=muster-csv"], {}),
    ("a matrix that is not there", 1, ["world.interference.matrix: ", "absent.csv: cannot be read"],
     ["replay", EVA_200, "--set", "world.interference.matrix=absent.csv", "--set",
      "world.interference.model=pairwise"], {}),
    ("a catalog of a cluster that is not there", 2, ["catalog: ", "absent.csv: cannot be read"],
     ["up", "--dir", "new", "--catalog", "absent.csv"], {}),
    ("a job file with a wrong value", 2, ["a.toml:2:9: tasks: has to be a whole number from 1 to"],
     ["submit", "a.toml"], {"a.toml": 'command = "a"\ntasks = -3\n'}),
    ("a variable that is no text", 2, ['a.toml:4:1: env: has to be a table of texts', 'B is ["x"]'],
     ["submit", "a.toml"], {"a.toml": 'command = "a"\n[env]\nA = 3\nB = ["x"]\n'}),
    ("a variable with another name than variables have", 2,
     ["a.toml:5:1: env: 'B=' is no name", "a.toml:6:1: env: MUSTER_X is for Muster"],
     ["submit", "a.toml"],
     {"a.toml": 'command = "a"\n\n[env]\nA = "x"\n"B=" = "y"\nMUSTER_X = "no"\n'}),
    ("a number of 310 digits in TOML", 2, ["a.toml:2:8:", RANGE], ["submit", "a.toml"],
     {"a.toml": f'command = "a"\ncpus = {LONG}\n'}),
    ("a number of 310 digits in JSON", 2, ["a.json:2:9:", RANGE, "it is 10000"],
     ["submit", "a.json"], {"a.json": f'{{"command": ["a"],\n"cpus": {LONG}}}\n'}),
    ("a number of 310 digits as a flag", 2, ["--cpus: has to be a number above 0"],
     ["submit", "--cpus", LONG, "--", "true"], {}),
    ("a job file that is not there", 1, ["absent.toml: cannot be read", "muster submit -- COMMAND"],
     ["submit", "absent.toml"], {}),
    ("an address that is none", 2, ["--api", "has to be a URL", "bogus"],
     ["jobs", "--api", "bogus"], {}),
    ("a list of no jobs", 2, ["--limit"], ["jobs", "--limit", "0"], {}),
    ("a cluster file that is no TOML", 2, ["cluster.toml:1:8"], ["up", "--dir", "c"],
     {"c/cluster.toml": "name = \n"}),
    ("a cluster file with a wrong value", 2, ["cluster.toml:1:8: seed: has to be"],
     ["up", "--dir", "c"], {"c/cluster.toml": "seed = -1\n"}),
    ("the same of a node", 2, ["cluster.toml:1:8: seed: has to be"],
     ["node", "--config", "c/cluster.toml"], {"c/cluster.toml": "seed = -1\n"}),
    ("a node that the cluster file does not have", 2, ['there is no node "n9"', "has: n0"],
     ["node", "--config", "c/cluster.toml", "--name", "n9"],
     {"c/cluster.toml": ONE_NODE, "c/types.csv": ONE_TYPE}),
    ("the same for the end", 2, ["cluster.toml:1:8: seed: has to be"], ["down", "--dir", "c"],
     {"c/cluster.toml": "seed = -1\n"}),
    ("a cluster that is not there", 2, ["there is no cluster in"], ["down", "--dir", "absent"], {}),
]


class Faults(MusterTest):
    def setUp(self):
        super().setUp()
        self.write("jobs.csv", ONE_JOB)
        self.was = {name: os.environ.pop(name, None)
                    for name in ("MUSTER_API", "MUSTER_TOKEN", "MUSTER_TOKEN_FILE")}
        self.addCleanup(lambda: os.environ.update(
            {name: value for name, value in self.was.items() if value is not None}))

    def test_each_has_its_exit_code_and_says_where_and_what(self):
        for name, status, words, command, files in FAULTS:
            with self.subTest(name):
                for file, text in files.items():
                    os.makedirs(os.path.dirname(self.path(file)), exist_ok=True)
                    self.write(file, text)
                done = self.muster(*command)
                self.assertEqual(done.returncode, status, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertEqual(done.stdout, "")

    def fake_api(self):
        api = FakeApi()
        self.addCleanup(api.close)
        self.write("token", TOKEN + "\n")
        return api, ["--api", api.url, "--token-file", "token", "--retry-for", "0s"]

    def test_a_list_without_the_part_of_a_silent_master_is_shown_with_a_warning(self):
        api, where = self.fake_api()
        last = {"usd_h": 0.1323, "today_usd": 0.5, "total_usd": 2, "instances": 1,
                "active_jobs": 2, "pending_tasks": 3}
        some = {"jobs": [job(7)], "complete": False,
                "silent": [{"master": "m1", "since_s": 12.3, "last": last},
                           {"site": "oslo", "since_s": 4}]}
        api.on("GET", "/v1/jobs", Reply(some))
        for flags in ([], ["--json"]):
            done = self.muster("jobs", *where, *flags)
            self.assertEqual(done.returncode, 0)
            for figure in ("12 s", "$0.1323", "$0.5000", "$2.0000", "site oslo", "4 s"):
                self.assertIn(figure, done.stderr)
            assert_golden(self, done.stderr)
            self.assertIn("sweep", done.stdout)
        api.on("GET", "/v1/jobs", Reply({**some, "complete": True, "silent": []}))
        self.succeed("jobs", *where)

    def test_what_the_cluster_refuses_is_1(self):
        api, where = self.fake_api()
        for status, message in ((409, 'the token "t" is that of job 7'), (404, "there is no job 9"),
                                (422, "not valid"), (503, "busy")):
            api.on("POST", "/v1/jobs", problem(status, message))
            done = self.muster("submit", "--token", "t", *where, "--", "true")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(message, done.stderr)

    def test_the_cluster_of_the_environment_is_the_one_that_is_started(self):
        # A file in the place of the folder: nothing starts, and the message says where it would.
        with open(self.path("elsewhere"), "w", encoding="utf-8"):
            os.environ["MUSTER_CLUSTER"] = self.path("elsewhere")
        self.addCleanup(os.environ.pop, "MUSTER_CLUSTER")
        done = self.muster("up")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(self.path("elsewhere"), done.stderr)

    def test_the_cluster_of_the_environment_is_the_one_that_is_ended(self):
        os.environ["MUSTER_CLUSTER"] = self.path("elsewhere")
        self.addCleanup(os.environ.pop, "MUSTER_CLUSTER")
        for folder, words in (("elsewhere", ["down"]), ("other", ["down", "--dir", "other"])):
            assert_golden(self, self.assert_refused(2, [self.path(folder)], *words))


if __name__ == "__main__":
    unittest.main()
