"""How the commands are called and read: standard streams, terminals, time zones, names and waits,
against a server that answers what the test wants."""

import json
import os
import pty
import select
import subprocess
import unittest

from client_test import ACCEPTED, ClientTest
from fake_api import Reply, details, job, problem, task
from fixture import ONE_JOB, assert_golden


class Streams(ClientTest):
    def run_in_shell(self, line):
        return subprocess.run(["bash", "-c", line], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, env={**os.environ, "M": os.environ["MUSTER"]})

    def test_a_closed_standard_output_gets_into_no_connection(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(1)], "next": None})
        for line in ('"$M" jobs >&-', '"$M" jobs --json >&-', '"$M" jobs >&- 2>&1 <&-'):
            done = self.run_in_shell(line)
            self.assertEqual((done.returncode, done.stdout), (1, ""), line)
        assert_golden(self, self.run_in_shell('"$M" jobs >&-').stderr)
        self.assertEqual({method for method, _, _ in self.api.requests}, {"GET"})
        self.assertEqual([body for _, _, body in self.api.requests if body], [])

    def test_a_reader_that_has_seen_enough_is_no_failure_to_speak_of(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(n) for n in range(1, 2000)], "next": None})
        # Whoever started it may ignore the signal that would end it.
        for line in ('"$M" jobs', '"$M" config-keys', '"$M" policies', '"$M" jobs --json'):
            done = self.run_in_shell(f"trap '' PIPE; {line} | sleep 0")
            self.assertEqual(done.stderr, "", line)

    def test_standard_input_and_error_may_be_closed(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(1)], "next": None})
        done = self.run_in_shell('"$M" jobs 2>&- <&-')
        self.assertEqual(done.returncode, 0)
        self.assertIn("sweep", done.stdout)
        self.assertEqual(self.run_in_shell('"$M" policies 2>&- <&- | head -1').returncode, 0)
        self.assertEqual(self.run_in_shell('"$M" policies >&-').returncode, 1)

    def test_what_was_done_is_said_where_its_number_cannot_be(self):
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        for flags in ("", "-q", "--json"):
            for out in ("/dev/full", "&-"):
                done = self.run_in_shell(f'"$M" submit {flags} -- true >{out}')
                self.assertEqual(done.returncode, 1)
                self.assertIn("muster: job 12 was taken, but", done.stderr)
        self.api.on("POST", "/v1/jobs/12/resubmit",
                    Reply({"jobs": [{"job": 13}], "warnings": ["no room under the caps"]}, 201))
        self.assertIn("no room", self.muster("resubmit", "12").stderr)
        self.assertIn("job 13 was taken, but",
                      self.run_in_shell('"$M" resubmit 12 >/dev/full').stderr)
        self.api.on("POST", "/v1/jobs/12/cancel", {"job": 12})
        done = self.run_in_shell('"$M" cancel 12 >/dev/full')
        self.assertEqual(done.returncode, 1)
        self.assertIn("job 12: cancelled, but", done.stderr)

    def test_a_job_file_may_come_through_the_standard_input(self):
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        self.write("job.toml", 'command = ["true"]\ncpus = 2\n')
        self.write("job", '{"command": ["true"], "cpus": 3}')
        for line in ('cat job.toml | "$M" submit -', '"$M" submit - <job',
                     '"$M" submit - <job.toml'):
            self.assertEqual(self.run_in_shell(line).stdout, "job 12: true, 1 task\n")
        self.assertEqual([body["cpus"] for body in self.api.bodies("/v1/jobs")], [2, 3, 2])
        self.assertIn("standard input:1:1: cpu: unknown key",
                      self.run_in_shell('echo "cpu = 2" | "$M" submit -').stderr)

    def test_folders_that_are_gone_are_named_as_such(self):
        for words in ("submit --workdir . -- pwd", "up", "up --dir x", "submit --workdir x -- pwd"):
            done = self.run_in_shell(
                f'mkdir d; cd d; rmdir ../d; XDG_STATE_HOME= HOME=x "$M" {words}')
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("filesystem error", done.stderr)
            self.assertNotIn("[", done.stderr)
        done = self.run_in_shell('mkdir d; cd d; rmdir ../d; "$M" submit --workdir . -- pwd')
        assert_golden(self, done.stderr)


