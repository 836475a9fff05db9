"""Every flag of `muster up` on a cluster that is there: what it asks for is made, and said, or
refused with what holds and how to change it."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from cluster import Cluster, MUSTER, assert_golden, line_with, plain

DOWN_FIRST = "`muster down` first, then `muster up "


def muster(*words):
    return subprocess.run([MUSTER, *map(str, words)], capture_output=True, text=True, timeout=120)


class Taken:
    """A port of this machine that somebody else has."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        return self.socket.getsockname()[1]

    def __exit__(self, *error):
        self.socket.close()


def free_port():
    with Taken() as port:
        return port


def flags_of_up():
    return set(re.findall(r"--[a-z-]+", "\n".join(
        line.split("  ")[1] for line in muster("up", "--help").stdout.splitlines()
        if line.startswith("  -")))) - {"--help"}


class EveryFlag(unittest.TestCase):
    def test_is_applied_and_said_or_refused_with_what_holds(self):
        with Cluster(nodes=1) as cluster:
            types = cluster.dir / "types.csv"
            shutil.copy(cluster.dir / self.settings(cluster)["catalog"], types)
            prices = cluster.dir / "prices.csv"
            prices.write_text("time_s,type,market,zone,price_usd_h,available\n"
                              "0,c7i.large,on-demand,,0.1,1\n")
            port = free_port()
            self.while_it_runs(cluster, types, prices, port)
            cluster.run("down", "--dir", cluster.dir)
            self.while_it_is_down(cluster, types, prices, port)

    @staticmethod
    def settings(cluster):
        text = (cluster.dir / "cluster.toml").read_text()
        return {key: value.strip("\"'") for key, value in
                re.findall(r"^([a-z_]+) = (.*)$", text, re.M)}

    def while_it_runs(self, cluster, types, prices, port):
        before = (cluster.dir / "cluster.toml").read_text()
        roles = "the cluster here has 1 site, 1 master and 1 node; `muster down --erase`"
        # Exit code and what is said, by flag and value.
        table = {
            ("--dir",): (0, ""),
            ("--wait", 30): (0, ""),
            ("--json",): (0, ""),
            ("--quiet",): (0, ""),
            ("--sites", 2): (2, roles),
            ("--masters", 2): (2, roles),
            ("--nodes", 3): (2, roles),
            ("--policy", "no-packing"):
                (1, f"policy eva,period_s=0.5: {DOWN_FIRST}--policy no-packing`"),
            ("--catalog", types): (1, f"local-types.csv: {DOWN_FIRST}--catalog {types}`"),
            ("--prices", prices): (1, f"prices of the catalog: {DOWN_FIRST}--prices {prices}`"),
            ("--price-speed", 60): (2, "--price-speed needs --prices"),
            ("--delay-scale", 0.5): (1, f"delay scale 0.002: {DOWN_FIRST}--delay-scale 0.5`"),
            ("--api-port", port): (1, f": {DOWN_FIRST}--api-port {port}`"),
            ("--caps", "instances=3"): (1, f" a day: {DOWN_FIRST}--caps instances=3`"),
            ("--set", "worker.stop_grace=7s"):
                (1, f"worker.stop_grace = '30s': {DOWN_FIRST}--set worker.stop_grace=7s`"),
            ("--join", "10.0.0.1"): (2, "no machines join the cluster here; `muster down --erase`"),
            ("--rent",): (2, "--rent needs --join"),
            ("--new-store",): (1, DOWN_FIRST + "--new-store`"),
        }
        self.assertEqual({words[0] for words in table}, flags_of_up())
        for words, (code, said) in table.items():
            with self.subTest(flag=words[0]):
                flags = () if words == ("--dir",) else words
                done = cluster.run("up", "--dir", cluster.dir, *flags, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(said, done.stderr)
                if code != 0:
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        # What holds already may be asked for.
        same = ["--policy", "eva,period_s=0.5", "--delay-scale", "0.002", "--nodes", "1", "--set",
                "worker.stop_grace=30s"]
        cluster.run("up", "--dir", cluster.dir, *same)
        self.assertEqual((cluster.dir / "cluster.toml").read_text(), before)

    def while_it_is_down(self, cluster, types, prices, port):
        asked = {"--policy": "no-packing", "--catalog": types, "--delay-scale": "0.003",
                 "--api-port": port, "--caps": "instances=3", "--set": "worker.stop_grace=7s"}
        market = f"--prices {prices} --price-speed 60"
        words = [word for pair in asked.items() for word in pair] + market.split()
        done = cluster.run("up", "--dir", cluster.dir, *words, "--new-store")
        for flag, value in asked.items():
            self.assertIn(f"Changed: {flag} {value} (it had ", done.stdout)
        assert_golden(self, plain(line_with(done.stdout, market), prices=prices))
        self.assertIn("Changed: --new-store", done.stdout)
        holds = self.settings(cluster)
        self.assertEqual((holds["policy"], holds["catalog"], holds["delay_scale"]),
                         ("no-packing", types.name, "0.003"))  # in the cluster's folder
        self.assertEqual((holds["max_instances"], holds["stop_grace"]), ("3", "7s"))
        self.assertEqual(json.loads((cluster.dir / "client.json").read_text())["api"],
                         f"http://127.0.0.1:{port}")
        self.assertTrue(cluster.ask("status")["complete"])
        self.assertEqual((holds["provider"], holds["prices"], holds["prices_speed"]),
                         ("trace", prices.name, "60"))
        again = cluster.run("up", "--dir", cluster.dir, *words, "--json")
        self.assertEqual(json.loads(again.stdout)["changed"], [])


class AtOnce(unittest.TestCase):
    def test_several_make_one_cluster_and_all_say_where_it_is(self):
        with tempfile.TemporaryDirectory(prefix="mu", dir="/tmp") as folder:
            place = pathlib.Path(folder) / "a" / "cluster"
            words = [MUSTER, "up", "--dir", place, "--nodes", "1", "--delay-scale", "0.002"]
            try:
                for _ in range(2):  # a folder that is not there, and a cluster that is down
                    all_of = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True,
                                               stderr=subprocess.PIPE) for _ in range(3)]
                    ends = [(*each.communicate(timeout=120), each.returncode) for each in all_of]
                    self.assertEqual([code for _, _, code in ends], [0, 0, 0], ends)
                    for told, _, _ in ends:
                        self.assertIn(f"The cluster in {place} is up", told)
                    self.assertEqual(len({told for told, _, _ in ends}), 1)
                    self.assertEqual(muster("down", "--dir", place).returncode, 0)
            finally:
                muster("down", "--dir", place)


