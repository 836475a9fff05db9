"""Logistic regression by several workers at once, as many as Muster starts: see README.md.

The samples are cut into shards, worker i takes every n-th one from i on, and the first worker adds
up what the others send, shard after shard. So the result is the same, to the last bit, whatever
number of workers made which step.
"""

import argparse
import json
import math
import os
import random
import signal
import socket
import sys
import time

SHARDS = 24
FEATURES = 6
stopping = []  # not empty once Muster has asked for a stop


def samples_of(shard, per_shard, seed):
    """The samples of a shard, always the same ones: (features, label) each."""
    chance = random.Random(seed * SHARDS + shard)
    truth = [(-1) ** i * (i + 1) / 2 for i in range(FEATURES)]
    samples = []
    for _ in range(per_shard):
        x = [chance.gauss(0, 1) for _ in range(FEATURES)]
        odds = sum(w * v for w, v in zip(truth, x))
        samples.append((x, 1 if chance.random() < 1 / (1 + math.exp(-odds)) else 0))
    return samples


def gradient(samples, weights):
    """The loss of the samples, and its gradient."""
    loss, slope = 0.0, [0.0] * FEATURES
    for x, label in samples:
        p = 1 / (1 + math.exp(-sum(w * v for w, v in zip(weights, x))))
        loss -= math.log(p if label else 1 - p)
        for i in range(FEATURES):
            slope[i] += (p - label) * x[i]
    return [loss] + slope


class Line:
    """Documents over a socket, one a line."""

    def __init__(self, connection):
        connection.settimeout(1)
        self.connection, self.rest = connection, b""

    def send(self, document):
        self.connection.sendall(json.dumps(document).encode() + b"\n")

    def receive(self):
        """What comes next; ConnectionError when nothing more can."""
        while b"\n" not in self.rest:
            try:
                piece = self.connection.recv(65536)
            except TimeoutError:
                if stopping:
                    raise ConnectionError("to be stopped") from None
                continue
            if not piece:
                raise ConnectionError("the other end is gone")
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)


class Progress:
    """Tells Muster how far the job is, through the first worker's socket."""

    def __init__(self):
        self.line, self.told_at = None, 0
        name = os.environ.get("MUSTER_SOCKET", "")
        if name:
            self.line = socket.socket(socket.AF_UNIX)
            self.line.settimeout(10)
            self.line.connect("\0" + name[1:] if name[0] == "@" else name)

    def tell(self, done, now=False):
        if self.line is None or (time.monotonic() < self.told_at + 0.2 and not now):
            return
        self.told_at = time.monotonic()
        self.line.sendall(b"progress %d\n" % done)
        self.line.recv(256)  # "ok\n"


