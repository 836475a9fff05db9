"""A market whose prices move: instances are billed at the price of the moment and taken back when
they cost more than was bid, and the market goes on when nodes die.

The long form: MUSTER_MARKET_JOBS=300 MUSTER_MARKET_S=900 python3 -m unittest market_test.Market
(docs/research/appendix/stratus.md). MUSTER_MARKET_PRICES is then a file of m4 to
take instead of a made one.
"""

import csv
import gzip
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time
import tomllib
import unittest

from cluster import MUSTER, Cluster, Witness, assert_golden, plain

JOBS = int(os.environ.get("MUSTER_MARKET_JOBS", "40"))
SPAN_S = float(os.environ.get("MUSTER_MARKET_S", "45"))  # in which they are submitted
PRICES = os.environ.get("MUSTER_MARKET_PRICES")
SEED = int(os.environ.get("MUSTER_MARKET_SEED", "1"))

CATALOG = (pathlib.Path(__file__).resolve().parents[3]
           / "config/catalogs/ec2-m4-us-west-2-2017.csv")
SPEED = 60
DELAY_SCALE = 0.02
NOTICE_S = 120 * DELAY_SCALE
ROUNDING_USD = 1e-9
HEADER = "time_s,type,market,zone,price_usd_h,available\n"


def catalog():
    """{type: what an hour costs on demand, on spot}"""
    with open(CATALOG, newline="") as file:
        return {row["name"]: (float(row["usd_per_hour"]), float(row["spot_usd_per_hour"]))
                for row in csv.DictReader(file)}


def made_prices(chance, spikes_every_s):
    """Two zones a type, which change every now and then, each for itself, and rise above the price
    on demand together; times as a clock shows them."""
    rows = []
    for kind, (on_demand, _) in catalog().items():
        spikes = []
        at = chance.uniform(0.3, 1) * spikes_every_s
        while at < 3 * SPAN_S + 300:
            spikes.append((at, at + chance.uniform(4, 9)))
            at += chance.uniform(0.5, 1.5) * spikes_every_s
        for zone in ("a", "b"):
            at = 0.0
            while at < 3 * SPAN_S + 300:
                dear = any(begin <= at < end for begin, end in spikes)
                share = chance.uniform(1.1, 2) if dear else chance.uniform(0.15, 0.4)
                rows.append((round(at * SPEED), kind, zone, f"{share * on_demand:.4f}"))
                # No step over the edge of a spike.
                edges = [edge for spike in spikes for edge in spike if edge > at + 0.01]
                at = min([at + chance.uniform(0.5, 5), *edges])
    return HEADER + "".join(f"{at},{kind},spot,{zone},{price},1\n"
                            for at, kind, zone, price in sorted(rows))


