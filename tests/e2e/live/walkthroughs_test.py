"""The sessions on the pages for the first day print what the pages show, on real clusters."""

import itertools
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from cluster import MUSTER, Failed
from page_blocks import ROOT, block_that_begins, session

LIVE = "docs/live.md"
FIRST_DAY = "docs/first-day.md"
ELASTIC = "docs/examples/elastic/README.md"
# They change nothing, so they are asked again until the cluster has come to where the page is.
LOOKS = ("jobs", "job", "explain", "status", "logs", "cost", "nodes", "plan")
PATIENCE_S = 60
# Another run has other ones.
VARIES = (
    (r"<?\$[0-9][0-9.,]*", "$N"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME"),
    (r"http://\S+", "URL"),
    (r"\binstance \d+", "instance N"),
    (r"\b\d+s\b", "Ns"),
    (r"\bm\d+, m\d+", "mN, mN"),
    (r"\b(step|saved at|goes on from) \d+", r"\1 N"),
    (r"\b\d+ of (\d+) samples", r"N of \1 samples"),
    # The caps go by the machine.
    (r"\b\d+ instances", "N instances"),
    # Which two of three masters have a job is for them to settle.
    (r"(yes +master .*?)(?: +\d+)+$", r"\1 N"),
)


def masked(lines):
    """The lines without what varies. How many alike ones there are then is a matter of time."""
    kept = []
    for line in lines:
        for pattern, name in VARIES:
            line = re.sub(pattern, name, line)
        line = re.sub(r"\s+", " ", line).strip()
        # As whom tasks run is the machine's matter.
        if not line.startswith("Tasks run as") and kept[-1:] != [line]:
            kept.append(line)
    return kept


def in_order(command, lines):
    """The lines without what varies; a bill's lines come by amounts, which vary."""
    kept = masked(lines)
    return sorted(kept) if command.startswith("muster cost") else kept


def shows(shown, printed):
    """Whether these lines were printed; "..." among those that are shown stands for any."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(shows(shown[1:], printed[begin:]) for begin in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and shows(shown[1:], printed[1:])


class Walk:
    """A cluster where `muster up` makes it, of a user who follows a page from an empty folder."""

    def __init__(self):
        # Short, for the sockets of tasks have their paths in it.
        self.state = pathlib.Path(tempfile.mkdtemp(prefix="mu", dir="/tmp"))
        os.chmod(self.state, 0o711)
        self.folder = self.state / "here"
        self.folder.mkdir()
        os.chmod(self.folder, 0o777)
        self.gate = self.folder / "go"
        self.last = 0  # exit code
        self.jobs_before = 0  # that the page knows nothing of
        path = f"{os.path.dirname(MUSTER)}:{os.environ['PATH']}"
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith("MUSTER_")}
        self.env.update(XDG_STATE_HOME=str(self.state), PATH=path)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.run("muster down")
        shutil.rmtree(self.state, ignore_errors=True)

    def run(self, command):
        done = subprocess.run(["bash", "-c", f"(exit {self.last}); {command}"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                              cwd=self.folder, env=self.env, check=False)
        self.last = done.returncode
        return done.stdout.splitlines()

    @staticmethod
    def changed(text, changes):
        for part, instead in changes:
            text = text.replace(part, instead)
        return text

    def here(self, text):
        """A line of the page as it is for this user in this folder."""
        user = pwd.getpwuid(os.geteuid()).pw_name
        text = re.sub(r"\bada\b", user, text.replace("~/.local/state", str(self.state)))
        text = re.sub(r"\bjob (\d+)", lambda found: f"job {int(found[1]) + self.jobs_before}", text)
        return text.replace("/tmp/count", str(self.folder))

    def until_open(self):
        """A command that ends when the gate is open."""
        return f"until [ -e {self.gate} ]; do sleep 0.1; done"

    def job(self, job):
        return json.loads("\n".join(self.run(f"muster job {job} --json")))

    def follow(self, block, changes=()):
        """Does what the block says; `changes`: (part of a line, what stands there instead)."""
        for command, shown in session(block):
            self.step(command, shown, changes)

    def step(self, command, shown, changes=()):
        """Does the command, and has it print what is shown."""
        command, *shown = [self.here(self.changed(line, changes)) for line in (command, *shown)]
        name = re.match(r"muster (\w+)", command)
        until = time.monotonic() + PATIENCE_S
        while True:
            printed = self.run(command)
            if shows(in_order(command, shown), in_order(command, printed)):
                return
            if not name or name[1] not in LOOKS or time.monotonic() > until:
                raise Failed("\n".join([f"$ {command}", *printed, "--- the page shows:", *shown]))
            time.sleep(0.2)


class OnesOwnMachine(unittest.TestCase):
    def test_a_cluster_on_ones_machine_is_as_its_page_shows_it(self):
        def page(begins):
            return block_that_begins(LIVE, begins)

        with Walk() as walk:
            # Tasks run until the page has been gone through, however long that takes.
            waits = [("sleep 5'", f"{walk.until_open()}'"),
                     ("-- sleep 25", f"-- sh -c '{walk.until_open()}'")]
            script = page("#!/bin/sh").replace('[ "$step" -lt 60 ]', f"[ ! -e {walk.gate} ]")
            (walk.folder / "count.sh").write_text(script.replace("sleep 1", "sleep 0.2"))
            (walk.folder / "count.toml").write_text(page("# count.toml"))
            walk.follow(page("$ muster up\n"))
            walk.follow(page("$ muster submit --wait"))
            walk.follow(page("$ muster submit --array"), waits)
            walk.follow(page("$ chmod"))
            looks = page("$ muster jobs\nJOB  NAME   USER  STATE      TASKS  WAIT  RUN  DONE  "
                         "FAILED  EXIT      COST  SUBMITTED\n  4  count  ada   running")
            walk.follow(looks)
            walk.follow(page("$ muster plan"))
            for command, shown in session(page("$ muster logs 4\nattempt 1")):
                # The page says how to find the instance that the task is on.
                if re.match("muster (drain|interrupt)", command):
                    self.wait_for_steps(walk)
                    command = re.sub(r"\d+$", str(walk.job(4)["tasks"][0]["instance"]), command)
                walk.step(command, shown)
            walk.gate.touch()
            walk.follow(page("$ muster jobs\nJOB  NAME   USER  STATE      TASKS  WAIT  RUN  DONE  "
                             "FAILED  EXIT      COST  SUBMITTED\n  4  count  ada   completed"))
            walk.follow(page("$ muster store check"))

    def wait_for_steps(self, walk):
        """Until the attempt has made the steps that its page shows at its end."""
        until = time.monotonic() + PATIENCE_S
        while True:
            last = walk.run("muster logs 4 --tail 2")
            if len(last) == 2 and all(line.startswith("step ") for line in last):
                return
            self.assertLess(time.monotonic(), until, last)
            time.sleep(0.2)

    def test_three_sites_and_masters_are_as_their_page_shows_them(self):
        up, *steps = session(block_that_begins(LIVE, "$ muster up --sites 3"))
        with Walk() as walk:
            walk.step(*up)
            walk.jobs_before = self.jobs_until_one_is_shared(walk)
            waits = [("sleep 30", f"sh -c '{walk.until_open()}'")]
            for step in steps:
                walk.step(*step, waits)

    def jobs_until_one_is_shared(self, walk):
        """Between masters, which happens as soon as they have told their loads."""
        until = time.monotonic() + 60
        for job in itertools.count(1):
            walk.run("muster submit --wait --tasks 2 --cpus 0.1 --memory 0.1 -- true")
            if "," in walk.job(job)["master"]:
                return job
            self.assertLess(time.monotonic(), until, "no job is shared")


class FirstDay(unittest.TestCase):
    def test_the_first_commands_are_answered_as_their_page_shows_it(self):
        def page(begins):
            return block_that_begins(FIRST_DAY, begins)

        with Walk() as walk:
            walk.follow(page("$ muster up\n"))
            made = (walk.state / "muster/local/cluster.toml").read_text()
            without_caps = re.sub(r"^max_.*\n", "", made, flags=re.MULTILINE)
            (walk.folder / "cluster.toml").write_text(without_caps)
            walk.follow(page("$ muster node"))
            walk.follow(page("$ muster submit --wait -- seq"))
            walk.follow(page("$ muster submit --array 0-4"))


class Elastic(unittest.TestCase):
    def test_a_job_of_any_width_is_as_its_page_shows_it(self):
        def page(begins):
            return block_that_begins(ELASTIC, begins)

        with Walk() as walk:
            for file in ("job.toml", "train.py"):
                shutil.copy((ROOT / ELASTIC).parent / file, walk.folder)
            for begins in ("$ muster up", "$ muster job 1", "$ muster jobs", "$ muster logs"):
                walk.follow(page(begins))


if __name__ == "__main__":
    unittest.main()
