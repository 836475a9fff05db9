#!/usr/bin/env python3
"""Sends requests to a service for a while, and says how many failed and how long they took.

It reads the file that `muster endpoints NAME --follow FILE` keeps up to date, as a proxy would, and
asks the replicas in turn. A request counts as failed when it got no answer, or one with a status
from 400 on; no request is sent twice. A SIGTERM ends it early.
"""

import argparse
import http.client
import json
import pathlib
import signal
import sys
import threading
import time


class Endpoints:
    """Places of the ready replicas, as the file says at the moment."""

    def __init__(self, file, port):
        self.file, self.port = pathlib.Path(file), port
        self.lock = threading.Lock()
        self.known, self.places, self.turn = None, [], 0

    def next(self):
        """The next one in turn; None while there is none."""
        with self.lock:
            try:
                stat = self.file.stat()
                changed = (stat.st_ino, stat.st_mtime_ns)
                if changed != self.known:
                    lines = self.file.read_text(encoding="utf-8").splitlines()
                    self.places = [line.split()[1] for line in lines
                                   if line.split()[0] == self.port]
                    self.known = changed
            except OSError:
                return None
            if not self.places:
                return None
            self.turn += 1
            return self.places[self.turn % len(self.places)]


class Load:
    def __init__(self, options):
        self.options = options
        self.endpoints = Endpoints(options.endpoints, options.port)
        self.until = time.monotonic() + options.seconds
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.latencies, self.failures, self.without_place = [], [], 0

    def ask(self, place):
        began = time.monotonic()
        try:
            link = http.client.HTTPConnection(place, timeout=self.options.timeout_s)
            link.request("GET", self.options.path, headers={"Connection": "close"})
            answer = link.getresponse()
            answer.read()
            link.close()
            fault = None if answer.status < 400 else f"status {answer.status}"
        except (OSError, http.client.HTTPException) as error:
            fault = repr(error)
        with self.lock:
            if fault is None:
                self.latencies.append(time.monotonic() - began)
            else:
                self.failures.append(f"{place}: {fault}")
                self.write_down(f"{time.time():.3f} {place}: {fault}")

    def write_down(self, line):
        if self.options.failures is not None:
            with open(self.options.failures, "a", encoding="utf-8") as file:
                file.write(line + "\n")

    def client(self):
        while time.monotonic() < self.until and not self.stopped.is_set():
            place = self.endpoints.next()
            if place is None:
                with self.lock:
                    self.without_place += 1
                time.sleep(0.05)
                continue
            self.ask(place)
            time.sleep(self.options.clients / self.options.rate)

    def run(self):
        signal.signal(signal.SIGTERM, lambda *_: self.stopped.set())
        threads = [threading.Thread(target=self.client) for _ in range(self.options.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        known = sorted(self.latencies)
        p99_ms = round(1000 * known[int(0.99 * (len(known) - 1))], 3) if known else None
        return {"requests": len(known) + len(self.failures), "failed": len(self.failures),
                "without_place": self.without_place, "p99_ms": p99_ms,
                "failures": self.failures[:10]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoints", help="file of `muster endpoints NAME --follow FILE`")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=50, help="requests a second, all together")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--path", default="/work")
    parser.add_argument("--port", default="http", help="name of the port that is asked")
    parser.add_argument("--timeout-s", type=float, default=10)
    parser.add_argument("--failures", metavar="FILE", help="gets a line of each, with its time")
    said = Load(parser.parse_args()).run()
    print(json.dumps(said))
    return 1 if said["failed"] or said["without_place"] else 0


if __name__ == "__main__":
    sys.exit(main())
