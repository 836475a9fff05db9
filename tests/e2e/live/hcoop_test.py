"""HCoop on three sites and three masters: jobs are sorted, routed, packed and run, also when a site
and a master die while they flow."""

import json
import random
import threading
import time
import unittest
import urllib.error
import urllib.request
import uuid

from cluster import Cluster, Witness

JOBS = 500
PLACES = {"tokyo": "35.68,139.69", "oslo": "59.91,10.75", "austin": "30.27,-97.74"}


class HcoopCluster(Cluster):
    def __init__(self, *settings, each=3):
        """So many sites and masters."""
        super().__init__("worker.stop_grace=1s", "link.timeout=3s", "classify.threshold=30s",
                         "classify.retrain_after=100", *settings,
                         policy="hcoop,period_s=1,idle_release_s=2", nodes=2 * each + 1,
                         delay_scale=0.002)
        self.flags += ["--sites", str(each), "--masters", str(each)]

    def post(self, path, document):
        client = json.loads((self.dir / "client.json").read_text())
        token = (self.dir / "token").read_text().strip()
        request = urllib.request.Request(
            client["api"] + path, json.dumps(document).encode(),
            {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
        until = time.monotonic() + 30
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as refused:
                # The tokens in the document make it safe to send it again.
                if refused.code != 503 or time.monotonic() > until:
                    raise
                time.sleep(0.5)

    def start(self, *words):
        """Submits a command with its flags; the job's id."""
        return self.run("submit", "--quiet", *words).stdout.strip()


class Flow(unittest.TestCase):
    def submit_all(self, cluster, witness, jobs):
        """In batches of ten, from all over the world; some of several tasks."""
        chance = random.Random(7)
        for first in range(0, JOBS, 10):
            batch = []
            for number in range(first, first + 10):
                long = number % 10 == 0
                work = "sleep 2" if long else f"sleep {chance.uniform(0, 0.3):.2f}"
                batch.append({
                    "command": ["/bin/sh", "-c", witness.script(work)], "name": f"j{number}",
                    "tasks": 3 if number % 4 == 0 else 1, "retries": 20,
                    "cpus": 0.5 if number % 2 else 0.1, "memory_gib": 0.1 if number % 2 else 0.5,
                    "runtime_hint_s": 60 if long else 1, "token": f"t{number}",
                    "from": chance.choice(list(PLACES.values()))})
            jobs += [entry["job"] for entry in cluster.post("/v1/jobs", {"jobs": batch})["jobs"]]

    def test_nothing_is_lost_when_a_site_and_a_master_die(self):
        with HcoopCluster() as cluster:
            witness = Witness(cluster.dir / "witness")
            jobs = []
            flow = threading.Thread(target=self.submit_all, args=(cluster, witness, jobs))
            flow.start()
            cluster.wait_until("jobs flow", lambda: len(jobs) >= JOBS // 5)
            cluster.kill(cluster.node("n1"))  # the site of oslo
            cluster.kill(cluster.node("n4"))  # the second master
            flow.join(120)
            self.assertFalse(flow.is_alive())
            self.assertEqual(len(set(jobs)), JOBS)
            over = cluster.wait_over(jobs, timeout=300)
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})
            self.assertEqual(sum(job["finished"] for job in over.values()),
                             sum(3 if n % 4 == 0 else 1 for n in range(JOBS)))
            self.assertEqual(witness.beside(), [])
            self.take_their_parts(cluster, over)

    def take_their_parts(self, cluster, over):
        """Under a load that all masters call heavy a job goes whole to one of them. Once that is
        over jobs are split, also between masters and sites that have died and come back."""
        masters = set()
        split = False

        def see(job):
            nonlocal split
            masters.update(job["master"].split(", "))
            split = split or "," in job["master"]

        for job in over.values():
            see(job)
        until = time.monotonic() + 60
        while not split or masters != {"m0", "m1", "m2"}:
            self.assertLess(time.monotonic(), until, f"split: {split}; had jobs: {masters}")
            calm = cluster.post("/v1/jobs", {"jobs": [
                {"command": ["true"], "tasks": 3, "cpus": 0.1, "token": uuid.uuid4().hex,
                 "from": place} for place in PLACES.values()]})
            ended = cluster.wait_over([entry["job"] for entry in calm["jobs"]])
            for job in ended.values():
                see(job)

    def test_short_jobs_that_are_well_known_go_to_spot_instances_and_long_ones_do_not(self):
        with HcoopCluster("classify.by=hint", "classify.min_samples=5", "classify.p_threshold=0.5",
                          "classify.eps=1") as cluster:
            for _ in range(12):
                cluster.run("submit", "--runtime", "5s", "--memory", "0.2", "--name", "short",
                            "--wait", "--", "sleep", "0.3")
            short = cluster.start("--runtime", "5s", "--memory", "0.2", "--name", "short", "--",
                                  "sleep", "3")
            long = cluster.start("--runtime", "60s", "--memory", "0.2", "--name", "long", "--",
                                 "sleep", "3")
            cluster.wait_until("both run", lambda: all(
                cluster.job(job)["running"] == 1 for job in (short, long)))
            market = {instance["instance"]: instance["market"]
                      for instance in cluster.ask("instances")["instances"]}
            self.assertEqual(market[cluster.job(short)["tasks"][0]["instance"]], "spot")
            self.assertEqual(market[cluster.job(long)["tasks"][0]["instance"]], "on-demand")


class Packing(unittest.TestCase):
    @staticmethod
    def three_pairs(cluster):
        pair = [{"command": ["sleep", "20"], "cpus": 1.5, "memory_gib": 0.5},
                {"command": ["sleep", "20"], "cpus": 0.5, "memory_gib": 3}]
        jobs = [{**job, "token": uuid.uuid4().hex} for job in pair * 3]
        return [entry["job"] for entry in cluster.post("/v1/jobs", {"jobs": jobs})["jobs"]]

    @staticmethod
    def all_run(cluster, jobs):
        return all(cluster.job(job)["running"] == 1 for job in jobs)

    def test_complementary_tasks_share_an_instance(self):
        """One asks for most of the cores, the other for most of the memory. With several masters
        it would be chance which of them get both kinds."""
        with HcoopCluster("master.fleet=[\"3*c7i.large\"]", "classify.by=none", each=1) as cluster:
            cluster.wait_until("the fleet is there",
                               lambda: len(cluster.ask("instances")["instances"]) == 3)
            jobs = self.three_pairs(cluster)
            cluster.wait_until("all of them run", lambda: self.all_run(cluster, jobs))
            self.assertEqual({job["state"] for job in cluster.wait_over(jobs).values()},
                             {"completed"})


class FirstJob(unittest.TestCase):
    def test_is_shared_as_any_other_when_the_cluster_has_just_come_up(self):
        with HcoopCluster() as cluster:
            for _ in range(2):
                job = cluster.start("--from", "59.3,18.1", "--runtime", "20s", "--tasks", "4",
                                    "--cpus", "0.5", "--memory", "0.5", "--", "sleep", "30")
                self.assertIn(", ", cluster.job(job)["master"])
                cluster.run("cancel", job)
                cluster.run("down", "--dir", cluster.dir)
                cluster.up()


if __name__ == "__main__":
    unittest.main()
