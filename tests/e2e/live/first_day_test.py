"""What a new user does on the first day, on a cluster of five processes."""

import json
import os
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from cluster import Cluster, Witness, MUSTER, assert_golden


class TwoHundredJobs(unittest.TestCase):
    def run_all(self, policy):
        with Cluster(policy=policy) as cluster:
            witness = Witness(cluster.dir / "witness")
            plain = [cluster.shell(witness.script("true"), "--name", "plain", "--memory", "0.2",
                                   "--cpus", "0.5") for _ in range(150)]
            failing = [cluster.shell("echo oops >&2; exit 3", "--memory", "0.2",
                                     "--name", "failing") for _ in range(20)]
            retried = [cluster.shell('test "$MUSTER_ATTEMPT" -ge 2', "--retries", "2", "--memory",
                                     "0.2", "--name", "retried") for _ in range(28)]
            array = cluster.shell(witness.script("sleep 0.2"), "--array", "0-19%4", "--memory",
                                  "0.2", "--cpus", "0.5", "--name", "array")
            gang = cluster.shell(witness.script("sleep 1"), "--tasks", "4", "--gang", "--memory",
                                 "0.2", "--cpus", "0.5", "--name", "gang")
            over = cluster.wait_over(plain + failing + retried + [array, gang], timeout=300)
            self.assertEqual({over[int(job)]["state"] for job in plain}, {"completed"})
            self.assertEqual({over[int(job)]["state"] for job in failing}, {"failed"})
            self.assertEqual({over[int(job)]["exit_code"] for job in failing}, {3})
            self.assertEqual({over[int(job)]["state"] for job in retried}, {"completed"})
            self.assertEqual({over[int(job)]["failed_attempts"] for job in retried}, {1})
            self.assertEqual(over[int(array)]["finished"], 20)
            self.assertEqual(over[int(gang)]["finished"], 4)
            self.assertEqual(set(witness.ends().values()), {1})
            self.assertEqual(len(witness.ends()), 150 + 20 + 4)
            self.assertEqual(witness.beside(), [])
            self.assertLessEqual(self.most_at_once(witness, array), 4)
            self.assertEqual(cluster.run("logs", failing[0], "--err").stdout, "oops\n")
            cost = cluster.ask("cost", "--by", "user")
            self.assertGreater(cost["total_usd"], 0)
            parts = sum(cost["idle_usd"].values()) + cost["tasks_usd"]
            self.assertLessEqual(parts, cost["total_usd"] * (1 + 1e-9))
            cluster.wait_until("all instances are given back",
                               lambda: cluster.ask("instances")["instances"] == [], 60)
            self.assert_books_agree(cluster)

    @staticmethod
    def most_at_once(witness, job):
        begun, most = set(), 0  # a task that was moved begins again and has not ended before
        for line in witness.lines():
            word, task, *_ = line.split()
            if not task.startswith(f"{job}."):
                continue
            if word == "end":
                begun.discard(task)
            else:
                begun.add(task)
            most = max(most, len(begun))
        return most

    def assert_books_agree(self, cluster):
        """What the cloud has charged is what the ledgers have booked."""
        total = cluster.ask("cost", "--by", "user")["total_usd"]
        rented = sum(part["usd"] for part in cluster.ask("cost", "--by", "instance")["by"])
        self.assertAlmostEqual(total, rented, places=9)

    def test_under_no_packing(self):
        self.run_all("no-packing,period_s=0.5")

    def test_under_eva(self):
        self.run_all("eva,period_s=0.5")


class Submitting(unittest.TestCase):
    def test_waits_and_hands_on_the_exit_code_and_the_output(self):
        with Cluster(nodes=2) as cluster:
            good = cluster.run("submit", "--wait", "--memory", "0.2", "--", "echo", "hello")
            self.assertEqual(good.returncode, 0)
            bad = cluster.run("submit", "--wait", "--memory", "0.2", "--",
                              "/bin/sh", "-c", "exit 7", check=False)
            self.assertEqual(bad.returncode, 7)
            job = cluster.ask("jobs", "--state", "over")["jobs"][1]["job"]
            self.assertEqual(cluster.run("logs", job).stdout, "hello\n")

    def test_the_same_token_is_the_same_job(self):
        with Cluster(nodes=1) as cluster:
            words = ["submit", "--quiet", "--token", "once", "--memory", "0.2", "--", "true"]
            first = cluster.run(*words).stdout
            self.assertEqual(cluster.run(*words).stdout, first)
            cluster.wait_over([first])
            self.assertEqual(cluster.run(*words).stdout, first)

    def test_what_fits_nowhere_is_refused_with_the_numbers(self):
        with Cluster(nodes=1) as cluster:
            refused = cluster.run("submit", "--cpus", "1000", "--", "true", check=False)
            self.assertEqual(refused.returncode, 1)
            assert_golden(self, refused.stderr)
            self.assertEqual(cluster.ask("jobs")["jobs"], [])

    def test_a_held_job_waits_and_says_why_until_it_is_released(self):
        with Cluster("master.max_instances=1", nodes=1) as cluster:
            blocker = cluster.shell("sleep 3", "--cpus", "32", "--memory", "1")
            job = cluster.shell("true", "--cpus", "32", "--memory", "1")
            cluster.run("hold", job)
            cluster.wait_over([blocker])
            self.assertIn("held", cluster.run("explain", job).stdout)
            self.assertEqual(cluster.job(job)["state"], "held")
            cluster.run("release", job)
            self.assertEqual(cluster.wait_over([job])[int(job)]["state"], "completed")

    def test_a_cancelled_job_ends_and_its_task_with_it(self):
        with Cluster("worker.stop_grace=1s", nodes=1) as cluster:
            witness = Witness(cluster.dir / "witness")
            job = cluster.shell(witness.script("sleep 600"), "--memory", "0.2")
            cluster.wait_until("it runs", lambda: len(witness.lines()) == 1)
            cluster.run("cancel", job)
            self.assertEqual(cluster.wait_over([job])[int(job)]["state"], "cancelled")
            self.assertEqual(witness.ends(), {})


