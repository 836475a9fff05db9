"""A server that answers as the API does, or as it should not, one scripted answer after another."""

import http.server
import json
import socket
import struct
import threading

TOKEN = "let-me-in"


def job(number, state="completed", exit_code=0, **more):
    """A job's document, as docs/api.md has it."""
    over = state in ("completed", "failed", "refused", "cancelled")
    return {"job": number, "name": "sweep", "user": "ann", "class": "sweep", "state": state,
            "master": "m0", "tasks_total": 1, "waiting": 0, "held": 0, "capped": 0, "starting": 0,
            "running": 0 if over else 1, "finished": 1 if state == "completed" else 0,
            "failed": 1 if state == "failed" else 0, "failed_attempts": 0,
            "submitted_s": 1800000000.5,
            "over_s": 1800000009 if over else None,
            "usd": 0.0123, "market": "any", "gang": False, "exit_code": exit_code,
            "command": ["true"], **more}


def task(index, phase="finished", **more):
    return {"task": index, "phase": phase, "attempt": 1, "instance": 3,
            "instance_type": "c7i.large", "usd": 0.03, "exit_code": 0, "reason": None, "moves": 0,
            **more}


def details(number, state="completed", exit_code=0, tasks=None, **more):
    return {**job(number, state, exit_code, **more), "tasks": tasks or [task(0)]}


class Reply:
    """One answer: a document, or bytes as they are; `reset` breaks the connection instead, and
    `silent` leaves it open without a word."""

    def __init__(self, document=None, status=200, headers=None, raw=None, reset=False,
                 silent=False):
        self.status = status
        self.headers = headers or {}
        self.body = raw if raw is not None else json.dumps(document).encode()
        self.reset = reset
        self.silent = silent


def problem(status, message, **headers):
    return Reply({"error": {"code": "x", "message": message}}, status,
                 {name.replace("_", "-"): value for name, value in headers.items()})


class FakeApi:
    """Listens on a port of the loopback interface until close()."""

    def __init__(self):
        self.requests = []  # (method, path, body)
        self.headers = []   # of each of these
        self.closed = threading.Event()
        self.replies = {}   # (method, path without its query): the answers; the last one stays
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are sent one after the other

            def do_GET(self):
                self.answer("GET")

            def do_POST(self):
                self.answer("POST")

            def answer(self, method):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                api.requests.append((method, self.path, body))
                api.headers.append(self.headers)
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    return self.send(problem(401, "wrong token"))
                replies = api.replies.get((method, self.path.partition("?")[0]))
                if not replies:
                    return self.send(problem(404, f"there is no {self.path}"))
                reply = replies.pop(0) if len(replies) > 1 else replies[0]
                return self.send(reply(self.path) if callable(reply) else reply)

            def send(self, reply):
                if reply.silent:
                    api.closed.wait()
                    self.close_connection = True
                    return
                if reply.reset:
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RD)
                    self.connection.close()
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                try:
                    self.wfile.write(reply.body)
                except OSError:
                    self.close_connection = True  # the client had enough

            def log_message(self, format, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # a connection that was broken on purpose

        self.server = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def on(self, method, path, *replies):
        """What is answered to the requests, one after another; plain documents are fine, and so
        are functions that make the answer of the path with its query."""
        self.replies[(method, path)] = [reply if isinstance(reply, Reply) or callable(reply)
                                        else Reply(reply) for reply in replies]

    def bodies(self, path):
        return [json.loads(body) for method, where, body in self.requests
                if method == "POST" and where == path]

    def paths(self):
        return [path for _, path, _ in self.requests]

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