class Terminal(ClientTest):
    def on_terminal(self, *words, term):
        """What a terminal gets on its standard error."""
        ours, theirs = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "TERM"}
        if term is not None:
            environment["TERM"] = term
        with subprocess.Popen([os.environ["MUSTER"], *words], cwd=self.folder, stderr=theirs,
                              stdout=subprocess.DEVNULL, env=environment) as process:
            os.close(theirs)
            text = b""
            while select.select([ours], [], [], 30)[0]:
                try:
                    part = os.read(ours, 4096)
                except OSError:
                    break
                if not part:
                    break
                text += part
            process.wait(30)
        os.close(ours)
        return text.decode()

    def test_a_line_is_drawn_over_only_where_a_terminal_can(self):
        running = details(12, "running", None, tasks=[task(0, "running")])
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        for term, drawn in (("xterm", True), ("dumb", False), ("", False), (None, False)):
            self.api.on("GET", "/v1/jobs/12", running, details(12))
            text = self.on_terminal("submit", "--wait", "--", "sleep", "1", term=term)
            self.assertEqual("\x1b" in text or "\r" in text.replace("\r\n", ""), drawn,
                             (term, text))

    def test_a_replay_draws_no_bar_where_a_terminal_cannot(self):
        config = self.config("c.toml", self.write("jobs.csv", ONE_JOB))
        self.assertIn("\x1b", self.on_terminal("replay", config, term="xterm"))
        self.assertEqual(self.on_terminal("replay", config, term="dumb"), "")

    def test_times_are_those_of_the_reader(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(1)], "next": None})
        self.api.on("GET", "/v1/jobs/1", details(1))
        for zone, time in (("UTC0", "2027-01-15 08:00:00"), ("EST5", "2027-01-15 03:00:00"),
                           ("IST-5:30", "2027-01-15 13:30:00")):
            os.environ["TZ"] = zone
            self.addCleanup(os.environ.pop, "TZ", None)
            self.assertIn(time, self.succeed("jobs"))
            self.assertIn(time, self.succeed("job", "1"))
            self.assertIn("1800000000.5", self.succeed("jobs", "--json"))

    def test_a_command_is_shown_as_it_is_typed(self):
        words = ["printf", "%s|", "a b", "", "c\nd", "it's", "\x1b[31m", "$HOME", "\u202ex"]
        self.api.on("GET", "/v1/jobs/1", details(1, command=words))
        shown = [line for line in self.succeed("job", "1").splitlines() if "printf" in line]
        self.assertEqual(len(shown), 1)
        self.assertNotIn("\x1b", shown[0])
        self.assertTrue(shown[0].startswith("  printf '%s|' 'a b' '' $'c\\nd' "))
        done = subprocess.run(["bash", "-c", "printf '%s\\0' " + shown[0]], capture_output=True,
                              check=True, timeout=30)
        self.assertEqual(done.stdout.decode().split("\0")[:-1], words)

    def test_what_was_called_does_not_lead_the_terminal(self):
        wild = "\x1b[31mred\u202e\x9b"
        self.api.on("GET", "/v1/jobs", problem(400, wild))
        for words in (("submit", "--name", wild, "--", "true"), ("submit", wild),
                      ("jobs", "--user", wild), ("submit", "--array", wild, "--", "true"),
                      ("job", wild), (wild,), ("jobs", wild),
                      ("logs", "1", "--task", wild), ("submit", "--env", wild, "--", "true"),
                      ("up", "--policy", wild), ("jobs", "--cluster", wild), ("jobs", "--" + wild)):
            done = self.muster(*words)
            self.assertNotEqual(done.returncode, 0, words)
            for letter in "\x1b\u202e\x9b":
                self.assertNotIn(letter, done.stderr + done.stdout, words)


