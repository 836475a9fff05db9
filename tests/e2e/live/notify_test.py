"""Messages at the ends of jobs: receivers that fail, hang, redirect and have no certificate that
counts, mail, and a node that is killed before it has sent."""

import hashlib
import hmac
import http.server
import json
import os
import pathlib
import socketserver
import ssl
import tempfile
import threading
import time
import unittest

from cluster import Cluster, assert_golden

SMALL = ["--cpus", "0.1", "--memory", "0.1"]


class Receiver(http.server.BaseHTTPRequestHandler):
    """Notes what comes; how it answers depends on the path."""

    protocol_version = "HTTP/1.1"
    came = []
    tries = {}
    is_deaf = False

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path
        Receiver.tries[path] = Receiver.tries.get(path, 0) + 1
        is_first = Receiver.tries[path] == 1
        if (path == "/late" and Receiver.is_deaf) or (path == "/second-time" and is_first):
            return self.answer(500)
        if path.startswith("/to/"):
            return self.answer(307, Location=path[len("/to/"):])
        if path == "/circle":
            return self.answer(308, Location="/circle")
        if path == "/outside":
            return self.answer(307, Location="http://169.254.169.254/latest/meta-data")
        if path == "/hangs":
            time.sleep(30)
            return None
        if path == "/closes":
            self.close_connection = True
            return None
        if path == "/garbage":
            self.close_connection = True
            return self.wfile.write(b"\x00\xff garbage\r\n\r\n")
        if path == "/endless":
            self.close_connection = True
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            try:
                for _ in range(10_000):
                    self.wfile.write(b"x" * 65_536)
            except OSError:
                pass
            return None
        Receiver.came.append((path, dict(self.headers), body))
        return self.answer(204)

    def answer(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def came_to(path):
    return [(headers, body) for at, headers, body in Receiver.came if at == path]


def https_receiver(cluster):
    """Its certificate is of an authority that no computer knows."""
    keys = cluster.dir / "hook-keys"
    cluster.run("pki", "init", keys, "--cluster", "hooks")
    files = json.loads(cluster.run("pki", "issue", keys, "--node", "hook", "--host", "127.0.0.1",
                                   "--json").stdout)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["certificate"], files["key"])
    server = Server(("127.0.0.1", 0), Receiver)
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Messages(unittest.TestCase):
    def test_ends_are_told_whatever_receivers_do_and_after_a_kill(self):
        server = Server(("127.0.0.1", 0), Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        self.hook = f"http://127.0.0.1:{server.server_port}"
        with Cluster("notify.allow=127.0.0.1", "notify.retry=200ms", "notify.retry_longest=400ms",
                     "notify.timeout=1s", "notify.tries=3", nodes=1, masters=1) as cluster:
            self.hostile_receivers(cluster)
            self.unknown_certificate(cluster)
            self.told_once(cluster)
            self.killed(cluster)
            self.refused(cluster)
            self.assertEqual(came_to("/unsigned"), [])

    def test_mail_is_sent_again_until_sendmail_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            mailer = folder / "sendmail"
            mailer.write_text(f"#!/bin/sh\ncat > {folder}/mail.$$ && echo \"$@\" >> {folder}/to\n"
                              f"[ $(wc -l < {folder}/to) -gt 1 ]\n")
            mailer.chmod(0o755)
            with Cluster(f"notify.sendmail={mailer}", "notify.from=muster@example.org",
                         "notify.retry=200ms", nodes=1, masters=1) as cluster:
                job = self.submit(cluster, "exit 4", "--name", "-Bcc: all", "--notify",
                                  "me@example.org")
                cluster.wait_over([job])
                cluster.wait_until("the mail", lambda: (folder / "to").exists() and len(
                    (folder / "to").read_text().splitlines()) > 1, timeout=30)
            self.assertEqual(set((folder / "to").read_text().splitlines()),
                             {"-i -f muster@example.org -- me@example.org"})
            first, second = (file.read_text() for file in folder.glob("mail.*"))
            self.assertEqual(first, second)
            head, _, body = first.partition("\n\n")
            self.assertIn("To: me@example.org", head)
            self.assertNotIn("Bcc", head)
            self.assertIn(str(job), body)

    def submit(self, cluster, script, *flags):
        return int(cluster.shell(script, *SMALL, *flags))

    def hostile_receivers(self, cluster):
        """Their tries go on beside all that follows."""
        for path in ("/hangs", "/endless", "/circle", "/outside", "/closes", "/garbage"):
            self.submit(cluster, "true", "--notify", self.hook + path)

    def unknown_certificate(self, cluster):
        server = https_receiver(cluster)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.submit(cluster, "true", "--notify",
                    f"https://127.0.0.1:{server.server_port}/unsigned")
        cluster.wait_until("trouble", lambda: "messages to users fail"
                           in cluster.run("status").stdout, timeout=60)

    def told_once(self, cluster):
        good = self.submit(cluster, "true", "--name", "fine", "--notify",
                           f"{self.hook}/second-time,{self.hook}/to/{self.hook}/end")
        quiet = self.submit(cluster, "true", "--notify", f"{self.hook}/fail", "--notify-on", "fail")
        bad = self.submit(cluster, "exit 3", "--notify", f"{self.hook}/fail", "--notify-on",
                          "fail,fail")
        file = cluster.dir / "jobs.json"
        file.write_text(json.dumps({"jobs": [
            {"command": ["true"], "cpus": 0.1, "memory_gib": 0.1, "notify": [f"{self.hook}/all"],
             "notify_on": "all"} for _ in range(3)]}))
        group = cluster.submit(file)
        cluster.wait_over([good, quiet, bad, *group])
        for path in ("/second-time", "/end", "/fail", "/all"):
            cluster.wait_until(path, lambda path=path: came_to(path), timeout=30)
        [(headers, body)] = came_to("/second-time")
        told = json.loads(body)
        self.assertEqual((told["event"], told["job"], told["name"], told["outcome"]),
                         ("job_over", good, "fine", "completed"))
        self.assertEqual(headers["Muster-Message"], told["id"])
        self.assert_signed(cluster, told["user"], headers["Muster-Signature"], body)
        [(_, failed)] = came_to("/fail")
        self.assertEqual((json.loads(failed)["job"], json.loads(failed)["outcome"]),
                         (bad, "failed"))
        [(_, whole)] = came_to("/all")
        whole = json.loads(whole)
        self.assertEqual((whole["event"], whole["jobs"], whole["completed"]), ("jobs_over", 3, 3))
        shown = cluster.run("job", good, "--json").stdout
        self.assertIn("127.0.0.1", shown)
        self.assertNotIn("second-time", shown)

    def assert_signed(self, cluster, user, signature, body):
        """As docs/jobs.md tells receivers."""
        [file] = cluster.dir.glob("state/notify-key")
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        key = hmac.new(file.read_text().strip().encode(), user.encode(), hashlib.sha256).hexdigest()
        said = dict(part.split("=", 1) for part in signature.split(","))
        right = hmac.new(key.encode(), said["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        self.assertTrue(hmac.compare_digest(said["v1"], right))
        self.assertLess(abs(time.time() - int(said["t"])), 300)

    def killed(self, cluster):
        Receiver.is_deaf = True
        job = self.submit(cluster, "true", "--notify", f"{self.hook}/late")
        cluster.wait_over([job])
        cluster.wait_until("a try", lambda: Receiver.tries.get("/late"), timeout=30)
        cluster.kill(cluster.node("n0"))
        Receiver.is_deaf = False
        cluster.wait_until("the message", lambda: came_to("/late"), timeout=60)
        ids = {json.loads(body)["id"] for _, body in came_to("/late")}
        self.assertEqual(len(ids), 1)
        self.assertEqual(json.loads(came_to("/late")[0][1])["job"], job)

    def refused(self, cluster):
        cluster.wait_until("the node answers again", lambda:
                           cluster.run("status", check=False).returncode == 0, timeout=60)
        for address in ("https://169.254.169.254/s3cr3t", "http://8.8.8.8/s3cr3t",
                        "me@example.org"):
            done = cluster.run("submit", "--notify", address, "--", "true", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("s3cr3t", done.stderr)
            assert_golden(self, done.stderr, at="notify")
        self.assertIn("given up", self.log(cluster))
        for path in ("/outside", "/hangs", "/endless"):
            self.assertNotIn(path, self.log(cluster))

    @staticmethod
    def log(cluster):
        return (cluster.dir / "state/n0/node.log").read_text()


if __name__ == "__main__":
    unittest.main()