class Series:
    """What everything costs at each moment of a cluster, by the file alone."""

    def __init__(self, folder):
        cloud = tomllib.loads((folder / "cluster.toml").read_text())["cloud"]
        assert cloud["prices_start"].endswith("ns") or "." not in cloud["prices_start"]
        units = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
        text = cloud["prices_start"]
        unit = next(unit for unit in units if text.removesuffix(unit).isdigit())
        self.start_ns = int(text.removesuffix(unit)) * units[unit]
        self.speed = cloud["prices_speed"]
        opened = gzip.open if cloud["prices"].endswith(".gz") else open
        self.steps = {}  # {(type, zone): [(ns, price)]}, with the zone "" for whichever
        zones = {}
        with opened(cloud["prices"], "rt", newline="") as file:
            for row in csv.DictReader(file):
                at = self.start_ns + round(float(row["time_s"]) / self.speed * 1e9)
                price = float(row["price_usd_h"])
                kind, zone = row["type"], row["zone"]
                assert row["market"] == "spot" and row["available"] == "1"
                self.steps.setdefault((kind, zone), []).append((at, price))
                zones.setdefault(kind, {})[zone] = price
                cheapest = min(zones[kind].values())
                whichever = self.steps.setdefault((kind, ""), [])
                if zone and (not whichever or whichever[-1][1] != cheapest):
                    whichever.append((at, cheapest))

    def pieces(self, rented, until_ns):
        """[(from, until, price)] of an instance, while it was billed."""
        if rented["market"] != "spot":
            price = catalog()[rented["type"]][0]
            return [(ns(rented["up_at_s"]), until_ns, price)]
        steps = self.steps[rented["type"], rented["zone"]]
        ends = [at for at, _ in steps[1:]] + [10**30]
        begin = ns(rented["up_at_s"])
        return [(max(at, begin), min(end, until_ns), price)
                for (at, price), end in zip(steps, ends) if end > begin and at < until_ns]

    def bill(self, rented):
        return sum(price * (until - begin) / 3600e9
                   for begin, until, price in self.pieces(rented, ns(rented["gone_at_s"])))

    def changes(self, begin_ns, end_ns):
        """How often anything has come to cost something else in that time."""
        return sum(begin_ns < at <= end_ns for (_, zone), steps in self.steps.items()
                   for at, _ in steps if zone)

    def price(self, rented, at_ns):
        return [price for at, price in self.steps[rented["type"], rented["zone"]]
                if at <= at_ns][-1]


def ns(seconds):
    return round(seconds * 1e9)


class MarketCluster(Cluster):
    """A site, a master and the cloud, on nodes of their own."""

    def __init__(self, prices, *settings, policy="stratus,period_s=2", speed=SPEED):
        super().__init__("worker.stop_grace=1s", *settings, policy=policy, nodes=3,
                         delay_scale=DELAY_SCALE)
        self.flags += ["--sites", "1", "--masters", "1", "--caps", "none", "--catalog", CATALOG,
                       "--prices", prices, "--price-speed", speed]

    def rented(self):
        """All instances that ever were, as the cloud has them on record."""
        lines = self.run("store", "dump", self.dir / "state/n2/cloud", "--what",
                         "instances").stdout.splitlines()
        return [json.loads(line) for line in lines]