class Caps(unittest.TestCase):
    def test_at_the_cap_work_waits_with_that_reason(self):
        policy = "no-packing,period_s=0.5"
        with Cluster("master.max_instances=1", nodes=1, policy=policy) as cluster:
            first = cluster.shell("sleep 4", "--memory", "0.2")
            second = cluster.shell("true", "--memory", "0.2")
            cluster.wait_until("the reason is told",
                               lambda: "instance cap" in cluster.run("explain", second).stdout)
            over = cluster.wait_over([first, second])
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})


class AttemptsInMemory(unittest.TestCase):
    def test_are_where_they_are_told_to_be_and_go_with_their_instance(self):
        with tempfile.TemporaryDirectory(prefix="mu", dir="/dev/shm") as memory:
            os.chmod(memory, 0o711)
            with Cluster(f"worker.attempts={memory}", nodes=1) as cluster:
                job = cluster.shell('echo "$MUSTER_ATTEMPT_DIR"; sleep 1', "--memory", "0.2")
                cluster.wait_over([job])
                self.assertTrue(cluster.run("logs", job).stdout.startswith(memory))
                cluster.wait_until("the instance's folder is gone",
                                   lambda: os.listdir(memory) == [])


class Moving(unittest.TestCase):
    def test_a_task_is_moved_with_its_checkpoint_and_goes_on_from_there(self):
        script = ('f="$MUSTER_CHECKPOINT_DIR/n"; n=$(cat "$f" 2>/dev/null || echo 0); '
                  'trap \'echo $n >"$f"; exit 85\' TERM; echo "starts at $n"; '
                  'while [ $n -lt 40 ]; do sleep 0.1; n=$((n+1)); '
                  '[ $n = 5 ] && echo "has come to 5"; done; echo "done at $n"')
        with Cluster(nodes=3) as cluster:
            job = cluster.shell(script, "--memory", "0.2", "--cpus", "1")
            cluster.wait_until("it runs", lambda: cluster.job(job)["running"] == 1)
            instance = cluster.job(job)["tasks"][0]["instance"]
            cluster.wait_until("it has come some way",
                               lambda: "come to 5" in cluster.run("logs", job).stdout)
            cluster.run("drain", instance)
            over = cluster.wait_over([job])
            self.assertEqual(over[int(job)]["state"], "completed")
            task = cluster.job(job)["tasks"][0]
            self.assertEqual(task["attempt"], 2)
            self.assertNotEqual(task["instance"], instance)
            output = cluster.run("logs", job).stdout
            self.assertRegex(output, r"starts at [1-9][0-9]*\ndone at 40")

    def test_a_spot_instance_is_taken_back_and_its_task_goes_on_elsewhere(self):
        with Cluster("cloud.notice=60s", nodes=1, policy="no-packing,period_s=0.5",
                     delay_scale=0.02) as cluster:
            job = cluster.shell('trap "exit 85" TERM; echo "attempt $MUSTER_ATTEMPT"; '
                                'if [ "$MUSTER_ATTEMPT" = 1 ]; then sleep 600 & wait; fi',
                                "--spot", "--memory", "0.2")
            cluster.wait_until("it runs", lambda: cluster.job(job)["running"] == 1)
            instance = cluster.ask("instances")["instances"][0]
            self.assertEqual(instance["market"], "spot")
            cluster.run("interrupt", instance["instance"])
            self.assertEqual(cluster.wait_over([job])[int(job)]["state"], "completed")


class Strangers(unittest.TestCase):
    def test_without_the_token_nobody_gets_anything(self):
        with Cluster(nodes=1) as cluster:
            api = json.loads((cluster.dir / "client.json").read_text())["api"]
            for token in ("", "Bearer wrong"):
                asked = urllib.request.Request(api + "/v1/jobs", headers={"Authorization": token})
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(asked, timeout=10)
                self.assertEqual(refused.exception.code, 401)

    def test_a_node_without_a_valid_certificate_does_not_start(self):
        with Cluster(nodes=2) as cluster:
            for key in cluster.dir.glob("pki/nodes/n1.pem"):
                key.write_text((cluster.dir / "pki/nodes/n0.pem").read_text())
            done = subprocess.run([MUSTER, "node", "--config", cluster.dir / "cluster.toml",
                                   "--name", "n1"], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 1)
            self.assertIn("n1", done.stderr)


if __name__ == "__main__":
    unittest.main()
