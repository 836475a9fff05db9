"""Outputs that cannot be written: said, with exit status 1, and nothing half-written is left."""

import fcntl
import json
import os
import resource
import signal
import stat
import subprocess
import unittest

from fixture import EVA_200, EVA_JOBS, MusterTest

REPLAY = ("replay", EVA_200, "--policy", "no-packing")
TARGETS = ("--json", "--html", "--events")


def small_files():
    """No file may grow over 200 bytes, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))


class Outputs(MusterTest):
    def assert_not_written(self, target, *arguments, **options):
        before = sorted(os.listdir(self.folder))
        done = self.muster(*arguments, **options)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"cannot write {target}", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_below_a_file_there_is_no_room_for_another(self):
        self.write("file", "kept")
        for option in TARGETS:
            with self.subTest(option=option):
                self.assert_not_written("file/out", *REPLAY, option, "file/out")
        self.assert_not_written("file/out", "convert", "--from", "eva-json", EVA_JOBS, "file/out")
        self.assertEqual(self.read("file"), "kept")

    def test_a_folder_is_not_overwritten(self):
        os.mkdir(self.path("folder"))
        for option in TARGETS:
            with self.subTest(option=option):
                self.assert_not_written("folder", *REPLAY, option, "folder")
        self.assert_not_written("folder", "convert", "--from", "eva-json", EVA_JOBS, "folder")
        self.assertEqual(os.listdir(self.path("folder")), [])

    def test_a_manual_page_that_cannot_be_written_is_named(self):
        for page in ("muster.1", "muster-jobs.1"):
            with self.subTest(page=page):
                os.makedirs(self.path(f"{page}.d/{page}"))
                done = self.muster("manual", f"{page}.d")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f"cannot write {page}.d/{page}", done.stderr)
        self.write("file", "kept")
        self.assertIn("file/man", self.assert_refused(1, [], "manual", "file/man"))

    def test_manual_pages_have_the_options_of_groups(self):
        self.assertEqual(self.succeed("manual", "man"), "")
        for page, word in (("muster.1", "submit"), ("muster-pki.1", "worker"),
                           ("muster-jobs.1", "limit")):
            self.assertIn(word, self.read(f"man/{page}"))

    def test_a_full_disk_leaves_the_old_file_as_it_was(self):
        self.write("out", "the old one")
        full = {"preexec_fn": small_files, "restore_signals": False}
        for option in TARGETS:
            with self.subTest(option=option):
                self.assert_not_written("out", *REPLAY, option, "out", **full)
        self.assert_not_written("out", "convert", "--from", "eva-json", EVA_JOBS, "out", **full)
        self.assertEqual(self.read("out"), "the old one")

    def test_an_interrupt_leaves_nothing_of_a_file(self):
        before = sorted(os.listdir(self.folder))
        slow = subprocess.Popen([os.environ["MUSTER"], "convert", "--from", "tr", "-", "out.csv"],
                                cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        slow.stdin.write(b"1 1 5 5\n")
        slow.stdin.flush()
        slow.send_signal(signal.SIGINT)
        slow.wait()
        slow.stdin.close()
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_of_two_writers_of_a_file_one_has_all_of_it(self):
        row = "{},{},{},n,1,0,1,1,60,x\n".format
        head = "id,submit_s,user,name,tasks,gpu,cpu,memory_gib,duration_s,class\n"
        for user in ("ann", "benjamin"):
            self.write(user, head + "".join(row(i, i, user) for i in range(20000)))
        writers = [subprocess.Popen([os.environ["MUSTER"], "convert", "--from", "muster-csv", user,
                                     "out.csv"], cwd=self.folder) for user in ("ann", "benjamin")]
        self.assertEqual([writer.wait() for writer in writers], [0, 0])
        rows = self.read("out.csv").splitlines()[1:]
        self.assertEqual(len(rows), 20000)
        self.assertEqual(len({row.split(",")[2] for row in rows}), 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["ann", "benjamin", "out.csv"])

    def test_what_can_be_known_before_the_run_is_said_before_the_table(self):
        self.write("file", "kept")
        for option in TARGETS:
            with self.subTest(option=option):
                self.assertEqual(self.muster(*REPLAY, option, "file/out").stdout, "")

    def test_what_is_no_plain_file_is_written_to_and_not_replaced(self):
        os.mkfifo(self.path("pipe"))
        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        # Nobody reads before the run is over: the pipe has to hold all of it.
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
        self.succeed(*REPLAY, "--json", "pipe")
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assertEqual(len(json.loads(os.read(reader, 1 << 20))["runs"]), 1)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no device that is always full")
    def test_a_full_standard_output_is_an_error_that_is_said(self):
        convert = ("convert", "--from", "eva-json", EVA_JOBS)
        for arguments in ((*REPLAY, "--json", "-"), REPLAY, convert, ("policies",),
                          ("config-keys", "--json", "-")):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                done = self.muster(*arguments, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1)
                self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
