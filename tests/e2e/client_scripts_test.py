"""Scripts that `submit` sends as they are, against a server that answers what the test wants; and
the scripts by which shells complete the command's words."""

import os
import subprocess
import unittest

from client_test import ACCEPTED, ClientTest
from fake_api import Reply
from fixture import MusterTest, assert_golden

SCRIPT = "#!/bin/sh\necho $1\n"


class Scripts(ClientTest):
    def setUp(self):
        super().setUp()
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))

    def muster(self, *arguments, text="", cwd=None):
        """In place of the usual: the standard input and the folder matter here."""
        return subprocess.run([os.environ["MUSTER"], *arguments], cwd=cwd or self.folder,
                              input=text, capture_output=True, text=True, check=False, timeout=60)

    def sent(self, *words, **options):
        """What is sent but for its token, what is printed and what is said besides."""
        done = self.muster("submit", *words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        body = self.api.bodies("/v1/jobs")[-1]
        del body["token"]
        return body, done.stdout, done.stderr

    def refused(self, *words, **options):
        before = list(self.api.requests)
        done = self.muster("submit", *words, **options)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(self.api.requests, before)
        return done.stderr

    def test_what_stands_behind_a_script_is_the_scripts(self):
        self.write("a.sh", SCRIPT)
        body, printed, said = self.sent("--name", "a.sh", "--cpus", "2", "a.sh", "--cpus", "3",
                                        "x y", "--", "-q")
        self.assertEqual(body, {"name": "a.sh", "cpus": 2, "script": SCRIPT,
                                "command": ["a.sh", "--cpus", "3", "x y", "--", "-q"]})
        self.assertIn("job 12: a.sh, 1 task", printed)
        self.assertIn("(18 bytes)", printed)
        assert_golden(self, printed)
        self.assertEqual(said, "")
        body, _, _ = self.sent("-q", "./a.sh", "--", "b")
        self.assertEqual(body, {"script": SCRIPT, "command": ["./a.sh", "b"]})

    def test_a_script_comes_from_the_standard_input(self):
        body, printed, _ = self.sent("--array", "0-1", "-", "a", "--", "-b", text=SCRIPT)
        self.assertEqual(body, {"array": "0-1", "script": SCRIPT, "command": ["stdin", "a", "-b"]})
        self.assertIn("job 12: stdin, 2 tasks", printed)
        assert_golden(self, printed)

    def test_faults_of_json_from_the_standard_input_are_named_as_in_a_file(self):
        text = ('{"jobs": [{"name": "a", "command": ["b"]}, '
                '{"command": ["c"], "after": ["nobody"]}]}')
        self.assertIn("standard input: jobs/1/after: ", self.refused("-", text=text))

    def test_without_a_first_line_the_standard_input_is_a_job_file(self):
        self.assertEqual(self.sent("-", "--cpus", "2", text='command = ["a"]\n')[0],
                         {"command": ["a"], "cpus": 2})
        self.assertEqual(self.sent("-", text=' {"command": ["b"]}')[0], {"command": ["b"]})
        self.assertIn("standard input:1:8: cpus: ", self.refused("-", text="cpus = 0\n"))

    def test_an_execute_bit_makes_a_script_of_what_is_called_no_job_file(self):
        self.write("plain", "echo hi\n")
        self.write("job.toml", '#!/usr/bin/env -S muster submit\ncommand = ["a"]\n')
        for name in ("plain", "job.toml"):
            os.chmod(self.path(name), 0o755)
        self.assertEqual(self.sent("plain")[0], {"script": "echo hi\n", "command": ["plain"]})
        self.assertEqual(self.sent("job.toml")[0], {"command": ["a"]})

    def test_a_job_file_with_the_execute_bit_stays_one(self):
        self.write("plain", 'command = ["a"]\n')
        os.chmod(self.path("plain"), 0o755)
        self.assertEqual(self.sent("plain")[0], {"command": ["a"]})
        self.write("wrong", "cpus = 0\n")
        os.chmod(self.path("wrong"), 0o755)
        self.assertIn("wrong:1:8: cpus: ", self.refused("wrong"))

    def test_a_script_without_a_first_line_is_told_how_it_is_read(self):
        self.write("plain", "echo hi\n")
        for said in (self.refused("plain"), self.refused("-", text="echo hi\n")):
            assert_golden(self, said)

    def test_what_cannot_be_sent_is_refused_with_its_reason(self):
        self.write("dos.sh", "#!/bin/bash\r\necho hi\r\n")
        self.write("long.sh", "#!/bin/sh\n" + "#" * 131072)
        self.write("job.toml", 'command = ["a"]\n')
        for place, files in (("dos.sh", ["dos.sh"]), ("long.sh", ["long.sh"]),
                             ("dos.sh", ["job.toml", "dos.sh"]), ("/bin/true", ["/bin/true"])):
            assert_golden(self, self.refused(*files), at=place)

    def test_lines_of_other_schedulers_are_said_not_to_be_read(self):
        self.write("s.sh", "#!/bin/sh\n#SBATCH -n 4\n#SBATCH --mem=2G\n")
        _, _, said = self.sent("s.sh")
        self.assertEqual(said.count("\n"), 1)
        self.assertIn("s.sh: its #SBATCH lines (line 2 and 1 more) are not read", said)

    def test_a_percent_sign_of_the_present_folder_is_no_placeholder(self):
        folder = self.path("50%")
        os.mkdir(folder)
        self.write("50%/a.sh", SCRIPT)
        body, _, _ = self.sent("--workdir", "job-%j/%a", "a.sh", cwd=folder)
        self.assertEqual(body["work_dir"], os.path.realpath(folder).replace("%", "%%")
                         + "/job-%j/%a")


class Completion(MusterTest):
    def complete(self, *words, path=os.environ["PATH"]):
        """What bash offers for the last of the words; `path`: where it finds programs."""
        script = self.write("muster.bash", self.succeed("completion", "bash"))
        typed = " ".join(f"'{word}'" for word in ("muster", *words))
        probe = (f"source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _muster; "
                 'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", probe], capture_output=True, text=True, check=True,
                              env={**os.environ, "PATH": path}, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_and_options(self):
        self.assertEqual(self.complete("comp"), ["completion"])
        self.assertIn("submit", self.complete(""))
        self.assertEqual(self.complete("submit", "--ga"), ["--gang"])
        self.assertEqual(self.complete("jobs", "--user", "x", "--li"), ["--limit"])

    def test_bash_completes_the_values_of_options_that_choose(self):
        self.assertEqual(self.complete("jobs", "--state", "a"), ["active", "all"])
        self.assertEqual(self.complete("up", "--policy", "must"), ["muster"])
        self.assertIn("compadd -- active over all", self.succeed("completion", "zsh"))

    def offered_jobs(self, program, *words):
        """What bash offers where `muster` is the program of that text; whether it was called."""
        called = self.path("called")
        if os.path.exists(called):
            os.remove(called)
        self.write("muster", f'#!/bin/sh\necho "$*" >{called}\n{program}\n')
        os.chmod(self.path("muster"), 0o755)
        offered = self.complete(*words, path=f"{self.folder}:{os.environ['PATH']}")
        return [word for word in offered if not word.startswith("-")], os.path.exists(called)

    def test_bash_completes_numbers_of_jobs(self):
        lists = "printf 'JOB  NAME\\n 12  a\\n  7  b\\n'"
        for command in ("job", "cancel", "logs", "explain"):
            with self.subTest(command=command):
                self.assertEqual(self.offered_jobs(lists, command, "1"), (["12"], True))
        with open(self.path("called"), encoding="utf-8") as called:
            self.assertEqual(called.read(), "jobs --limit 50 --retry-for 0s\n")
        self.assertEqual(self.offered_jobs(lists, "cost", ""), ([], False))
        self.assertEqual(self.offered_jobs(lists, "job", "--js"), ([], False))

    def test_bash_completes_no_job_where_there_is_no_cluster(self):
        silent = self.offered_jobs("echo muster: no cluster is known >&2; exit 1", "job", "")
        self.assertEqual(silent, ([], True))

    def test_both_scripts_know_every_command(self):
        commands = [word for word in self.complete("") if not word.startswith("-")]
        self.assertGreater(len(commands), 15)
        zsh = self.succeed("completion", "zsh")
        for command in commands:
            self.assertIn(f"'muster {command}'", zsh)
        self.assert_refused(2, ["shell"], "completion", "fish")


if __name__ == "__main__":
    unittest.main()
