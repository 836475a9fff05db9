"""muster market: ticks to a file for cloud.prices, and what such a file is like."""

import os
import unittest

from fixture import MusterTest, SOURCE, assert_golden

TICKS = "timestamp_utc,instance_type,availability_zone,usd_per_hour\n"
PRICES = "time_s,type,market,zone,price_usd_h,available\n"


class Market(MusterTest):
    def catalog(self, cpus=2):
        return self.write("types.csv", "name,family,gpu,cpu,memory_gib,usd_per_hour,"
                          "spot_usd_per_hour,acquire_s,setup_s,terminate_s\n"
                          f"m4.large,m4,1,{cpus},8,0.1,0.02,95,0,0\n")

    def test_ticks_become_a_file_that_can_be_described(self):
        ticks = self.write("ticks.csv", TICKS + "2017-06-05T00:00:10Z,m4.large,us-west-2a,0.03\n"
                           "2017-06-05T00:00:00Z,m4.large,us-west-2a,0.2\n")
        prices = self.succeed("market", "convert", ticks)
        self.assertEqual(prices, PRICES + "0,m4.large,spot,a,0.2000,1\n"
                         "10,m4.large,spot,a,0.0300,1\n")
        text = self.succeed("market", "describe", self.write("p.csv", prices), "--catalog",
                            self.catalog())
        self.assertIn("m4.large", text)

    def test_days_without_ticks_are_said_to_be_so(self):
        ticks = self.write("ticks.csv", TICKS + "2017-06-05T00:00:10Z,m4.large,us-west-2a,0.03\n")
        self.assert_refused_at(1, "ticks.csv", "market", "convert", ticks, "--from", "2018-01-01")
        self.assert_refused_at(1, "ticks.csv", "market", "convert", ticks, "--to", "2017-01-01")
        self.assert_refused_at(2, (), "market", "convert", ticks, "--from", "2018-01-01", "--to",
                               "2018-01-01")

    def test_no_file_is_made_that_could_not_be_read(self):
        ticks = self.write("ticks.csv", TICKS + "2001-06-05T00:00:10Z,m4.large,us-west-2a,0.03\n"
                           "2017-06-05T00:00:10Z,m4.large,us-west-2a,0.03\n")
        self.assert_refused(1, ["ticks.csv", "3660", "--from"], "market", "convert", ticks)
        self.assert_refused(2, ["3660"], "market", "generate", "--stats", ticks, "--ticks", ticks,
                            "--catalog", self.catalog(), "--region", "us-west-2", "--family", "m4",
                            "--from", "0001-01-01", "--to", "9999-01-01", "--out", "made.csv")

    def generate(self, first, last):
        stats = self.write("stats.csv", "week_end_utc,instance_type,region,availability_zone,"
                           "min_usd,max_usd,mean_usd,variance,ticks_at_or_over_ondemand,ticks\n"
                           "2017-08-12,m4.large,us-west-2,us-west-2a,0.02,0.05,0.03,0.0001,0,30\n")
        ticks = self.write("ticks.csv", TICKS + "".join(
            f"2017-08-{day:02}T{hour:02}:00:10Z,m4.large,us-west-2a,{0.02 + hour / 1000}\n"
            for day in range(5, 25) for hour in range(24)))
        return ("market", "generate", "--stats", stats, "--ticks", ticks, "--catalog",
                self.catalog(), "--region", "us-west-2", "--family", "m4", "--from", first,
                "--to", last, "--out", os.path.join(self.folder, "made.csv"))

    def test_days_of_which_nothing_is_known_make_no_market(self):
        for first, last in (("1999-01-01", "1999-01-08"), ("2030-01-01", "2030-01-08")):
            self.assert_refused(1, ["stats.csv: has weeks from 2017-08-05 to 2017-08-12",
                                    f"they are {first} to {last}"], *self.generate(first, last))

    def test_days_that_are_made_after_others_are_said(self):
        run = self.muster(*self.generate("2017-08-05", "2017-08-20"))
        self.assertEqual(run.returncode, 0, run.stderr)
        assert_golden(self, run.stderr)
        run = self.muster(*self.generate("2017-08-05", "2017-08-12"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_file_without_spot_prices_is_not_described(self):
        prices = self.write("p.csv", PRICES + "0,m4.large,on-demand,,0.1,1\n")
        self.assert_refused_at(1, "p.csv", "market", "describe", prices, "--catalog",
                               self.catalog())

    def test_lengths_of_time_are_not_days_and_are_said(self):
        prices = self.write("p.csv", PRICES + "0,m4.large,spot,a,0.1,1\n")
        self.assert_refused_at(2, (), "market", "describe", prices, "--catalog", self.catalog(),
                               "--from", "2017-06-05")

    def test_a_type_without_vcpus_has_no_cost_of_one(self):
        prices = self.write("p.csv", PRICES + "0,m4.large,spot,a,0.1,1\n")
        self.assert_refused(1, ["types.csv", "m4.large has no vCPUs"], "market", "describe", prices,
                            "--catalog", self.catalog(cpus=0))


class Interruptions(MusterTest):
    """Spot instances that are taken back before anything on them could be saved."""

    def test_work_that_is_lost_each_time_goes_on_demand_and_ends(self):
        self.write("jobs.csv", "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class,"
                   "stop_s,upload_s\n" + "".join(
                       f"{job},{60 * job},ada,a,1,0,4,8,3600,x,500,0\n" for job in (1, 2, 3)))
        config = self.config("r.toml", "jobs.csv",
                             catalog=os.path.join(SOURCE, "config/catalogs",
                                                  "ec2-spot-2022-05-31.csv"),
                             more='[cloud]\ninterruptions_per_h = 100\nnotice = "2min"\n')
        for policy in ("stratus", "spot-fleet", "supercloud"):
            [run] = self.runs(config, "--policy", policy)
            with self.subTest(policy):
                self.assertEqual(run["jobs_completed"], 3)
                self.assertGreater(run["interruptions"], 3)
                self.assertLessEqual(run["migrations_per_task"], 5)


if __name__ == "__main__":
    unittest.main()
