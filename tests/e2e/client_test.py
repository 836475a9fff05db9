"""The commands that talk to a cluster, against a server that answers what the test wants."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from fake_api import FakeApi, Reply, TOKEN, details, job, problem, task
from fixture import MusterTest, assert_golden

ACCEPTED = {"jobs": [{"job": 12}]}


class ClientTest(MusterTest):
    """self.api answers; the command finds it by client.json, as `muster up` writes it."""

    def setUp(self):
        super().setUp()
        self.api = FakeApi()
        self.addCleanup(self.api.close)
        self.write("token", TOKEN + "\n")
        self.write("client.json", json.dumps({"api": self.api.url, "token_file": "token"}))
        self.was = {name: os.environ.pop(name, None)
                    for name in ("MUSTER_API", "MUSTER_TOKEN", "MUSTER_TOKEN_FILE")}
        os.environ["MUSTER_CLUSTER"] = self.folder
        self.addCleanup(self.restore)

    def restore(self):
        del os.environ["MUSTER_CLUSTER"]
        os.environ.update({name: value for name, value in self.was.items() if value is not None})

    def assert_fails(self, status, words, *arguments):
        done = self.muster(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done

    def assert_fails_at(self, status, place, *arguments):
        """assert_fails, and the errors are the texts of tests/golden, which name the place."""
        done = self.assert_fails(status, [], *arguments)
        assert_golden(self, done.stderr.replace(self.api.url, "{api}"), at=place)
        return done


class Submit(ClientTest):
    def setUp(self):
        super().setUp()
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))

    def submitted(self, *arguments):
        """What is sent, and what is printed."""
        printed = self.succeed("submit", *arguments)
        return self.api.bodies("/v1/jobs")[-1], printed

    def test_a_command_is_sent_with_its_flags_and_a_token(self):
        sent, printed = self.submitted(
            "--name", "n", "--user", "ann", "--class", "c", "--array", "0-9%3", "--cpus", "2",
            "--memory", "512MiB", "--gpus", "1", "--time", "10min", "--spot", "--retries", "4",
            "--env", "A=b=c", "--env", "E=", "--workdir", "/srv", "--priority", "-7",
            "--retry-on", "75,signal", "--signal", "USR1@60", "--done-on-stop",
            "--no-move", "--checkpoints", "--", "python3", "x.py", "--tasks", "9")
        self.assertEqual(len(sent.pop("token")), 32)
        self.assertEqual(sent, {
            "name": "n", "user": "ann", "class": "c", "priority": -7,
            "command": ["python3", "x.py", "--tasks", "9"], "env": {"A": "b=c", "E": ""},
            "work_dir": "/srv", "array": "0-9%3", "cpus": 2, "memory_gib": 0.5, "gpus": 1,
            "time_limit_s": 600, "market": "spot", "retries": 4, "movable": False,
            "checkpoints": True, "retry_on": ["75", "signal"], "signal": "USR1@60",
            "done_on_stop": True})
        self.assertEqual(printed, "job 12: n, 10 tasks\n")

    def test_quiet_prints_ids_and_json_the_servers_document(self):
        self.assertEqual(self.succeed("submit", "-q", "--", "true"), "12\n")
        self.assertEqual(json.loads(self.succeed("submit", "--json", "--", "true")), ACCEPTED)

    def test_flags_override_the_file(self):
        self.write("a.toml", 'command = "sleep 1"\ntasks = 3\nuser = "bob"\nmarket = "spot"\n')
        sent, printed = self.submitted("a.toml", "--tasks", "5", "--any", "--gang")
        self.assertEqual((sent["tasks"], sent["user"], sent["gang"]), (5, "bob", True))
        self.assertNotIn("market", sent)
        self.assertEqual(printed, "job 12: sleep, 5 tasks\n")
        sent, _ = self.submitted("a.toml", "--array", "4-5")
        self.assertEqual(sent["array"], "4-5")
        self.assertNotIn("tasks", sent)

    def test_several_files_are_one_batch(self):
        self.api.on("POST", "/v1/jobs", Reply({"jobs": [{"job": 4}, {"job": 5}]}, 201))
        self.write("a.toml", 'command = ["a"]\n')
        self.write("b.json", '{"command": ["b"], "token": "mine"}')
        sent, printed = self.submitted("a.toml", "b.json", "--user", "eve")
        self.assertEqual([(one["command"], one["user"]) for one in sent["jobs"]],
                         [(["a"], "eve"), (["b"], "eve")])
        self.assertEqual(sent["jobs"][1]["token"], "mine")
        self.assertNotEqual(sent["jobs"][0]["token"], "mine")
        self.assertEqual(printed, "job 4: a, 1 task\njob 5: b, 1 task\n")

    def test_every_fault_of_every_file_is_named_and_nothing_sent(self):
        self.write("a.toml", "cpus = 0\ntask = 3\n")
        self.write("b.toml", 'command = ["b"]\ngang = true\narray = "0-1"\n')
        done = self.assert_fails_at(2, ["a.toml:1:8: cpus", "a.toml:2:1: task",
                                        "a.toml: command", "b.toml:2:8: gang"],
                                    "submit", "a.toml", "b.toml")
        self.assertEqual((done.stdout, self.api.requests), ("", []))

    def test_wrong_calls_are_told_from_failures(self):
        for words, arguments in [
                (["say what to run"], []),
                (["say what to run"], ["--"]),
                (["not both"], ["a.toml", "--", "true"]),
                (["--cpus: has to be a number above 0"], ["--cpus", "0", "--", "true"]),
                (["--time: has to be a time"], ["--time", "soon", "--", "true"]),
                (["array: '5-2' runs backwards"], ["--array", "5-2", "--", "true"]),
                (["--env: has to be NAME=VALUE"], ["--env", "A", "--", "true"]),
                (["'' is no name"], ["--env", "=2", "--", "true"]),
                (["--spot excludes"], ["--spot", "--any", "--", "true"]),
                (["for one job"], ["--token", "t", "a.toml", "b.toml"]),
                (["--retry-for"], ["--retry-for", "ever", "--", "true"])]:
            with self.subTest(arguments=arguments):
                self.assert_fails(2, words, "submit", *arguments)
        self.assert_fails(1, ["absent.toml: cannot be read", "submit -- COMMAND"],
                          "submit", "absent.toml")
        self.assertEqual(self.api.requests, [])

    def test_after_a_lost_answer_the_same_token_is_sent_again(self):
        self.api.on("POST", "/v1/jobs", Reply(reset=True), Reply(reset=True),
                    Reply(ACCEPTED, 201))
        done = self.muster("submit", "-q", "--", "true")
        self.assertEqual((done.returncode, done.stdout), (0, "12\n"), done.stderr)
        tokens = [sent["token"] for sent in self.api.bodies("/v1/jobs")]
        self.assertEqual(len(tokens), 3)
        self.assertEqual(len(set(tokens)), 1)
        self.assertIn("trying again", done.stderr)

    def test_a_cluster_that_cannot_now_is_asked_again_when_it_says(self):
        self.api.on("POST", "/v1/jobs", problem(503, "the store is full", Retry_After="1"),
                    Reply(ACCEPTED, 201))
        begin = time.monotonic()
        done = self.muster("submit", "-q", "--token", "mine", "--", "true")
        self.assertGreaterEqual(time.monotonic() - begin, 1)
        self.assertEqual((done.returncode, done.stdout), (0, "12\n"), done.stderr)
        self.assertEqual([sent["token"] for sent in self.api.bodies("/v1/jobs")], ["mine"] * 2)

    def test_it_gives_up_after_the_time_it_was_given(self):
        trouble = "the store is full"
        self.api.on("POST", "/v1/jobs", problem(503, trouble))
        self.assert_fails(1, [trouble, "at present"],
                          "submit", "--retry-for", "500ms", "--", "true")
        self.assertGreater(len(self.api.requests), 1)
        self.api.requests.clear()
        self.api.on("POST", "/v1/jobs", problem(503, trouble, Retry_After="3600"))
        self.assert_fails(1, [trouble], "submit", "--", "true")
        self.assertEqual(len(self.api.requests), 1)

    def test_what_the_server_refuses_is_not_tried_again(self):
        self.api.on("POST", "/v1/jobs", problem(422, "jobs/0/cpus: has to be\nless \x1b[31m"))
        done = self.assert_fails(1, ["jobs/0/cpus: has to be\nless ?[31m"], "submit", "--", "true")
        self.assertNotIn("\x1b", done.stderr)
        self.assertEqual(len(self.api.requests), 1)

    def test_an_answer_without_the_jobs_is_none(self):
        for document in ({}, {"jobs": 3}, {"jobs": [3]}, {"jobs": [{"job": "x"}]},
                         {"jobs": [{"job": -1}]}, {"jobs": []}):
            with self.subTest(document=document):
                self.api.on("POST", "/v1/jobs", Reply(document, 201))
                self.assert_fails(1, ["muster: "], "submit", "--", "true")


class Wait(ClientTest):
    def setUp(self):
        super().setUp()
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))

    def wait(self, *looks):
        self.api.on("GET", "/v1/jobs/12", *looks)
        return self.muster("submit", "--wait", "--", "true")

    def test_the_exit_code_is_the_jobs_own(self):
        for state, code, expected in [("completed", 0, 0), ("failed", 7, 7), ("failed", 143, 143),
                                      ("failed", None, 1), ("failed", 256, 1),
                                      ("refused", None, 1), ("cancelled", None, 130)]:
            with self.subTest(state=state, code=code):
                done = self.wait(details(12, "waiting"), details(12, "running"),
                                 details(12, state, code))
                self.assertEqual(done.returncode, expected, done.stderr)
                self.assertEqual(done.stderr == "", state == "completed")

    def test_the_first_job_that_did_not_complete_decides(self):
        self.api.on("POST", "/v1/jobs", Reply({"jobs": [{"job": n} for n in (1, 2, 3)]}, 201))
        self.api.on("GET", "/v1/jobs/1", details(1))
        self.api.on("GET", "/v1/jobs/2", details(2, "running"), details(2, "failed", 5))
        self.api.on("GET", "/v1/jobs/3", details(3, "failed", 6))
        for name in "abc":
            self.write(name + ".toml", 'command = ["true"]\n')
        done = self.muster("submit", "--wait", "--json", "a.toml", "b.toml", "c.toml")
        self.assertEqual(done.returncode, 5, done.stderr)
        ended = json.loads(done.stdout)["jobs"]
        self.assertEqual([(one["job"], one["exit_code"]) for one in ended],
                         [(1, 0), (2, 5), (3, 6)])

    def test_has_the_api_wait_instead_of_asking_often(self):
        done = self.wait(details(12, "running"), details(12))
        self.assertEqual(done.returncode, 0, done.stderr)
        looks = [path for path in self.api.paths() if path.startswith("/v1/jobs/12")]
        self.assertEqual(looks, ["/v1/jobs/12?wait_s=20&limit=1"] * 2)

    def test_a_gap_in_the_answers_does_not_end_it(self):
        done = self.wait(Reply(reset=True), problem(503, "no"), details(12, "failed", 3))
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_ctrl_c_ends_the_waiting_only(self):
        self.api.on("GET", "/v1/jobs/12", details(12, "running"))
        with subprocess.Popen([os.environ["MUSTER"], "submit", "--wait", "--", "true"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "job 12: true, 1 task\n")
            until = time.monotonic() + 60
            look = "/v1/jobs/12?wait_s=20&limit=1"
            while look not in self.api.paths() and time.monotonic() < until:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            try:
                _, complaints = process.communicate(timeout=60)
            finally:
                process.kill()
        self.assertEqual(process.returncode, 130, complaints)
        self.assertIn("`muster job 12`", complaints)
        assert_golden(self, complaints)
        self.assertEqual([path for path in self.api.paths() if "cancel" in path], [])


class Lists(ClientTest):
    INSTANCE = {"instance": 3, "type": "c7i.large", "market": "spot", "phase": "ready",
                "released": False, "usd_h": 0.085, "up_s": 5, "master": "m0",
                "tasks": [{"job": 12, "task": 0}, {"job": 12, "task": 4}],
                "used": {"cpu": 1, "memory": 2, "gpu": 0},
                "capacity": {"cpu": 2, "memory": 4, "gpu": 0}, "connected": True,
                "limits": "cgroup"}
    NODE = {"node": "n0", "roles": ["site tokyo", "master m0"], "connected": True,
            "load": {"jobs": 1, "pending_tasks": 2, "instances": 3, "policy": "eva"}}
    STATUS = {"now_s": 1800000000, "jobs": {"waiting": 1, "running": 2, "held": 0, "over": 9},
              "tasks": {"pending": 3, "running": 4}, "usd_h": 0.2, "total_usd": 12.5,
              "instances": [{"type": "c7i.large", "market": "spot", "count": 2}],
              "today_usd": 1.5, "nodes": [NODE],
              "caps": [{"master": "m0", "max_instances": 8, "max_usd_h": 0, "max_usd_day": 9}],
              "trouble": ["master m1 does not answer"]}
    COST = {"total_usd": 3.5, "by": [{"name": "ann", "usd": 3}],
            "idle_usd": {"boot": 0.25, "idle": 0.125, "drain": 0.125, "fragmentation": 0}}
    PLAN = {"launches": [{"type": "c7i.large", "market": "spot", "usd_h": 0.085}] * 2,
            "places": [{"task": 0, "to": "instance 3 (c7i.large)"}],
            "refusals": [{"task": 1, "kind": "not now", "why": "awaiting instance"}],
            "moves": 1, "usd_h": 0.17, "usd_h_now": 0}
    EXPLAINED = {"job": job(12, "running"),
                 "tasks": [task(0, "running", why="packed: saves $0.02 an hour"),
                           task(1, "pending", instance=None, instance_type=None, exit_code=None,
                                why="awaiting instance: asked 2 cpu, free 0")]}
    LIFE = {"instance": 3, "type": "c7i.large", "market": "spot", "zone": None, "master": "m0",
            "stage": "ended", "requested_s": 1_799_999_900, "up_s": 1_799_999_901,
            "ready_s": 1_799_999_902, "released_s": None, "ended_s": 1_800_000_000,
            "why_rented": "sharing an instance costs less", "why_ended": "no task is left on it",
            "usd_h": 0.0357, "usd": 0.003, "tasks_before": 0,
            "tasks": [{"job": 12, "task": 0, "attempt": 1, "sent_s": 1_799_999_903,
                       "ended_s": 1_799_999_999, "end": "finished"}]}
    # command: what it asks for, the answer, what a person sees of it
    COMMANDS = {
        ("jobs",): ("GET", "/v1/jobs", {"jobs": [job(12, "running"), job(9, "failed", 3),
                                                        job(8, "refused", None)]},
                    ["JOB", "sweep", "ann", "failed", "$0.0123", "2027-01-15 08:00:00"]),
        ("job", "12"): ("GET", "/v1/jobs/12", details(12, "running", tasks=[
            task(0), task(1, "pending", instance=None, instance_type=None, exit_code=None,
                          reason={"kind": "not now", "code": "held", "text": "held by its user"})]),
                        ["job 12  sweep  of ann: running", "instance 3 (c7i.large)",
                         "held by its user"]),
        ("status",): ("GET", "/v1/status", STATUS,
                      ["2 running, 1 waiting", "2 c7i.large (spot)", "$12.50 in all",
                       "caps of m0: 8 instances, no limit an hour, $9.0000 a day",
                       "trouble: master m1 does not answer"]),
        ("instances",): ("GET", "/v1/instances", {"instances": [INSTANCE]},
                         ["c7i.large", "spot", "1/2", "2/4", "12.0 12.4"]),
        ("instance", "3"): ("GET", "/v1/instances/3", LIFE,
                            ["instance 3  c7i.large, spot: ended", "ended      2027-01-15 08:00:00",
                             "$0.0030 in all", "finished"]),
        ("nodes",): ("GET", "/v1/nodes", {"nodes": [NODE]},
                     ["n0", "site tokyo, master m0", "eva", "yes"]),
        ("cost", "--by", "user"): ("GET", "/v1/cost", COST,
                                   ["USER", "ann", "$3.0000", "(boot)", "total", "$3.5000"]),
        ("plan", "--", "true"): ("POST", "/v1/plan", PLAN,
                                 ["launch 2 x c7i.large (spot)", "task 0 to instance 3",
                                  "task 1 waits: awaiting instance",
                                  "$0.1700 an hour"]),
        ("explain", "12"): ("GET", "/v1/jobs/12/explain", EXPLAINED,
                            ["task 0: running on instance 3 (c7i.large): packed: saves",
                             "task 1: pending: awaiting instance: asked 2 cpu, free 0"]),
        ("cancel", "12"): ("POST", "/v1/jobs/12/cancel", {"job": 12}, ["job 12: cancelled"]),
        ("hold", "12"): ("POST", "/v1/jobs/12/hold", {"job": 12}, ["job 12: held"]),
        ("release", "12"): ("POST", "/v1/jobs/12/release", {"job": 12}, ["job 12: released"]),
        ("drain", "3"): ("POST", "/v1/instances/3/drain", {"instance": 3}, ["instance 3: drained"]),
        ("interrupt", "3"): ("POST", "/v1/instances/3/interrupt", {"instance": 3},
                             ["instance 3: interrupted"]),
    }

    @staticmethod
    def with_json(command):
        if "--" in command:
            return [command[0], "--json", *command[1:]]
        return [*command, "--json"]

    def test_each_shows_its_answer(self):
        for command, (method, path, document, words) in self.COMMANDS.items():
            with self.subTest(command=command):
                self.api.on(method, path, document)
                printed = self.succeed(*command)
                for word in words:
                    self.assertIn(word, printed)
                self.assertNotIn("\x1b", printed)

    def test_a_plan_of_what_can_never_run_is_a_failure(self):
        never = {"task": 2, "kind": "never", "why": "fits no type"}
        self.api.on("POST", "/v1/plan", {**self.PLAN,
                                         "refusals": [*self.PLAN["refusals"], never]})
        done = self.muster("plan", "--", "true")
        self.assertEqual(done.returncode, 1)
        for words in ("launch 2 x c7i.large (spot)", "task 1 waits: awaiting instance",
                      "task 2 can never run: fits no type"):
            self.assertIn(words, done.stdout)
        done = self.muster("plan", "--json", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn(never, json.loads(done.stdout)["refusals"])

    def test_a_plan_of_a_policy_that_decides_later_says_so(self):
        self.api.on("POST", "/v1/plan", {**self.PLAN, "launches": [], "places": [],
                                         "refusals": [], "moves": 0, "usd_h_now": 0.17})
        printed = self.succeed("plan", "--", "true")
        self.assertIn("$0.1700", printed)
        assert_golden(self, printed)

    def test_times_in_sentences_are_local_as_others_are(self):
        since = "it waits for room since 2027-01-15 08:00:00 UTC, and more"
        self.api.on("GET", "/v1/jobs/12/explain", {**self.EXPLAINED, "tasks": [
            task(0, "pending", instance=None, instance_type=None, exit_code=None, why=since)]})
        os.environ["TZ"] = "America/New_York"
        self.addCleanup(os.environ.pop, "TZ")
        printed = self.succeed("explain", "12")
        self.assertIn(since.replace("08:00:00 UTC", "03:00:00"), printed)
        self.assertIn("UTC", self.succeed("explain", "12", "--json"))

    def test_json_is_the_servers_document(self):
        for command, (method, path, document, _) in self.COMMANDS.items():
            with self.subTest(command=command):
                self.api.on(method, path, {**document, "and": "more"})
                self.assertEqual(json.loads(self.succeed(*self.with_json(command))),
                                 {**document, "and": "more"})

    def test_an_answer_that_is_not_the_apis_is_an_error_and_no_crash(self):
        bad = [Reply(raw=b"<html>It works!</html>"), Reply(raw=b""), Reply([1, 2]), Reply(None),
               Reply(raw=b'{"jobs": "\xff"}'), Reply(raw=b"[" * 100000),
               Reply(raw=b'{"a":' * 100000 + b"1" + b"}" * 100000)]
        said = set()
        for command, (method, path, _, _) in self.COMMANDS.items():
            for reply in bad:
                with self.subTest(command=command, body=reply.body[:30]):
                    self.api.on(method, path, reply)
                    done = self.assert_fails(1, [self.api.url], *self.with_json(command))
                    before = done.stderr.partition(" It says: ")[0]
                    said.add(re.sub(r"(?:job 12: )?http://[^ ]+", "{url}", before))
        self.assertEqual(len(said), 1, said)
        assert_golden(self, *said)

    def test_a_field_of_another_kind_is_named(self):
        for document, words in [({}, "/jobs is missing; it has to be a list"),
                                ({"jobs": {}}, "/jobs has to be a list"),
                                ({"jobs": [7]}, "/jobs/0 has to be an object"),
                                ({"jobs": [job(1), {**job(2), "name": 5}]},
                                 "/jobs/1/name has to be a text"),
                                ({"jobs": [{**job(1), "usd": None}]},
                                 "/jobs/0/usd has to be a number"),
                                ({"jobs": [{**job(1), "command": ["a", 1]}]},
                                 "/jobs/0/command has to be a list of texts")]:
            with self.subTest(words=words):
                self.api.on("GET", "/v1/jobs", document)
                self.assert_fails(1, [words], "jobs")

    def test_names_cannot_lead_the_terminal_astray(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [{**job(1), "name": "\x1b[2Jx\x07\u009by\nz"}]})
        self.assertIn("?[2Jx??y z", self.succeed("jobs"))

    def test_the_server_is_asked_for_what_was_asked(self):
        self.api.on("GET", "/v1/jobs", {"jobs": []})
        self.succeed("jobs", "--state", "active", "--user", "a&b c", "--limit", "7")
        self.assertEqual(self.api.paths(), ["/v1/jobs?state=active&user=a%26b%20c&limit=7"])
        self.assert_fails(2, ["--state"], "jobs", "--state", "some")
        self.assert_fails(2, ["--limit"], "jobs", "--limit", "0")

    def test_a_cancel_says_who_has_not_confirmed_it_yet(self):
        self.api.on("POST", "/v1/jobs/1/cancel", {"job": 1, "unconfirmed": ["m1", "oslo"]})
        done = self.succeed("cancel", "1")
        self.assertIn("m1, oslo", done)
        assert_golden(self, done)

    def test_all_jobs_of_a_users_token_are_its_own(self):
        self.api.on("GET", "/v1/me", {"token": "laptop", "role": "user", "user": "ann",
                                      "expires_s": None})
        self.api.on("GET", "/v1/jobs", {"jobs": [job(3, "running")], "next": None})
        self.api.on("POST", "/v1/jobs/3/cancel", {"job": 3})
        self.assertEqual(self.succeed("cancel", "--all"), "job 3: cancelled\n")
        asked = [path for path in self.api.paths() if path.startswith("/v1/jobs?")]
        self.assertEqual(len(asked), 1)
        self.assertIn("user=ann", asked[0])

    def test_help_of_a_command_is_its_help(self):
        self.assertEqual(self.succeed("help", "token", "create"),
                         self.succeed("token", "create", "--help"))
        self.assertEqual(self.succeed("help"), self.succeed("--help"))

    def test_help_of_what_is_no_command_is_a_mistake(self):
        for words in (["nope"], ["token", "nope"], ["submit", "script.sh"]):
            done = self.muster("help", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            assert_golden(self, done.stderr)

    def test_an_empty_work_folder_is_refused(self):
        self.assert_fails_at(2, "--workdir", "submit", "--workdir", "", "--", "true")

    def test_a_cancel_can_choose_its_jobs(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(3, "running"), job(2, "waiting"),
                                                 job(1, "held")]})
        for number in (1, 2, 3):
            self.api.on("POST", f"/v1/jobs/{number}/cancel", {"job": number})
        self.assertEqual(self.succeed("cancel", "--all"),
                         "job 3: cancelled\njob 2: cancelled\njob 1: cancelled\n")
        self.assertEqual(self.succeed("cancel", "--user", "a n", "--state", "waiting"),
                         "job 2: cancelled\n")
        self.assertIn("/v1/jobs?state=active&user=a%20n&limit=1000", self.api.paths())
        self.assertEqual(json.loads(self.succeed("cancel", "--state", "held", "--json")),
                         {"jobs": [{"job": 1}]})
        for arguments in ([], ["1", "--all"], ["--user", "ann", "1"]):
            self.assert_fails(2, ["say which jobs"], "cancel", *arguments)
        self.assert_fails(2, ["--state"], "cancel", "--state", "over")

    def test_an_empty_choice_is_none(self):
        for arguments in (["cancel", "--all", "--user", ""], ["cancel", "--user", ""],
                          ["cancel", "--all", "--state", ""], ["cancel", "--user="],
                          ["jobs", "--user", ""], ["jobs", "--state", ""],
                          ["logs", "12", "--task", ""]):
            with self.subTest(arguments=arguments):
                self.assert_fails(2, [arguments[-2] if arguments[-1] == "" else "--user"],
                                  *arguments)
        self.assertEqual(self.api.requests, [])

    def test_a_job_that_was_found_and_has_ended_since_is_no_failure(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(2, "running"), job(1, "running")]})
        self.api.on("POST", "/v1/jobs/1/cancel", {"job": 1})
        self.api.on("POST", "/v1/jobs/2/cancel", problem(409, "job 2 is over"))
        self.assertEqual(self.succeed("cancel", "--all"), "job 1: cancelled\n")
        self.assertEqual(json.loads(self.succeed("cancel", "--all", "--json")),
                         {"jobs": [{"job": 1}]})
        self.api.on("POST", "/v1/jobs/2/cancel", problem(422, "not so"))
        self.assert_fails(1, ["job 2: not so"], "cancel", "--all")

    def test_several_jobs_are_all_tried(self):
        self.api.on("POST", "/v1/jobs/1/cancel", {"job": 1})
        self.api.on("POST", "/v1/jobs/2/cancel", problem(409, "job 2 is over"))
        self.api.on("POST", "/v1/jobs/3/cancel", {"job": 3})
        done = self.assert_fails(1, ["muster: job 2 is over"], "cancel", "1", "2", "3")
        self.assertEqual(done.stdout, "job 1: cancelled\njob 3: cancelled\n")

    def test_explain_needs_one_thing_to_explain(self):
        self.assert_fails(2, ["JOB", "--events"], "explain")
        self.assert_fails(2, ["not both"], "explain", "12", "--events", "x.jsonl")
        self.api.on("GET", "/v1/jobs/12/explain", self.EXPLAINED)
        self.assertNotIn("task 0", self.succeed("explain", "--job", "12", "--task", "1"))
        self.assert_fails(1, ["no task 7"], "explain", "12", "--task", "7")


if __name__ == "__main__":
    unittest.main()
