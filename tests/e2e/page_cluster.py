"""A made-up cluster for the page: jobs of three users, one of which has failed, under caps that are
in use. It serves the page's own files, and answers as docs/api.md has it."""

import http.server
import json
import os
import re
import threading
import time
import urllib.parse

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PAGE = os.path.join(SOURCE, "serve/page")
CHART = "/usr/share/javascript/chart.js/chart.min.js"
BEGIN = 1_800_000_000  # 2027-01-15 08:00:00 UTC
TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html"}
FAILED, SWEEP, SILENT = 41, 40, 39  # numbers of jobs
LONG_NAME = "train-resnet50-with-checkpointing/fold-3_of_5-learning-rate-0.0025"
RTL_NAME = "\u05d0\u05d9\u05de\u05d5\u05df 7"
TRACE = """Traceback (most recent call last):
  File "train.py", line 88, in <module>
    main()
  File "train.py", line 61, in main
    model.load_state_dict(torch.load(path))
FileNotFoundError: [Errno 2] No such file or directory: 'weights/epoch-12.pt'
"""


def policy():
    """The headers that the API sends with the page."""
    with open(os.path.join(SOURCE, "serve/api/connection.cpp"), encoding="utf-8") as file:
        text = re.search(r'"Content-Security-Policy: (.*?)\\r\\n"', file.read(), re.DOTALL).group(1)
    return re.sub(r'"\s+"', "", text)


def job(number, name, user, state, **more):
    figures = {"waiting": 0, "held": 0, "capped": 0, "starting": 0, "running": 0, "finished": 0,
               "failed": 0}
    figures.update({key: more.pop(key) for key in list(more) if key in figures})
    return {"job": number, "name": name, "user": user, "class": name, "state": state,
            "master": "m0", "tasks_total": sum(figures.values()), **figures, "failed_attempts": 0,
            "submitted_s": BEGIN - 3600 + 60 * number,
            "over_s": BEGIN - 120 if state in ("completed", "failed") else None, "usd": 0.0213,
            "market": "any", "gang": False, "exit_code": None, "failed_task": None, "reason": None,
            "max_fails": None, "elastic": None, "after": [],
            "command": ["python3", "train.py", "--fast"],
            **more}


def jobs():
    first = [
        job(FAILED, LONG_NAME, "ann", "failed", finished=9, failed=3, failed_attempts=4,
            exit_code=5, failed_task=4, usd=0.1841, command=["python3", "train.py", "--fold", "3"],
            reason="task 4 has failed: exit code 5"),
        job(SWEEP, "sweep", "ben", "running", running=26, waiting=259, finished=14, failed=1,
            failed_attempts=1, failed_task=250, usd=0.3127,
            reason="tasks wait, not now: instance cap (asked 1, available 0)"),
        job(SILENT, "quiet", "carol", "completed", finished=1, exit_code=0, usd=0.0004),
        job(38, RTL_NAME, "carol", "held", held=4, usd=0)]
    small = [job(number, f"nightly-{number}", ("ann", "ben", "carol")[number % 3], "completed",
                 finished=4, exit_code=0) for number in range(37, 24, -1)]
    return first + small


def attempt(number, instance, end, why, **more):
    return {"attempt": number, "instance": instance, "instance_type": "c7i.large", "market": "spot",
            "sent_s": BEGIN - 601, "started_s": BEGIN - 600, "ended_s": BEGIN - 410, "ran_s": 190,
            "end": end, "why": why, "exit_code": None, "usd": 0.0019, **more}


def task(index, phase, **more):
    ended = phase in ("finished", "failed")
    return {"task": index, "phase": phase, "attempt": 1, "instance": None, "instance_type": None,
            "usd": 0.0153, "exit_code": 0 if phase == "finished" else None, "reason": None,
            "moves": 0, "failures": 0, "ran_s": 190, "wall_s": 190, "started_s": BEGIN - 600,
            "ended_s": BEGIN - 410 if ended else None, "last_failure": None, "metrics": {},
            "why": f"has {phase}" if ended else "", **more}


def failed_task(index):
    left = "lost with its spot instance, which the cloud took back"
    return task(index, "failed", attempt=2, exit_code=5, moves=1, failures=1,
                last_failure={"kind": "exit code", "text": "exit code 5"},
                why="has failed: exit code 5",
                attempts=[attempt(1, 3, "lost", left),
                          attempt(2, 5, "failed", "failed: exit code 5", exit_code=5,
                                  started_s=BEGIN - 400, ended_s=BEGIN - 380, ran_s=20)])


