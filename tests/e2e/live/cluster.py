"""A whole local cluster for a test: `muster up` in a folder of its own, and ways to hurt it."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from golden import assert_golden, line_with

MUSTER = os.environ["MUSTER"]


class Failed(AssertionError):
    """The command did not do what it was asked for."""


def plain(text, **values):
    """The text with {name} for each value of that name, such as a folder; for the number of a job
    where it stands behind that word."""
    for name, value in values.items():
        before = "job " if name == "job" else ""
        text = re.sub(rf"(?<!\w){before}{re.escape(str(value))}(?!\w)", f"{before}{{{name}}}", text)
    return text


def without_figures(text):
    """The text with N for every number in it, however small an amount of money."""
    return re.sub(r"<?(\$?)[0-9]+(?:\.[0-9]+)?", r"\1N", text)


def processes():
    """(pid, command line) of everything that runs."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        yield int(entry.name), words


def working_folder(pid):
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


class Cluster:
    """Everything in it ends with the `with` block."""

    def __init__(self, *settings, policy="eva,period_s=0.5", nodes=5, masters=2,
                 delay_scale=0.002):
        # Short, for the sockets of tasks have their paths in it.
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="mu", dir="/tmp"))
        self.flags = ["--policy", policy, "--delay-scale", str(delay_scale)]
        if nodes is not None:  # as `up` has it by itself
            self.flags += ["--nodes", str(nodes)]
        self.masters = masters if nodes is None else min(masters, nodes)
        for setting in settings:
            self.flags += ["--set", setting]

    def __enter__(self):
        os.chmod(self.dir, 0o711)
        self.up()
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            # First, for what shows long outputs may cut their ends off.
            print(f"--- {kind.__name__}: {error}", flush=True)
            self.show_logs()
        for node in self.nodes():
            self.signal(node, signal.SIGCONT)
        self.run("down", "--dir", self.dir, check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def up(self, *flags):
        if self.flags and self.masters is not None and "--masters" not in self.flags:
            self.flags += ["--masters", str(self.masters)]
        self.run("up", "--dir", self.dir, *self.flags, *flags, "--json")
        self.flags = []

    def run(self, *words, check=True, timeout=120):
        done = subprocess.run([MUSTER, *map(str, words)], capture_output=True, text=True,
                              timeout=timeout, env={**os.environ, "MUSTER_CLUSTER": str(self.dir)})
        if check and done.returncode != 0:
            raise Failed(f"muster {' '.join(map(str, words))}: exit {done.returncode}\n"
                         f"{done.stdout}\n{done.stderr}")
        return done

    def ask(self, *words):
        return json.loads(self.run(*words, "--json").stdout)

    def submit(self, *words):
        """The ids of the jobs."""
        return [entry["job"] for entry in self.ask("submit", *words)["jobs"]]

    def shell(self, script, *flags):
        """Submits a script for /bin/sh; the job's id."""
        return self.run("submit", "--quiet", *flags, "--", "/bin/sh", "-c",
                        script).stdout.strip()

    def job(self, job):
        return self.ask("job", job)

    def wait_over(self, jobs, timeout=120):
        """Until all the jobs are over; {id: job}."""
        until = time.monotonic() + timeout
        wanted = {int(job) for job in jobs}
        while True:
            listed = self.ask("jobs", "--state", "over", "--limit", "10000")["jobs"]
            over = {entry["job"]: entry for entry in listed if entry["job"] in wanted}
            if len(over) == len(wanted):
                return over
            if time.monotonic() > until:
                left = sorted(wanted - set(over))[:10]
                raise Failed(f"{len(wanted) - len(over)} jobs are not over after {timeout} s: "
                             f"{left}; {self.run('explain', left[0], check=False).stdout}")
            time.sleep(0.2)

    def wait_until(self, what, condition, timeout=60):
        until = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > until:
                raise Failed(f"{what}: not after {timeout} s")
            time.sleep(0.1)

    # What runs, and ways to hurt it.

    def pids(self, *marks):
        """Of the processes that have all the marks among their words."""
        return [pid for pid, words in processes() if all(mark in words for mark in marks)]

    def nodes(self):
        return {pid: name for name in ("n0", "n1", "n2", "n3", "n4")
                for pid in self.pids("node", str(self.dir / "cluster.toml"), name)}

    def node(self, name):
        found = self.pids("node", str(self.dir / "cluster.toml"), name)
        return found[0] if found else None

    def workers(self):
        return [pid for pid, words in processes()
                if "worker" in words and any(str(self.dir) in word for word in words)]

    def shims(self):
        return [pid for pid, words in processes()
                if "shim" in words and any(str(self.dir) in word for word in words)]

    def replica_keepers(self):
        """Of this cluster's services alone: tests of other clusters run beside."""
        return [pid for pid in self.pids("/proc/self/exe", "keep")
                if working_folder(pid).startswith(str(self.dir))]

    def keeper(self):
        found = self.pids("keeper", str(self.dir))
        return found[0] if found else None

    def count_of_keepers(self):
        return len(self.pids("keeper", str(self.dir)))

    @staticmethod
    def signal(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def kill(self, pid):
        if pid is not None:
            self.signal(pid, signal.SIGKILL)

    def fill_disk(self):
        """Takes all that is left of the disk that the cluster is on; the file that does."""
        filler = self.dir / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 65536)
            except OSError:
                return filler

    def show_logs(self):
        for log in sorted(self.dir.glob("state/n*/node.log")) + [self.dir / "keeper.log"]:
            if log.exists():
                lines = log.read_text(errors="replace").splitlines()[-30:]
                print(f"--- {log.relative_to(self.dir)}", *lines, sep="\n", flush=True)


class Witness:
    """What tasks write down of themselves, to tell afterwards what ran when."""

    # Takes a lock that only one attempt of a task can have, says so, works, and says that it is
    # done.
    SCRIPT = ('exec 9>"{dir}/$MUSTER_JOB_ID.$MUSTER_TASK_INDEX.lock"; '
              'flock -n 9 || {{ echo "beside $MUSTER_JOB_ID.$MUSTER_TASK_INDEX" >>"{dir}/log"; }}; '
              'echo "begin $MUSTER_JOB_ID.$MUSTER_TASK_INDEX $MUSTER_ATTEMPT" >>"{dir}/log"; '
              '{work}; '
              'echo "end $MUSTER_JOB_ID.$MUSTER_TASK_INDEX $MUSTER_ATTEMPT" >>"{dir}/log"')

    def __init__(self, folder):
        self.dir = pathlib.Path(folder)
        self.dir.mkdir(parents=True, exist_ok=True)
        os.chmod(self.dir, 0o777)

    def script(self, work):
        return self.SCRIPT.format(dir=self.dir, work=work)

    def lines(self):
        log = self.dir / "log"
        return log.read_text().splitlines() if log.exists() else []

    def ends(self):
        """{task: how often it came to its end}"""
        count = {}
        for line in self.lines():
            word, task, *_ = line.split()
            if word == "end":
                count[task] = count.get(task, 0) + 1
        return count

    def beside(self):
        return [line for line in self.lines() if line.startswith("beside")]