class Market(unittest.TestCase):
    def test_jobs_flow_while_instances_are_taken_back_and_the_master_dies(self):
        chance = random.Random(SEED)
        with tempfile.TemporaryDirectory(prefix="mp", dir="/tmp") as folder:
            prices = pathlib.Path(PRICES or f"{folder}/prices.csv")
            if not PRICES:
                prices.write_text(made_prices(chance, 30 if JOBS < 100 else 120))
            with MarketCluster(prices) as cluster:
                witness = Witness(cluster.dir / "witness")
                jobs = self.submit_all(cluster, witness, chance)
                over = cluster.wait_over(jobs, timeout=SPAN_S + 300)
                self.assertEqual({job["state"] for job in over.values()}, {"completed"})
                self.assertEqual(witness.beside(), [])
                self.check_ends(cluster, witness, jobs)
                cluster.wait_until("all instances are given back",
                                   lambda: cluster.ask("instances")["instances"] == [], 90)
                self.check(cluster)

    def check_ends(self, cluster, witness, jobs):
        """Each task came to its end once. One whose instance was taken back while the master was
        dead had nobody left to tell, and its work was done again: its attempt counts as lost."""
        ends = witness.ends()
        self.assertEqual(set(ends), {f"{job}.0" for job in jobs})
        for job in (job for job in jobs if ends[f"{job}.0"] > 1):
            ended = {int(attempt) for word, task, attempt in map(str.split, witness.lines())
                     if word == "end" and task == f"{job}.0"}
            attempts = cluster.ask("job", job, "--attempts")["tasks"][0]["attempts"]
            said = {one["attempt"]: one["end"] for one in attempts}
            last = max(ended)
            self.assertEqual({said[attempt] for attempt in ended - {last}}, {"lost"}, attempts)
            self.assertEqual(said[last], "finished", attempts)
        # Of the few instances that were taken back meanwhile.
        self.assertLessEqual(sum(count - 1 for count in ends.values()), 4)

    def submit_all(self, cluster, witness, chance):
        """Evenly over the time, and kills the master halfway."""
        begun = time.monotonic()
        jobs = []
        for number in range(JOBS):
            if number == JOBS // 2:
                master = cluster.node("n1")
                cluster.kill(master)
            longest = 10 if JOBS < 100 else 60
            run_s = chance.uniform(2, longest)
            work = f"head -c 5000000 /dev/zero | sha256sum >/dev/null; sleep {run_s:.1f}"
            jobs.append(cluster.shell(witness.script(work), "--cpus", chance.choice([1, 1, 2, 4]),
                                      "--memory", chance.choice([1, 2, 4]), "--runtime",
                                      f"{run_s:.0f}s"))
            until = begun + (number + 1) * SPAN_S / JOBS
            time.sleep(max(0, until - time.monotonic()))
        self.assertNotIn(cluster.node("n1"), (None, master))
        return jobs

    def check(self, cluster):
        """Bill, ledger and the sum over the series are one; who was taken back cost too much."""
        series = Series(cluster.dir)
        rented = [each for each in cluster.rented() if each["up_at_s"]]
        apart = []
        for each in rented:
            with self.subTest(instance=each):
                difference = abs(each["billed_usd"] - series.bill(each))
                if difference > ROUNDING_USD:
                    apart.append(difference)
                    self.assertLess(difference, self.of_one_late_change(series, each))
                self.check_interruption(series, each)
        noticed = [each for each in rented if each["notice_s"]]
        ledger = cluster.ask("cost", "--by", "user")["total_usd"]
        bill = sum(part["usd"] for part in cluster.ask("cost", "--by", "instance")["by"])
        summed = sum(series.bill(each) for each in rented)
        moved = sum(len(series.pieces(each, ns(each["gone_at_s"]))) - 1 for each in rented)
        print(f"{JOBS} jobs, {len(rented)} instances, {len(noticed)} of them taken back, "
              f"{series.changes(series.start_ns, time.time_ns())} changes of prices, {moved} of "
              f"what was rented; "
              f"ledger ${ledger:.9f}, bill ${bill:.9f}, sum over the series ${summed:.9f}; "
              f"{len(apart)} instances apart, by ${sum(apart):.9f}", flush=True)
        self.assertAlmostEqual(ledger, bill, delta=ROUNDING_USD)
        self.assertAlmostEqual(ledger, summed, delta=ROUNDING_USD * len(rented) + sum(apart))
        # Their number depends on how fast the disk is, the money that they are about does not.
        self.assertLessEqual(sum(apart), summed / 200)
        if not PRICES:
            self.assertGreater(len(noticed), 1)
            self.assertGreater(moved, len(rented), "prices move while instances are rented")

    @staticmethod
    def of_one_late_change(series, each):
        """What a bill may be apart by whose end was being written down when the price changed: that
        change does not count for it, and counts late for the others."""
        prices = [piece[2] for piece in series.pieces(each, ns(each["gone_at_s"]) + ns(0.1))]
        return (max(prices) - min(prices)) * 0.1 / 3600

    def check_interruption(self, series, each):
        """Taken back when it cost more than its bid, with the notice, and only then."""
        bid, slack_ns = each["max_price_usd_h"], ns(1)
        dear = [begin for begin, _, price in series.pieces(each, ns(each["gone_at_s"]))
                if each["market"] == "spot" and price > bid]
        if each["notice_s"]:
            # Its master may have ended it at once: then that is the reason of its end.
            self.assertIn(each["reason"], ("price", "ended"))
            late = ns(each["notice_s"] - NOTICE_S) - dear[0]
            self.assertTrue(-10**6 <= late < slack_ns, late)
            self.assertLess(ns(each["gone_at_s"]), ns(each["notice_s"]) + 5 * slack_ns)
        elif dear:
            self.assertLess(ns(each["gone_at_s"]) - dear[0], slack_ns, "it was about to be ended")


