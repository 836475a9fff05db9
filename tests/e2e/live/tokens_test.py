"""Who may do what in a real cluster: tokens and their roles, the audit log, the names that the API
may be asked by, and TLS on an address that others reach."""

import collections
import json
import os
import pathlib
import re
import socket
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

from cluster import Cluster, MUSTER, assert_golden, plain


def own_address():
    """An address of this machine that is no loopback one; None: it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # no packet is sent
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") else address


class LosingProxy:
    """Hands requests on to an API, and of each path the first answer to nobody: it closes the
    connection instead when the API has answered."""

    def __init__(self, api):
        self.port = int(api.rsplit(":", 1)[1])
        self.lost = set()
        self.seen = collections.Counter()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    @staticmethod
    def message(stream):
        """Head and body of one message; nothing at the end."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = stream.read(1)
            if not byte:
                return b""
            head += byte
        length = re.search(rb"content-length: *([0-9]+)", head.lower())
        return head + stream.read(int(length.group(1)) if length else 0)

    def serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self.port)) as api:
            coming, going = client.makefile("rb"), api.makefile("rb")
            while request := self.message(coming):
                path = request.split(b" ", 2)[1].decode()
                api.sendall(request)
                answer = self.message(going)
                if request.startswith(b"POST"):
                    self.seen[path] += 1
                    if path not in self.lost:
                        self.lost.add(path)
                        return
                client.sendall(answer)

    def close(self):
        self.listener.close()


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=2).__enter__()
        cls.addClassCleanup(lambda: cls.cluster.__exit__(None, None, None))
        client = json.loads((cls.cluster.dir / "client.json").read_text())
        cls.api = client["api"]
        cls.admin = (cls.cluster.dir / "token").read_text().strip()

    def token(self, name, *flags):
        """The secret of a new token."""
        return self.cluster.run("token", "create", name, *flags, "--quiet").stdout.strip()

    def muster(self, secret, *words):
        return subprocess.run([MUSTER, *map(str, words)], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "MUSTER_API": self.api,
                                                "MUSTER_TOKEN": secret})

    def ask(self, path, secret=None, host=None):
        """Status and document of a GET."""
        asked = urllib.request.Request(self.api + path)
        asked.add_header("Authorization", f"Bearer {secret or self.admin}")
        if host:
            asked.add_header("Host", host)
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def answers(self, secret):
        try:
            return self.ask("/v1/me", secret)[0] == 200
        except OSError:
            return False

    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_a_user_has_jobs_of_its_own_and_leaves_others_alone(self):
        ann = self.token("ann-laptop", "--role", "user", "--user", "ann", "--expires", "90d")
        ben = self.token("ben", "--role", "user")
        watcher = self.token("watcher", "--role", "read_only")
        self.assertEqual(self.ask("/v1/me", ben)[1],
                         {"token": "ben", "role": "user", "user": "ben", "expires_s": None,
                          "join_port": False})
        job = self.muster(ann, "submit", "--quiet", "--wait", "--", "echo", "mine").stdout.strip()
        self.assertEqual(self.cluster.job(job)["user"], "ann")
        self.assertEqual(self.muster(ann, "logs", job).stdout, "mine\n")
        self.assertEqual(self.muster(ann, "explain", job).returncode, 0)
        self.assert_refused(self.muster(ben, "logs", job), f"job {job} is one of 'ann'")
        self.assert_refused(self.muster(ben, "explain", job), "acts for 'ben'")
        self.assert_refused(self.muster(ben, "cancel", job), f"job {job} is one of 'ann'")
        self.assert_refused(self.muster(ben, "submit", "--user", "ann", "--", "true"),
                            "acts for 'ben'", "not for 'ann'")
        self.assert_refused(self.muster(watcher, "submit", "--", "true"), "read_only")
        self.assert_refused(self.muster(watcher, "logs", job), "read_only")
        self.assert_refused(self.muster(ann, "drain", 1), "an admin's token")
        self.assert_refused(self.muster(ann, "token", "list"), "an admin's token")
        self.assert_refused(self.muster(ann, "audit"), "an admin's token")
        for secret in (ann, ben, watcher):
            self.assertIn(f"{job} ", self.muster(secret, "jobs", "--state", "all").stdout)
            self.assertEqual(self.muster(secret, "status").returncode, 0)
        self.assertEqual(self.muster(watcher, "explain", job).returncode, 0)

    def test_a_token_ends_and_a_rotated_one_overlaps(self):
        short = self.token("short", "--role", "user", "--expires", "2s")
        first = self.token("ci", "--role", "user", "--user", "carl")
        second = self.cluster.run("token", "rotate", "ci", "--quiet").stdout.strip()
        for secret in (first, second):
            self.assertEqual(self.ask("/v1/me", secret)[1]["user"], "carl")
        third = self.cluster.run("token", "rotate", "ci", "--overlap", "0s",
                                 "--quiet").stdout.strip()
        for secret in (first, second):
            self.assertEqual(self.ask("/v1/me", secret)[0], 401)
        # After a restart the API knows the same tokens.
        node = self.cluster.node("n0")
        self.cluster.kill(node)
        self.cluster.wait_until("n0 is back", lambda: self.cluster.node("n0") not in (None, node))
        self.cluster.wait_until("its API is back", lambda: self.answers(third))
        self.assertEqual(self.ask("/v1/me", third)[1]["token"], "ci")
        self.cluster.run("token", "revoke", "ci")
        self.assert_refused(self.muster(third, "jobs"), "the token 'ci' is revoked")
        self.cluster.wait_until("it has expired", lambda: self.ask("/v1/me", short)[0] == 401)
        self.assert_refused(self.muster(short, "jobs"), "the token 'short' has expired")
        listed = {one["name"]: one for one in self.cluster.ask("token", "list")["tokens"]}
        self.assertEqual(listed["ci"]["state"], "revoked")
        self.assertEqual(listed["short"]["state"], "expired")
        self.assertEqual(listed["api-token"]["role"], "admin")
        file = self.cluster.dir / "state" / "named-tokens"
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        for secret in (short, first, second, third):
            self.assertNotIn(secret, file.read_text())

    def test_whatever_is_repeated_because_its_answer_was_lost_is_done_once(self):
        proxy = LosingProxy(self.api)
        self.addCleanup(proxy.close)

        def through(*words):
            done = subprocess.run([MUSTER, *map(str, words)], capture_output=True, text=True,
                                  timeout=120, env={**os.environ, "MUSTER_API": proxy.url,
                                                    "MUSTER_TOKEN": self.admin})
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
            return done.stdout.strip()

        def who(secret):
            return self.ask("/v1/me", secret)[0]

        made = through("token", "create", "zoe", "--role", "user", "--quiet")
        self.assertEqual(who(made), 200)
        rotated = through("token", "rotate", "zoe", "--overlap", "1h", "--quiet")
        self.assertEqual([who(made), who(rotated)], [200, 200], "the secret that all have counts")
        proxy.lost.clear()
        again = through("token", "rotate", "zoe", "--overlap", "1h", "--quiet")
        self.assertEqual([who(one) for one in (made, rotated, again)], [200] * 3)
        self.assertEqual(through("token", "revoke", "zoe"), "token zoe: revoked")
        self.assertEqual(who(again), 401)

        job = through("submit", "--quiet", "--spot", "--", "sleep", "600")
        self.cluster.wait_until("it runs", lambda: self.cluster.job(job)["running"] == 1)
        self.assertIn("held", through("hold", job))
        self.assertIn("released", through("release", job))
        fresh = through("resubmit", job, "--quiet")
        self.assertEqual([entry["job"] for entry in self.cluster.ask("jobs")["jobs"]
                          if entry["job"] > int(job)], [int(fresh)])
        self.assertIn("cancelled", through("cancel", fresh))

        def where():
            return self.cluster.job(job)["tasks"][0]["instance"]

        instance = where()
        self.assertIn("interrupted", through("interrupt", instance))
        self.cluster.wait_until("it runs elsewhere", lambda: where() not in (None, instance))
        instance = where()
        self.assertIn("drained", through("drain", instance))
        self.assertIn("cancelled", through("cancel", job))
        for path, times in proxy.seen.items():
            self.assertGreaterEqual(times, 2, path)
        self.assertEqual(len(proxy.seen), 11)
        # A later number is another order, and is told how things stand.
        self.assert_refused(self.muster(self.admin, "cancel", job), f"job {job} is over")

    def test_a_token_whose_answer_never_came_is_had_with_the_requests_number(self):
        deaf = LosingProxy(self.api)
        self.addCleanup(deaf.close)
        words = ["token", "create", "yan", "--role", "user", "--quiet"]
        lost = subprocess.run([MUSTER, *words, "--retry-for", "0s"], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "MUSTER_API": deaf.url,
                                                "MUSTER_TOKEN": self.admin})
        self.assertEqual(lost.returncode, 1)
        number = re.search(r"--request (\S+) to get", lost.stderr).group(1)
        assert_golden(self, self.assert_refused(self.muster(self.admin, *words)))
        # The API is another process by then.
        node = self.cluster.node("n0")
        self.cluster.kill(node)
        self.cluster.wait_until("n0 is back", lambda: self.cluster.node("n0") not in (None, node))
        self.cluster.wait_until("its API is back", lambda: self.answers(self.admin))
        done = self.muster(self.admin, *words, "--request", number)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ask("/v1/me", done.stdout.strip())[1]["token"], "yan")

    def test_a_submissions_token_is_the_api_tokens_users(self):
        job = ["submit", "--quiet", "--token", "nightly", "--", "true"]
        ann = self.token("ann-2", "--role", "user", "--user", "ann")
        ann_too = self.token("ann-3", "--role", "user", "--user", "ann")
        ben = self.token("ben-2", "--role", "user", "--user", "ben")
        first = self.muster(ann, *job).stdout
        self.assertEqual(self.muster(ann, *job).stdout, first)
        self.assertEqual(self.muster(ann_too, *job).stdout, first)
        self.assertNotEqual(self.muster(ben, *job).stdout, first)
        for_ann = self.muster(self.admin, "submit", "--quiet", "--user", "ann", "--token",
                              "nightly", "--", "true")
        self.assertNotEqual(for_ann.stdout, first)
        self.assertEqual(self.cluster.job(for_ann.stdout.strip())["user"], "ann")
        refused = self.muster(ann, "submit", "--token", "nightly", "--", "false")
        assert_golden(self, plain(self.assert_refused(refused), job=first.strip()))

    def test_what_was_changed_or_refused_is_in_the_audit_log(self):
        dora = self.token("dora", "--role", "user")
        job = self.muster(dora, "submit", "--quiet", "--", "sleep", "600").stdout.strip()
        self.assertEqual(self.muster(dora, "cancel", job).returncode, 0)
        self.muster(dora, "drain", 1)
        self.assertEqual(self.ask("/v1/jobs", "stolen")[0], 401)
        entries = self.cluster.ask("audit", "--user", "dora", "--since", "1h")["entries"]
        self.assertEqual([(one["method"], one["path"], one["status"], one["about"])
                          for one in entries],
                         [("POST", "/v1/instances/1/drain", 403, "instance 1"),
                          ("POST", f"/v1/jobs/{job}/cancel", 200, f"job {job}"),
                          ("POST", "/v1/jobs", 201, f"job {job}")])
        self.assertEqual({one["address"] for one in entries}, {"127.0.0.1"})
        self.assertLess(abs(entries[0]["at_s"] - time.time()), 600)
        self.assertIn(401, [one["status"] for one in self.cluster.ask("audit")["entries"]])
        self.assertIn("token dora", self.cluster.run("audit").stdout)
        log = self.cluster.dir / "state" / "n0" / "audit.log"
        self.assertEqual(log.stat().st_mode & 0o777, 0o600)
        self.assertNotIn(dora, log.read_text())

    def test_a_strangers_host_name_is_turned_away(self):
        self.assertEqual(self.ask("/v1/me", host="localhost:1")[0], 200)
        status, answer = self.ask("/v1/me", host="evil.example")
        self.assertEqual(status, 421)
        self.assertIn("evil.example", answer["error"]["message"])

    def test_a_token_is_not_printed_where_it_is_not_wanted(self):
        said = self.cluster.run("up", "--dir", self.cluster.dir, "--quiet").stdout
        self.assertIn(f"API and page: {self.api}/\n", said)
        self.assertNotIn(self.admin, said)
        self.assertIn(self.admin, self.cluster.run("up", "--dir", self.cluster.dir).stdout)