class Words(ClientTest):
    def test_a_script_without_a_first_line_gets_the_line_to_type(self):
        self.write("batch it", "#SBATCH --time 5\nmodule load x\n")
        done = self.assert_fails_at(2, (), "submit", "batch it")
        self.assertIn("muster submit --workdir . -- sh './batch it'", done.stderr)

    def test_sizes_times_and_arrays_in_others_notations(self):
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        for flags, key, value in (("--memory 4G", "memory_gib", 4),
                                  ("--memory 512M", "memory_gib", 0.5),
                                  ("--memory 1.5G", "memory_gib", 1.5),
                                  ("--memory 4GB", "memory_gib", 4),
                                  ("--time 5m", "time_limit_s", 300),
                                  ("--time 10:00", "time_limit_s", 600),
                                  ("--time 1-00:00:00", "time_limit_s", 86400),
                                  ("--array 0-100:10", "array", "0-100:10"),
                                  ("--env node.name=x", "env", {"node.name": "x"})):
            self.succeed("submit", *flags.split(), "--", "true")
            self.assertEqual(self.api.bodies("/v1/jobs")[-1][key], value, flags)
        for flag in ("--memory", "--time"):
            done = self.assert_fails_at(2, (), "submit", flag, "4X", "--", "true")
            self.assertIn("4X", done.stderr)

    def test_without_a_home_the_account_says_where_it_is(self):
        done = subprocess.run(["env", "-i", "PATH=" + os.environ["PATH"], os.environ["MUSTER"],
                               "jobs"],
                              capture_output=True, text=True, timeout=60, check=False)
        home = os.path.expanduser("~" + subprocess.check_output(["id", "-un"], text=True).strip())
        if "there is no" in done.stderr:
            self.assertIn(home + "/.local/state/muster/local", done.stderr)
        self.assertNotIn(" /.local/state", done.stderr)


class Wait(ClientTest):
    def test_its_exit_code_is_that_of_the_jobs(self):
        self.api.on("GET", "/v1/jobs/12", details(12, "running", None), details(12))
        self.assertEqual(self.muster("wait", "12").returncode, 0)
        self.api.on("GET", "/v1/jobs/13", details(13, "failed", 7, failed_task=4, tasks_total=9,
                                                  reason="task 4 has failed: exit code 7"))
        done = self.muster("wait", "12", "13")
        self.assertEqual(done.returncode, 7)
        self.assertIn("its standard error: `muster logs 13 --task 4 --err`", done.stderr)
        self.api.on("GET", "/v1/jobs/14", details(14, "cancelled", None))
        self.assertEqual(self.muster("wait", "14").returncode, 130)
        self.api.on("GET", "/v1/jobs/15", problem(404, "there is no job 15"))
        done = self.muster("wait", "15")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_it_ends_after_the_time_that_was_said(self):
        self.api.on("GET", "/v1/jobs/12", details(12, "running", None))
        done = self.muster("wait", "12", "--timeout", "300ms")
        self.assertEqual(done.returncode, 124)
        self.assertIn("not over after 300ms: job 12", done.stderr)
        self.assert_fails(2, ["--timeout"], "wait", "12", "--timeout", "soon")

    def test_jobs_are_chosen_by_name(self):
        listed = {"jobs": [job(3, "running", None, name="other"), job(2, "running", None),
                           job(1, "waiting", None, name="other")], "next": None}
        self.api.on("GET", "/v1/jobs", listed)
        for number in (1, 2, 3):
            self.api.on("GET", f"/v1/jobs/{number}", details(number))
        for verb in ("cancel", "hold", "release"):
            for number in (1, 2, 3):
                self.api.on("POST", f"/v1/jobs/{number}/{verb}", {"job": number})
            before = len(self.api.requests)
            self.succeed(verb, "--name", "other")
            asked = [path for method, path, _ in self.api.requests[before:] if method == "POST"]
            self.assertEqual(asked, [f"/v1/jobs/3/{verb}", f"/v1/jobs/1/{verb}"])
        self.assertEqual(self.muster("wait", "--name", "other").returncode, 0)
        self.assert_fails(2, ["say which jobs"], "cancel", "3", "--name", "other")
        self.assert_fails(2, ["say which jobs"], "wait")
        done = self.assert_fails_at(1, (), "wait", "--name", "absent")
        self.assertIn("'absent'", done.stderr)
        for verb, done in (("cancel", "cancelled"), ("hold", "held"), ("release", "released")):
            said = self.assert_fails_at(1, (), verb, "--name", "absent").stderr
            self.assertIn("'absent'", said)
            self.assertIn(done, said)

    def test_lists_leave_the_choice_to_the_cluster(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [job(3, "failed", None)], "next": None,
                                        "sorted_of": 10000})
        self.succeed("jobs", "--name", "sw*p", "--user", "a&b", "--failed", "--since",
                     "2025-11-29T08:00Z", "--until", "2025-11-30Z")
        self.assertEqual(self.api.paths()[-1], "/v1/jobs?state=all&user=a%26b&name=sw%2Ap"
                         "&since_s=1764403200&until_s=1764460800&failed=1&limit=50")
        said = self.succeed("history", "--state", "failed", "--exit", "3", "--sort", "cost")
        self.assertEqual(self.api.paths()[-1], "/v1/jobs?state=over&outcome=failed&exit_code=3"
                         "&sort=cost&limit=50")
        self.assertIn("10000", said.splitlines()[-1])
        for sorted_all, cut in ((True, False), (False, True)):
            self.api.on("GET", "/v1/jobs", {"jobs": [job(3, "failed", None)], "next": None,
                                            "sorted_of": 9999, "sorted_all": sorted_all})
            said = self.succeed("history", "--sort", "cost")
            self.assertEqual("9999" in said, cut)
        for words in (("--since", "yesterdayish"), ("--sort", "size"), ("--state", "active")):
            self.assert_fails(2, [words[0]], "history", *words)

    def test_of_all_jobs_there_may_be_none(self):
        self.api.on("GET", "/v1/jobs", {"jobs": [], "next": None})
        done = self.muster("cancel", "--all")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("nothing was cancelled", done.stderr)
        done = self.muster("cancel", "--all", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {"jobs": []}))