class BadSettings(unittest.TestCase):
    FLEETS = {
        "3*nope": ['"3*nope": the catalog has no type nope', "it has c7i.large, c7i.xlarge"],
        "nope": ["COUNT*TYPE"],
        "9*c7i.large": ["9 instances for the master are too many", "is 4 (master.max_instances)"],
        "4*c7i.4xlarge": ["cost $2.86 an hour", "is $2.00 (master.max_usd_h)"],
        "500*c7i.large": ["500 instances are too many", "(cloud.max_instances)"],
    }
    CAPS = ["--caps", "instances=4,usd_h=2", "--set", "cloud.max_instances=20"]

    def test_of_a_fleet_start_nothing(self):
        with tempfile.TemporaryDirectory(prefix="mu", dir="/tmp") as folder:
            place = pathlib.Path(folder) / "cluster"
            for fleet, words in self.FLEETS.items():
                with self.subTest(fleet=fleet):
                    done = muster("up", "--dir", place, "--nodes", 1, *self.CAPS, "--set",
                                  f"master.fleet={fleet}")
                    self.assertEqual(done.returncode, 2, done.stderr)
                    for word in [f"--set master.fleet={fleet}: ", "master.fleet", *words]:
                        self.assertIn(word, done.stderr)
                    self.assertFalse(place.exists())

    def test_in_the_file_are_named_by_it_before_anything_starts(self):
        with Cluster(nodes=1) as cluster:
            cluster.run("down", "--dir", cluster.dir)
            file = cluster.dir / "cluster.toml"
            good = file.read_text()
            bad = good.replace("[master]\n", '[master]\nfleet = ["3*nope"]\n')
            file.write_text(bad)
            done = cluster.run("up", "--dir", cluster.dir, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            line = bad[:bad.index("3*nope")].count("\n") + 1
            self.assertRegex(done.stderr, rf'^muster: {file}:{line}:\d+: master.fleet: "3\*nope"')
            self.assertEqual(file.read_text(), bad)
            file.write_text(good.replace("'eva,", "'evva,"))
            done = cluster.run("up", "--dir", cluster.dir, check=False)
            self.assertRegex(done.stderr, rf"^muster: {file}:\d+:\d+: .*did you mean 'eva'\?")
            file.write_text("# mine\n" + good)
            cluster.up()
            self.assertEqual(file.read_text(), "# mine\n" + good)

    def test_that_a_cluster_does_not_come_up_with_are_not_kept(self):
        with Cluster(nodes=1) as cluster, Taken() as port:
            file = cluster.dir / "cluster.toml"
            before = {path: path.read_text() for path in (file, cluster.dir / "client.json")}
            for flag in ("--caps", "--policy", "--catalog"):
                done = cluster.run("up", "--dir", cluster.dir, flag, "", check=False)
                self.assertEqual(done.returncode, 2)
                assert_golden(self, done.stderr, at=flag)
            cluster.run("up", "--dir", cluster.dir, "--wait", 0)
            cluster.run("down", "--dir", cluster.dir)
            bad = ["--api-port", port, "--set", "worker.stop_grace=7s"]
            done = cluster.run("up", "--dir", cluster.dir, *bad, "--wait", 60, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            assert_golden(self, plain(line_with(done.stderr, f"{file}.failed"), folder=cluster.dir))
            # Where it is said, and what: by the keeper and by the node itself.
            for log in ("keeper.log", "state/n0/node.log"):
                self.assertIn(f"\n{cluster.dir}/{log}:\n  ", done.stderr)
            self.assertIn(f":{port}", pathlib.Path(f"{file}.failed").read_text())
            self.assertEqual({path: path.read_text() for path in before}, before)
            cluster.up()
            cluster.run("down", "--dir", cluster.dir)
            self.killed_in_between(cluster, port)

    def killed_in_between(self, cluster, port):
        """After the new settings had been put in place, before anybody knew what came of them."""
        file = cluster.dir / "cluster.toml"
        kept = pathlib.Path(f"{file}.before")
        good = file.read_text()
        kept.write_text(good)
        file.write_text(re.sub(r"(?m)^api = .*", f'api = "127.0.0.1:{port}"', good))
        done = cluster.run("up", "--dir", cluster.dir, "--wait", 60, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(file.read_text(), good)
        kept.write_text(good)
        cluster.up()
        self.assertFalse(kept.exists(), "it has come up with what holds")


class Ends(unittest.TestCase):
    def test_several_may_end_a_cluster_at_once_and_one_that_starts(self):
        with Cluster(nodes=1) as cluster:
            command = [MUSTER, "down", "--dir", str(cluster.dir)]
            downs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
                     for _ in range(4)]
            for down in downs:
                said = down.communicate(timeout=120)[1]
                self.assertEqual(down.returncode, 0, said)
            up = subprocess.Popen([MUSTER, "up", "--dir", str(cluster.dir), "--wait", "600"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            cluster.wait_until("it starts", lambda: cluster.keeper() is not None)
            self.assertEqual(muster("down", "--dir", cluster.dir).returncode, 0)
            said = up.communicate(timeout=120)[1]
            if up.returncode != 0:  # it may have been up already
                self.assertIn("it was ended while it started", said)


if __name__ == "__main__":
    unittest.main()