def waiting_task(index):
    text = "waits, not now: instance cap (asked 1, available 0)"
    return task(index, "pending", attempt=0, usd=0, ran_s=0, wall_s=None, started_s=None, why=text,
                reason={"kind": "not now", "code": "instance cap", "text": text})


def tasks_of(number):
    if number == FAILED:
        return [failed_task(i) if i in (4, 7, 9) else
                task(i, "finished", attempts=[attempt(1, 3 + i % 2, "finished", "finished")])
                for i in range(12)]
    if number == SWEEP:
        done = [task(i, "finished", attempts=[attempt(1, 1, "finished", "finished")])
                for i in range(14)]
        run = [task(i, "running", instance=1 + i % 8, instance_type="c7i.large",
                    why=f"runs on instance {1 + i % 8} (c7i.large, spot)") for i in range(14, 40)]
        return done + run + [failed_task(i) if i == 250 else waiting_task(i)
                             for i in range(40, 300)]
    if number == SILENT:
        return [task(0, "finished")]
    return [task(i, "finished") for i in range(4)]


def instance(number):
    spot = number % 2 == 1
    return {"instance": number, "type": "c7i.large" if number < 6 else "p3.2xlarge",
            "market": "spot" if spot else "on-demand",
            "phase": "booting" if number == 8 else "ready", "released": False,
            "usd_h": 0.0357 if number < 6 else 0.918, "requested_s": BEGIN - 900,
            "up_s": None if number == 8 else BEGIN - 870,
            "master": "m0", "tasks": [{"job": SWEEP, "task": i} for i in range(14, 40)
                                      if 1 + i % 8 == number],
            "more_tasks": 0, "used": {"cpu": 1.5, "memory": 3, "gpu": 0},
            "capacity": {"cpu": 2, "memory": 4, "gpu": 0}, "connected": True,
            "limits": "cgroup v2", "isolation": "uid", "labels": {"zone": "eu-1a"}}


def machine(number, **more):
    """One of the machines that have joined; instance 6 is on the second."""
    return {"host": number, "name": f"rack{number}.example.org", "type": "own-c4m16",
            "state": "ready", "drained": False, "cpus": 4, "memory_gib": 16, "gpus": 0,
            "storage_gib": 100, "labels": {"rack": str(number)}, "instance": None,
            "heard_s": BEGIN - number, "trouble": "", **more}


def machines():
    return [machine(1), machine(2, instance=6),
            machine(3, instance=4, state="silent", heard_s=BEGIN - 700,
                    trouble="its lease ended"),
            machine(4, drained=True, labels={})]


def life(number):
    visit = {"job": FAILED, "task": 4, "attempt": 1, "sent_s": BEGIN - 600, "ended_s": BEGIN - 410,
             "end": "lost"}
    there = [{"job": SWEEP, "task": 14, "attempt": 1, "sent_s": BEGIN - 300, "ended_s": None,
              "end": "not over"}] if number < 9 else []
    gone = number >= 9
    return {"instance": number, "type": "c7i.large", "market": "spot", "zone": None, "master": "m0",
            "stage": "ended" if gone else "ready", "requested_s": BEGIN - 900,
            "up_s": BEGIN - 880, "ready_s": BEGIN - 870, "released_s": None,
            "ended_s": BEGIN - 410 if gone else None,
            "why_rented": "an instance of its own costs least",
            "why_ended": "the cloud took the spot instance back" if gone else None,
            "usd_h": 0.0357, "usd": 0.0102, "tasks": [visit] + there, "tasks_before": 2}


def change(kind, **more):
    return {"change": kind, "job": None, "name": None, "tasks": 0, "task": None, "width": None,
            "instance": None, "from": None, "instance_type": "c7i.large", "market": "spot",
            "usd_h": None, "cause": "x", "why": "sharing an instance costs less", **more}