class BothStreams(ClientTest):
    def reply(self, path):
        text = b"" if "stream=out" in path else b"Traceback\nValueError\n"
        at = int(path.partition("offset=")[2].partition("&")[0])
        return Reply(raw=text[at:], headers={
            "Muster-Attempt": "1", "Muster-Offset": str(at), "Muster-Next-Offset": str(len(text)),
            "Muster-More": "0", "Muster-Size": str(len(text))})

    def test_who_finds_nothing_is_told_where_there_is_something(self):
        self.api.on("GET", "/v1/jobs/12", details(12, "failed", 1))
        self.api.on("GET", "/v1/jobs/12/tasks/0/log", self.reply)
        done = self.muster("logs", "12")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("2 lines: --err", done.stderr)
        assert_golden(self, done.stderr)
        self.assertEqual(self.muster("logs", "12", "--err").stderr, "")
        self.assertEqual(self.succeed("logs", "12", "--both"),
                         "[0 err] Traceback\n[0 err] ValueError\n")

    def test_who_has_waited_is_told_of_the_stream_that_has_something(self):
        self.api.on("GET", "/v1/jobs/12", details(12, "failed", 1, failed_task=0, tasks_total=1,
                                                  reason="task 0 has failed: exit code 1"))
        self.api.on("GET", "/v1/jobs/12/tasks/0/log", self.reply)
        said = self.muster("wait", "12").stderr
        self.assertIn("its standard error: `muster logs 12 --err`", said)
        self.api.on("GET", "/v1/jobs/12/tasks/0/log",
                    lambda path: self.reply(path.replace("stream=out", "").replace(
                        "stream=err", "stream=out")))
        said = self.muster("wait", "12").stderr
        self.assertNotIn("its standard error", said)
        self.assertIn("its output: `muster logs 12`", said)
        self.assert_fails(2, ["--both"], "logs", "12", "--both", "--err")


if __name__ == "__main__":
    unittest.main()
