"""Usage of tasks: live, as `muster top` shows it, and kept with those that have ended."""

import json
import unittest
import urllib.error
import urllib.request

from cluster import Cluster

HOLDS_50_MIB = "dd if=/dev/zero bs=50M count=1 2>/dev/null | sleep 1000"
SPINS = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"


class Usage(unittest.TestCase):
    def test_usage_of_tasks(self):
        with Cluster(nodes=1, masters=1) as cluster:
            self.cluster = cluster
            self.running_tasks()
            self.whose_tasks()
            self.tasks_that_have_ended()

    def top(self, *words):
        return json.loads(self.cluster.run("top", "--json", *words).stdout)["tasks"]

    def running_tasks(self):
        cluster = self.cluster
        spins = int(cluster.shell("while :; do :; done", "--name", "spins", "--user", "ann"))
        holds = int(cluster.shell(HOLDS_50_MIB, "--name", "holds", "--user", "bob", "--memory",
                                  "1G"))
        seen = {}

        def both_are_measured():
            seen.update({task["job"]: task for task in self.top()})
            return ((seen.get(spins) or {}).get("cores") or 0) > 0.02 and \
                ((seen.get(holds) or {}).get("peak_mib") or 0) >= 50
        cluster.wait_until("both are measured", both_are_measured)
        self.assertEqual(seen[holds]["user"], "bob")
        self.assertEqual(seen[holds]["asked"]["memory"], 1)
        self.assertGreater(seen[spins]["cpu_s"], 0)
        self.assertLess(seen[spins]["peak_mib"], 40)
        self.assertEqual([task["job"] for task in self.top("--user", "bob")], [holds])
        self.assertEqual([task["job"] for task in self.top(f"{spins}:0")], [spins])
        self.assertEqual(self.top(f"{spins}:7"), [])
        shown = cluster.run("top", "--once").stdout.splitlines()
        self.assertTrue(shown[0].startswith("2 running tasks: "), shown)
        self.assertEqual({line.split()[0] for line in shown[2:]}, {f"{spins}:0", f"{holds}:0"})
        cluster.run("cancel", spins, holds)
        cluster.wait_over([spins, holds])
        self.assertEqual(self.top(), [])
        job = json.loads(cluster.run("job", holds, "--json").stdout)
        self.assertGreaterEqual(job["peak_mib"], 50, "of one that was stopped, too")

    def whose_tasks(self):
        cluster = self.cluster
        made = json.loads(cluster.run("token", "create", "anns", "--role", "user", "--user", "ann",
                                      "--json").stdout)
        client = json.loads((cluster.dir / "client.json").read_text())
        jobs = [cluster.shell("sleep 1000", "--user", user) for user in ("ann", "bob")]
        cluster.wait_until("both run", lambda: len(self.top()) == 2)

        def ask(query):
            asked = urllib.request.Request(client["api"] + "/v1/usage" + query, headers={
                "Authorization": "Bearer " + made["secret"]})
            try:
                with urllib.request.urlopen(asked, timeout=60) as answer:
                    return answer.status, json.loads(answer.read())["tasks"]
            except urllib.error.HTTPError as refused:
                return refused.code, None
        self.assertEqual([task["user"] for task in ask("")[1]], ["ann"])
        self.assertEqual(ask(f"?job={jobs[1]}"), (200, []))
        self.assertEqual(ask("?user=bob")[0], 403)
        self.assertEqual(ask("?after=x")[0], 422)
        cluster.run("cancel", *jobs)
        cluster.wait_over(jobs)

    def tasks_that_have_ended(self):
        cluster = self.cluster
        job = cluster.shell(f"{SPINS}; dd if=/dev/zero of=/dev/null bs=50M count=1",
                            "--tasks", "2", "--memory", "1G")
        cluster.wait_over([job])
        said = json.loads(cluster.run("job", job, "--json").stdout)
        self.assertEqual(said["state"], "completed")
        for task in said["tasks"]:
            self.assertGreater(task["cpu_s"], 0)
            self.assertGreaterEqual(task["peak_mib"], 50)
        self.assertAlmostEqual(said["cpu_s"], sum(task["cpu_s"] for task in said["tasks"]), 3)
        self.assertEqual(said["peak_mib"], max(task["peak_mib"] for task in said["tasks"]))
        text = cluster.run("job", job).stdout
        for word in ("CPU TIME", "PEAK MIB", "of the 1024 MiB that a task asks for"):
            self.assertIn(word, text)
        attempts = json.loads(cluster.run("job", job, "--attempts", "--json").stdout)
        for task in attempts["tasks"]:
            self.assertEqual(task["attempts"][0]["peak_mib"], task["peak_mib"])
        self.assertIn("PEAK MIB", cluster.run("job", job, "--attempts").stdout)


if __name__ == "__main__":
    unittest.main()