class Tls(unittest.TestCase):
    def test_the_command_trusts_the_authority_and_the_name_or_nobody(self):
        address = own_address()
        if address is None:
            self.skipTest("this machine has no address but loopback ones")
        with socket.create_server((address, 0)) as free:
            port = free.getsockname()[1]
        with Cluster(f"node.n0.api={address}:{port}", nodes=1) as cluster:
            client = json.loads((cluster.dir / "client.json").read_text())
            api = f"https://{address}:{port}"
            self.assertEqual(client["api"], api)
            ca = cluster.dir / "pki" / "ca" / "node-ca.pem"
            self.assertEqual(str(cluster.dir / client["ca"]), str(ca))
            self.assertEqual(cluster.run("submit", "--wait", "--", "echo", "hello").returncode, 0)

            def ask(*words, **more):
                environment = {**os.environ, "MUSTER_API": api, "MUSTER_TOKEN_FILE":
                               str(cluster.dir / "token"), **more}
                return subprocess.run([MUSTER, "jobs", "--retry-for", "0s", *map(str, words)],
                                      capture_output=True, text=True, timeout=120,
                                      env=environment)

            self.assertEqual(ask("--ca", ca).returncode, 0, ask("--ca", ca).stderr)
            self.assertEqual(ask(MUSTER_CA=str(ca)).returncode, 0)
            unknown = ask()
            self.assertEqual(unknown.returncode, 1)
            self.assertIn("--ca FILE", unknown.stderr)
            # The right authority for another cluster's certificate is the wrong one for this.
            other = pathlib.Path(cluster.dir) / "other"
            cluster.run("pki", "init", other)
            wrong = ask("--ca", other / "ca" / "node-ca.pem")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("certificate", wrong.stderr)
            # A certificate of the right authority that is not for this name.
            elsewhere = ask("--ca", ca, "--api", f"https://[::ffff:{address}]:{port}")
            self.assertEqual(elsewhere.returncode, 1)
            self.assertIn("cannot read", ask("--ca", "/nowhere.pem").stderr)
            self.assertEqual(ask("--api", f"http://{address}:{port}").returncode, 1)


if __name__ == "__main__":
    unittest.main()