class Goes(unittest.TestCase):
    """Prices that tell the time: whatever is rented shows where the market is."""

    STEP_S = 2

    def prices(self, folder):
        file = pathlib.Path(folder) / "prices.csv"
        file.write_text(HEADER + "".join(
            f"{number * self.STEP_S * SPEED},{kind},spot,,{0.01 + number * 1e-5:.5f},1\n"
            for number in range(200) for kind in catalog()))
        return file

    def test_on_where_it_was_when_nodes_or_the_cluster_are_started_again(self):
        with tempfile.TemporaryDirectory(prefix="mp", dir="/tmp") as folder:
            with MarketCluster(self.prices(folder)) as cluster:
                began = (cluster.dir / "cluster.toml").read_text()
                cluster.wait_over([cluster.shell("true")])
                cluster.kill(cluster.node("n2"))
                cluster.wait_over([cluster.shell("true")])
                cluster.run("down", "--dir", cluster.dir)
                cluster.up()
                cluster.wait_over([cluster.shell("true")])
                self.assertEqual((cluster.dir / "cluster.toml").read_text(), began)
                cluster.wait_until("all instances are given back",
                                   lambda: cluster.ask("instances")["instances"] == [], 60)
                series = Series(cluster.dir)
                rented = cluster.rented()
                self.assertGreater(len(rented), 2)
                for each in rented:
                    with self.subTest(instance=each):
                        at = ns(each["gone_at_s"])
                        self.assertIn(each["price_usd_h"], [
                            series.price(each, at), series.price(each, at - ns(0.2))])
                self.assertGreater(series.price(rented[-1], ns(rented[-1]["up_at_s"])),
                                   rented[0]["price_usd_h"])


class BadPrices(unittest.TestCase):
    ROW = "0,m4.large,spot,a,0.03,1\n"
    FILES = {
        "0,m5.large,spot,a,0.03,1\n": ":2: type: the catalog has no type 'm5.large'",
        ROW + "0,m4.large,spott,a,0.03,1\n": ":3: market: has to be spot or on-demand",
        ROW + "0,m4.large,spot,,0.03,1\n": ":3: zone: m4.large has rows with zones before",
        ROW + "0,m4.large,spot,a,dear,1\n": ":3: price_usd_h: has to be a number",
        "": "prices.csv: has no rows",
    }

    def refused(self, folder, *flags):
        place = pathlib.Path(folder) / "cluster"
        done = subprocess.run([MUSTER, "up", "--dir", place, "--catalog", CATALOG,
                               *map(str, flags)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertFalse(place.exists())
        return done.stderr

    def test_start_nothing_and_are_named(self):
        with tempfile.TemporaryDirectory(prefix="mp", dir="/tmp") as folder:
            file = pathlib.Path(folder) / "prices.csv"
            for rows, said in self.FILES.items():
                file.write_text(HEADER + rows)
                with self.subTest(rows=rows):
                    self.assertIn(said, self.refused(folder, "--prices", file))
                    self.assertIn(f"--prices: {file}", self.refused(folder, "--prices", file))
            absent = pathlib.Path(folder) / "absent.csv"
            self.assertIn(f"--prices: {absent}: cannot be read",
                          self.refused(folder, "--prices", absent))
            file.write_text(HEADER + self.ROW)
            for speed in ("0.5", "100001", "nan", "-1"):
                said = self.refused(folder, "--prices", file, "--price-speed", speed)
                assert_golden(self, plain(said, folder=folder))
            self.assertIn("--price-speed", self.refused(folder, "--prices", file, "--price-speed",
                                                        "fast"))
            self.assertIn("--price-speed needs --prices",
                          self.refused(folder, "--price-speed", 60))


if __name__ == "__main__":
    unittest.main()