class Job:
    """What is asked for, and which worker of it this process is."""

    def __init__(self, asked):
        self.asked = asked
        self.worker = int(os.environ.get("MUSTER_TASK_INDEX", 0))
        self.workers = int(os.environ.get("MUSTER_TASK_COUNT", 1))
        self.name = os.environ.get("MUSTER_JOB_ID", "0")
        self.meeting = os.path.join(asked.meet, f"leader-{self.name}")
        self.shards = {shard: samples_of(shard, asked.samples // SHARDS, asked.seed)
                       for shard in range(self.worker, SHARDS, self.workers)}

    def own(self, weights):
        """Of this worker's shards: {shard: loss and gradient}."""
        found = {}
        for shard, samples in self.shards.items():
            began = time.monotonic()
            found[shard] = gradient(samples, weights)
            time.sleep(max(0.0, began + self.asked.shard_s - time.monotonic()))
        return found


def write_whole(path, text):
    """A kill in the middle leaves the old file as it was."""
    with open(path + ".new", "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


class Checkpoint:
    """Kept by the first worker alone, which every width has."""

    def __init__(self):
        folder = os.environ.get("MUSTER_CHECKPOINT_DIR", "")
        self.path = os.path.join(folder, "state.json") if folder else ""

    def load(self):
        if self.path and os.path.exists(self.path):
            with open(self.path) as file:
                return json.load(file)
        return {"step": 0, "loss": None, "weights": [0.0] * FEATURES}

    def save(self, state):
        if self.path:
            write_whole(self.path, json.dumps(state))


def gather_peers(job):
    """Waits until all the other workers have come; none where there are none."""
    if job.workers == 1:
        return []
    door = socket.create_server((job.asked.host, 0), backlog=job.workers)
    door.settimeout(0.2)
    write_whole(job.meeting, json.dumps([job.asked.host, door.getsockname()[1]]))
    peers = {}
    while len(peers) < job.workers - 1:
        if stopping:
            raise ConnectionError("to be stopped")
        try:
            peer = Line(door.accept()[0])
            hello = peer.receive()
            if hello != {"job": job.name, "worker": hello.get("worker"), "of": job.workers}:
                peer.connection.close()  # of another job, by a file that was out of date
                continue
            peer.send({"welcome": job.name})
        except (OSError, ValueError):
            continue
        peers[hello["worker"]] = peer
    return list(peers.values())


def lead(job):
    """The first worker: adds up, goes on, saves, reports."""
    checkpoint, progress = Checkpoint(), Progress()
    state = checkpoint.load()
    print(f"width {job.workers} from step {state['step']} on", flush=True)
    whole = job.asked.samples // SHARDS * SHARDS
    peers = []
    if state["step"] == 0 and os.path.exists(job.meeting):
        os.remove(job.meeting)  # of a job of that name that was there before
    try:
        if state["step"] < job.asked.steps:
            peers = gather_peers(job)
        while state["step"] < job.asked.steps and not stopping:
            for peer in peers:
                peer.send({"weights": state["weights"]})
            parts = job.own(state["weights"])
            for peer in peers:
                parts.update((int(shard), part) for shard, part in peer.receive().items())
            # In the order of the shards: floating point adds up differently in another one.
            total = [sum(parts[shard][i] for shard in range(SHARDS)) for i in range(FEATURES + 1)]
            state["loss"] = total[0] / whole
            state["weights"] = [w - job.asked.rate * slope / whole
                                for w, slope in zip(state["weights"], total[1:])]
            state["step"] += 1
            progress.tell(state["step"] * whole)
        progress.tell(state["step"] * whole, now=True)
    finally:
        # Also after a lost worker: whole steps are never lost.
        checkpoint.save(state)
    if state["step"] < job.asked.steps:
        return 85
    # For workers that are stopped before they hear of it, and would look for the first one in vain.
    write_whole(job.meeting, json.dumps("over"))
    print(f"loss {state['loss']!r} weights {state['weights']!r}", flush=True)
    for peer in peers:
        try:
            peer.send({"over": True})
        except OSError:
            pass
    return 0


def meet_leader(job):
    """A connection to the first worker, once that one listens; None when all is done."""
    began = time.monotonic()
    while not stopping:
        try:
            with open(job.meeting) as file:
                place = json.load(file)
            if place == "over":
                # Each cluster counts its jobs from 1 on: a first worker that has just begun
                # removes what an earlier job of its name has left.
                if time.monotonic() - began > 5:
                    return None
                time.sleep(0.1)
                continue
            leader = Line(socket.create_connection(place, timeout=1))
            leader.send({"job": job.name, "worker": job.worker, "of": job.workers})
            if leader.receive() == {"welcome": job.name}:
                return leader
        except (OSError, ValueError):
            time.sleep(0.1)
    raise ConnectionError("to be stopped")


def follow(job):
    """The other workers: compute what they are asked for."""
    leader = meet_leader(job)
    if leader is None:
        return 0
    while not stopping:
        asked = leader.receive()
        if "over" in asked:
            return 0
        leader.send(job.own(asked["weights"]))
    return 85


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--samples", type=int, default=2400)
    parser.add_argument("--rate", type=float, default=2.0, help="of learning")
    parser.add_argument("--seed", type=int, default=1, help="that the samples are drawn from")
    parser.add_argument("--meet", default=".", help="a folder that all workers see")
    parser.add_argument("--host", default="127.0.0.1", help="where others reach the first worker")
    parser.add_argument("--shard-s", type=float, default=0.0,
                        help="seconds that a shard takes at least, as if on a device of its own")
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    job = Job(parser.parse_args())
    try:
        return lead(job) if job.worker == 0 else follow(job)
    except (ConnectionError, TimeoutError) as lost:
        # A worker that is gone was stopped, as this one is about to be, or has failed.
        until = time.monotonic() + 60
        while not stopping and time.monotonic() < until:
            time.sleep(0.1)
        print(f"stops: {lost}", file=sys.stderr)
        return 85 if stopping else 1


if __name__ == "__main__":
    sys.exit(main())
