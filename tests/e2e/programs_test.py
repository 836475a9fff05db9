"""The command is two programs: what speaks to a cluster is answered by the small one, all else by
the program beside it. Nobody who types can tell."""

import fcntl
import json
import os
import shutil
import subprocess
import unittest

from client_test import ClientTest
from fake_api import FakeApi
from fixture import assert_golden

MUSTER = os.environ["MUSTER"]
FULL = os.path.join(os.path.dirname(MUSTER), "muster-full")


class Programs(ClientTest):
    def setUp(self):
        super().setUp()
        self.api.on("GET", "/v1/jobs", {"jobs": []})

    def run_as(self, name, program, *arguments, **options):
        """What comes of the program when it is called by that name."""
        done = subprocess.run([name, *arguments], executable=program, cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=60, **options)
        return done.returncode, done.stdout, done.stderr

    def test_both_programs_say_the_same(self):
        for words in ([], ["--help"], ["--version"], ["submit", "--help"], ["job", "--help"],
                      ["replay", "--help"], ["completion", "bash"], ["completion", "zsh"],
                      ["frobnicate"], ["sumbit"], ["store", "frobnicate"], ["submit"],
                      ["jobs", "--limt", "3"], ["jobs", "--limit", "x"], ["job"], ["job", "-1"],
                      ["cancel", "--state", "over"], ["jobs", "replay"], ["jobs", "--", "x"],
                      ["replay", "absent.toml"], ["submit", "--", "sh", "--help"], ["jobs"]):
            with self.subTest(words=words):
                self.assertEqual(self.run_as("muster", MUSTER, *words),
                                 self.run_as("muster", FULL, *words))

    def test_a_shim_takes_the_lock_that_a_worker_of_before_hands_over(self):
        # That worker executes whichever program it was told of, which an upgrade has replaced.
        shim = os.path.join(os.path.dirname(MUSTER), "muster-shim")
        for name, program in (("muster", FULL), ("muster-shim", shim)):
            with self.subTest(program=name):
                attempt = self.path("attempt-" + name)
                os.mkdir(attempt)
                with open(os.path.join(attempt, "lock"), "w", encoding="utf-8") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    done = subprocess.run([program, "shim", attempt], pass_fds=(3,), text=True,
                                          preexec_fn=lambda: os.dup2(lock.fileno(), 3),
                                          capture_output=True, check=False, timeout=60)
                self.assertNotIn("lock", done.stderr)
                self.assertIn("order", done.stderr)

    def test_the_program_beside_it_is_found_through_links_and_from_the_path(self):
        link = self.path("muster")
        os.symlink(MUSTER, link)
        version = subprocess.run([FULL, "--version"], capture_output=True, text=True,
                                 check=True).stdout
        self.assertEqual(self.run_as(link, link, "--version"), (0, version, ""))
        path = self.folder + ":" + os.environ["PATH"]
        self.assertEqual(self.run_as("muster", "muster", "--version",
                                     env={**os.environ, "PATH": path}), (0, version, ""))

    def alone(self):
        """A copy of the small program with nothing beside it."""
        copy = self.path("alone/muster")
        os.mkdir(self.path("alone"))
        shutil.copy2(MUSTER, copy)
        return copy

    def test_that_the_program_beside_it_is_missing_is_said(self):
        alone = self.alone()
        for words in (["replay", "x.toml"], ["--version"], ["jobs", "--help"]):
            code, printed, said = self.run_as(alone, alone, *words)
            self.assertEqual((code, printed), (1, ""))
            self.assertIn(f"cannot run {alone}-full", said)
            assert_golden(self, said)

    def test_what_speaks_to_a_cluster_needs_the_small_program_alone(self):
        alone = self.alone()
        code, printed, said = self.run_as(alone, alone, "jobs", "--json")
        self.assertEqual((code, json.loads(printed), said), (0, {"jobs": []}, ""))

    def test_it_loads_no_library_that_a_cluster_of_this_machine_has_no_use_for(self):
        done = subprocess.run(["ldd", MUSTER], capture_output=True, text=True, check=True)
        for library in ("libcaf", "librocksdb", "libcurl", "libssl", "libClp", "libsvm",
                        "libstdc++", "libfmt", "libtomlplusplus", "libcsv", "libz"):
            self.assertNotIn(library, done.stdout)

    def test_an_api_with_a_name_is_asked_by_the_library_for_names_and_tls(self):
        # What is listed by its number goes by sockets, and by its name by libcurl: alike.
        port = self.api.url.rpartition(":")[2]
        for host in ("127.0.0.1", "localhost"):
            with self.subTest(host=host):
                self.write("client.json", json.dumps({"api": f"http://{host}:{port}",
                                                      "token_file": "token"}))
                self.succeed("jobs")
        self.assertEqual(len(self.api.requests), 2)
        self.write("client.json", json.dumps({"api": f"https://127.0.0.1:{port}",
                                              "token_file": "token"}))
        done = self.assert_fails(1, ["https://127.0.0.1:" + port], "jobs")
        ours = done.stderr.partition(": OpenSSL")[0]  # its words and version are another's
        assert_golden(self, ours.replace(port, "{port}"))

    def test_an_address_that_nobody_listens_at_is_the_same_by_name(self):
        gone = FakeApi()
        gone.close()
        port = gone.url.rpartition(":")[2]
        for host in ("127.0.0.1", "localhost"):
            self.write("client.json", json.dumps({"api": f"http://{host}:{port}",
                                                  "token_file": "token"}))
            done = self.assert_fails(1, [f"http://{host}:{port}"], "jobs", "--retry-for", "0s")
            assert_golden(self, done.stderr.replace(port, "{port}"))


if __name__ == "__main__":
    unittest.main()
