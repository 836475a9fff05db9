#!/usr/bin/env python3
"""A small HTTP server to try services with. It needs nothing but Python.

GET /work answers one of --items values, which costs --work-ms of a processor to compute and is
kept in a cache of --cache values. GET /healthz says that it is well; until --warm-s have passed
since its start it answers 503. GET /stop ends it with exit code 1, as a crash would. Every
--report-s it tells Muster the p99 of its latency in ms over the last --window-s, as the metric
p99_ms; 0 when it was asked nothing.

With --value-kib values are as large as those of a real service, and an answer carries one; with
--memory-gib the cache has as many as fit into that memory. tools/bench/service_curves measures what
processors and memory do for it.
"""

import argparse
import bisect
import collections
import itertools
import http.server
import os
import random
import signal
import socket
import threading
import time

LATENCIES_KEPT = 10_000
PROGRAM_MIB = 48  # what the program takes besides its values
OVERHEAD_BYTES = 400  # what a value takes besides its bytes
WARMING_DRAWS = 200_000


class Items:
    """Which items are asked for: number n, from 1 on, in proportion to 1 / n^popularity."""

    def __init__(self, count, popularity):
        self.count = count
        self.sums = None if popularity == 0 else list(
            itertools.accumulate(n ** -popularity for n in range(1, count + 1)))

    def draw(self):
        if self.sums is None:
            return random.randrange(self.count)
        at = bisect.bisect(self.sums, random.random() * self.sums[-1])
        return min(at, self.count - 1)


def cache_size(options):
    """How many values are kept."""
    if options.memory_gib is None:
        return options.cache
    room = options.memory_gib * 2**30 - PROGRAM_MIB * 2**20
    return max(0, int(room / (options.value_kib * 1024 + OVERHEAD_BYTES)))


class Work:
    """Values that take time to compute, and a cache of some of them."""

    def __init__(self, options):
        self.options = options
        self.items = Items(options.items, options.popularity)
        self.kept = cache_size(options)
        self.cache = collections.OrderedDict()
        self.lock = threading.Lock()
        self.latencies = collections.deque(maxlen=LATENCIES_KEPT)

    def value(self, item):
        with self.lock:
            if item in self.cache:
                self.cache.move_to_end(item)
                return self.cache[item]
        if self.options.fetch_ms > 0:
            time.sleep(self.options.fetch_ms / 1000)
        until = time.thread_time() + self.options.work_ms / 1000
        while time.thread_time() < until:
            pass
        value = self.fresh(item)
        with self.lock:
            self.cache[item] = value
            while len(self.cache) > self.kept:
                self.cache.popitem(last=False)
        return value

    def fresh(self, item):
        """The text of a value, behind which come the bytes that make it large."""
        return f"{item * item}\n".encode() + b"." * int(self.options.value_kib * 1024)

    def warm(self):
        """Fills the cache as many requests would have."""
        if self.kept >= self.options.items:
            order = dict.fromkeys(range(self.options.items))
        else:
            order = collections.OrderedDict()
            for _ in range(WARMING_DRAWS):
                item = self.items.draw()
                order[item] = None
                order.move_to_end(item)
                if len(order) > self.kept:
                    order.popitem(last=False)
        for item in order:
            self.cache[item] = self.fresh(item)

    def p99_ms(self):
        since = time.monotonic() - self.options.window_s
        with self.lock:
            while self.latencies and self.latencies[0][0] < since:
                self.latencies.popleft()
            known = sorted(latency for _, latency in self.latencies)
        return 1000 * known[int(0.99 * (len(known) - 1))] if known else 0


def say(line):
    """Says a line to Muster; nothing where the server runs without it."""
    name = os.environ.get("MUSTER_SOCKET")
    if not name:
        return
    address = "\0" + name[1:] if name.startswith("@") else name
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(address)
        link.sendall(line.encode() + b"\n")
        link.recv(256)


def report(work):
    while True:
        time.sleep(work.options.report_s)
        say(f"metric p99_ms {work.p99_ms():.3f}")


def handler_of(work, began):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self, status, body):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            asked = time.monotonic()
            if self.path == "/healthz":
                warm = asked - began >= work.options.warm_s
                return self.answer(200 if warm else 503, b"well\n" if warm else b"warming up\n")
            if self.path == "/stop":
                os._exit(1)
            if self.path != "/work":
                return self.answer(404, b"no such page\n")
            value = work.value(work.items.draw())
            self.answer(200, work.options.version.encode() + b" " + value)
            with work.lock:
                now = time.monotonic()
                work.latencies.append((now, now - asked))

        def log_message(self, *_):
            pass

    return Handler


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="v1", help="what its answers begin with")
    parser.add_argument("--work-ms", type=float, default=2, help="processor time of a value")
    parser.add_argument("--items", type=int, default=1000, help="number of values")
    parser.add_argument("--cache", type=int, default=200, help="values that are kept")
    parser.add_argument("--memory-gib", type=float, metavar="GIB",
                        help=f"keep what fits into it beside {PROGRAM_MIB} MiB, instead of --cache")
    parser.add_argument("--value-kib", type=float, default=0, help="size of a value")
    parser.add_argument("--fetch-ms", type=float, default=0,
                        help="wait for a value that is not kept, as for a database")
    parser.add_argument("--popularity", type=float, default=0, metavar="P",
                        help="item n is asked for in proportion to 1 / n^P")
    parser.add_argument("--warm-cache", action="store_true",
                        help="begin with the values that many requests would have left")
    parser.add_argument("--warm-s", type=float, default=0, help="from its start until it is ready")
    parser.add_argument("--report-s", type=float, default=2, help="between two reports of its p99")
    parser.add_argument("--window-s", type=float, default=30, help="for which its p99 is")
    options = parser.parse_args()
    work = Work(options)
    if options.warm_cache:
        work.warm()
    port = int(os.environ.get("MUSTER_PORT_HTTP", "8080"))
    server = http.server.ThreadingHTTPServer(("", port), handler_of(work, time.monotonic()))
    # Requests that are being answered are answered before it ends.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    threading.Thread(target=report, args=(work,), daemon=True).start()
    print(f"{options.version} listens at port {port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