def decisions():
    rent = ("Rents instance 8 (p3.2xlarge, on-demand, $0.9180 an hour); puts 3 tasks of job 40 "
            "(sweep) on instance 8 (p3.2xlarge, on-demand): sharing an instance costs less.")
    move = ("Moves task 4 of job 41 (train) from instance 3 to instance 5 (c7i.large, spot): the "
            "cloud takes the spot instance back.")
    entries = []
    for i in range(14):
        about = [(rent, [change("rent", instance=8), change("place", job=SWEEP, instance=8)]),
                 (move, [change("move", job=FAILED, instance=5, **{"from": 3})])][i % 2]
        entries.append({"at_s": BEGIN - 40 * i, "master": "m0", "round": 120 - i,
                        "choice": "partial", "figures": {"saving_usd_h": 0.12}, "launches": 1,
                        "placements": 3, "moves": 0, "releases": 0, "resizes": 0,
                        "changes": about[1], "changes_left_out": 0, "sentence": about[0],
                        "details": "Acts on what has just happened: 46 steps of search."})
    return entries


def history():
    """Two hours of the past, with 20 minutes of which nothing is known."""
    kept = [minute for minute in range(120, 0, -1) if not 50 < minute <= 70]
    return [{"at_s": BEGIN - 60 * minute, "instances": max(2, 8 - minute // 15),
             "jobs_waiting": max(2, 8 - minute // 15) if minute > 80 else 1 + minute % 3,
             "spent_usd": 1.9 - 0.015 * minute, "tasks_pending": 264 - 2 * minute,
             "tasks_running": max(4, 26 - minute // 4), "usd_h": 2.9325 - 0.12 * (minute // 6)}
            for minute in kept]


class PageCluster:
    """Listens on a port of the loopback interface until close(). `tells_lives`: it knows the
    attempts of tasks and the lives of instances."""

    def __init__(self, tells_lives=True):
        self.tells_lives = tells_lives
        self.role = {"token": "ann-laptop", "role": "admin", "user": "", "expires_s": None,
                     "join_port": True}
        self.caps = [{"master": "m0", "max_instances": 8, "max_usd_h": 5, "max_usd_day": 20}]
        self.orders = []  # (path, body, headers) of what was to be changed
        self.refused = set()  # paths of orders that are refused
        self.asked = []   # paths of all other requests of the API
        self.logs = {(FAILED, 4, "err"): TRACE, (FAILED, 7, "err"): TRACE,
                     (FAILED, 9, "out"): "epoch 1\n", (FAILED, 9, "err"): "warning: slow disk\n",
                     (FAILED, 0, "out"): "".join(f"epoch {i}, loss {1 / i:.3f}\n"
                                                 for i in range(1, 30))}
        self.jobs = jobs()
        self.tells_outputs = True
        self.machines = {"hosts": machines(), "lease_s": 600}
        self.began = time.monotonic()
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                cluster.get(self)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                cluster.orders.append((self.path, json.loads(body) if body else None,
                                       dict(self.headers)))
                if self.path in cluster.refused:
                    return cluster.send(self, {"error": {"code": "x", "message": "no"}}, 409)
                again = self.path.endswith("/resubmit")
                cluster.send(self, {"jobs": [{"job": 57}]} if again else {}, 201 if again else 200)

            def log_message(self, format, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    # ---- answers ----

    def send(self, to, document, status=200, kind="application/json", headers=None):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        to.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)),
                            "Content-Security-Policy": policy(), "Cache-Control": "no-store",
                            **(headers or {})}.items():
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)

    def get(self, to):
        path, _, query = to.path.partition("?")
        asked = {key: values[-1] for key, values in urllib.parse.parse_qs(query).items()}
        if not path.startswith("/v1/"):
            return self.send_file(to, path)
        self.asked.append(to.path)
        if path.endswith("/log") and not self.tells_outputs:
            return self.send(to, {"error": {"code": "x", "message": "it is a job of ann"}}, 403)
        if path.endswith("/log"):
            return self.send_log(to, path, asked)
        document = self.document(path, asked)
        if document is None:
            return self.send(to, {"error": {"code": "x", "message": f"there is no {path}"}}, 404)
        return self.send(to, {"complete": True, "silent": [], **document})

    def send_file(self, to, path):
        name = "index.html" if path == "/" else path[1:]
        where = CHART if name == "chart.js" else os.path.join(PAGE, os.path.basename(name))
        if not os.path.isfile(where):
            return self.send(to, {}, 404)
        with open(where, "rb") as file:
            return self.send(to, file.read(), kind=TYPES[where.rsplit(".", 1)[1]] +
                             "; charset=utf-8")

    def send_log(self, to, path, asked):
        _, _, _, number, _, index, _ = path.split("/")
        text = self.logs.get((int(number), int(index), asked["stream"]), "").encode()
        offset = int(asked["offset"])
        piece = text[offset:offset + int(asked["max"])]
        end = offset + len(piece)
        if asked.get("raw") == "1":
            return self.send(to, piece, kind="application/octet-stream",
                             headers={"Muster-Next-Offset": str(end),
                                      "Muster-More": "1" if end < len(text) else "0"})
        return self.send(to, {"job": int(number), "task": int(index), "stream": asked["stream"],
                              "attempt": 1, "offset": offset, "next_offset": end,
                              "size": len(text), "text": piece.decode(), "more": end < len(text),
                              "lost": False, "lost_reason": None})

    def document(self, path, asked):
        plain = {"/v1/me": lambda: self.role, "/v1/status": self.status,
                 "/v1/jobs": lambda: self.listed(asked),
                 "/v1/services": lambda: {"services": []},
                 "/v1/instances": lambda: {"instances": [instance(i) for i in range(1, 9)]},
                 "/v1/hosts": lambda: self.machines,
                 "/v1/decisions": lambda: {"decisions": decisions()[:int(asked["limit"])]},
                 "/v1/history": lambda: {"samples": history()}, "/v1/cost": self.cost,
                 "/v1/cost/today": self.cost_today}
        if path in plain:
            return plain[path]()
        of_instance = re.fullmatch(r"/v1/instances/(\d+)", path)
        if of_instance and self.tells_lives and int(of_instance.group(1)) < 12:
            return life(int(of_instance.group(1)))
        of_job = re.fullmatch(r"/v1/jobs/(\d+)(/explain)?", path)
        found = [each for each in self.jobs if of_job and each["job"] == int(of_job.group(1))]
        if not found:
            return None
        page = self.page(found[0]["job"], asked)
        return {"job": found[0], **page} if of_job.group(2) else {**found[0], **page}

    def page(self, number, asked):
        wanted = [each for each in tasks_of(number) if each["task"] > int(asked.get("after", -1))
                  and each["phase"] == asked.get("phase", each["phase"])]
        if not self.tells_lives:
            for each in wanted:
                each.pop("attempts", None)
                each.pop("wall_s")
        limit = int(asked["limit"])
        behind = max(0, len(wanted) - limit)
        return {"tasks": wanted[:limit], "tasks_behind": behind,
                "next": wanted[limit - 1]["task"] if behind else None}

    def listed(self, asked):
        over = ("completed", "failed")
        state = {"active": lambda each: each["state"] not in over,
                 "over": lambda each: each["state"] in over, "all": lambda each: True}
        wanted = [each for each in self.jobs if state[asked["state"]](each)
                  and each["user"] == asked.get("user", each["user"])]
        return {"jobs": wanted[:int(asked["limit"])], "next": None}

    def cost(self):
        by = [{"name": "ben", "usd": 1.2213}, {"name": "ann", "usd": 0.4102},
              {"name": "carol", "usd": 0.0313}]
        return {"total_usd": 1.9, "unsettled_usd": 0, "tasks_usd": 1.6628, "by": by,
                "idle_usd": {"boot": 0.05, "idle": 0.1, "drain": 0.02, "fragmentation": 0.0672}}

    def cost_today(self):
        return {"since_s": BEGIN - BEGIN % 86400,
                "by": [{"name": "ben", "usd": 0.3127}, {"name": "ann", "usd": 0.2415}]}

    def status(self):
        now = BEGIN + int(time.monotonic() - self.began)
        load = {"jobs": 17, "pending_tasks": 264, "instances": 8, "usd_h": 2.9325,
                "policy": "muster"}
        return {"now_s": now, "jobs": {"waiting": 1, "running": 1, "held": 1, "over": 15,
                                       "handing_over": 0},
                "tasks": {"pending": 264, "running": 26}, "elastic": {"jobs": 0, "workers": 0},
                "instances": [{"type": "c7i.large", "market": "on-demand", "count": 2},
                              {"type": "c7i.large", "market": "spot", "count": 3},
                              {"type": "p3.2xlarge", "market": "on-demand", "count": 3}],
                "usd_h": 2.9325, "total_usd": 1.9, "today_usd": 0.7921, "caps": self.caps,
                "nodes": [{"node": "n0", "roles": ["site tokyo", "api"], "connected": True,
                           "load": {}},
                          {"node": "n2", "roles": ["master m0"], "connected": True, "load": load}],
                "trouble": []}
