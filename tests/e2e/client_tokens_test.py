"""The commands about tokens and the audit log, and what the client says of itself and of an API
with TLS, against a server that answers what the test wants."""

import json
import os
import unittest

from client_test import ACCEPTED, ClientTest
from fake_api import Reply, problem
from fixture import assert_golden, line_with

TOKEN = {"name": "laptop", "role": "user", "user": "ann", "state": "valid",
         "created_s": 1780000000, "expires_s": 1790000000, "revoked_s": None,
         "earlier_until_s": None}
ENTRY = {"at_s": 1780000000, "token": "laptop", "user": "ann", "address": "10.0.0.9",
         "method": "POST", "path": "/v1/jobs/12/cancel", "status": 200, "about": "job 12",
         "unlisted": 3}


class Tokens(ClientTest):
    def test_a_token_is_made_as_it_was_asked_for_and_shown(self):
        self.api.on("POST", "/v1/tokens", Reply({**TOKEN, "secret": "muster_5ec"}, 201))
        printed = self.succeed("token", "create", "laptop", "--role", "user", "--user", "ann",
                               "--expires", "90d")
        self.assertEqual(self.api.bodies("/v1/tokens"),
                         [{"name": "laptop", "role": "user", "user": "ann",
                           "lifetime_s": 90 * 86400}])
        for word in ("laptop", "user", "ann", "2026-09-21 14:13:20"):
            self.assertIn(word, printed)
        self.assertTrue(printed.endswith("\nmuster_5ec\n"), printed)
        assert_golden(self, printed)
        self.assertEqual(self.succeed("token", "create", "x", "--role", "admin", "--quiet"),
                         "muster_5ec\n")
        self.assertEqual(self.api.bodies("/v1/tokens")[-1], {"name": "x", "role": "admin"})

    def test_tokens_are_listed_revoked_and_rotated(self):
        plain = {**TOKEN, "name": "api-token", "role": "admin", "user": None, "created_s": None,
                 "expires_s": None}
        self.api.on("GET", "/v1/tokens", {"tokens": [plain, TOKEN]})
        lines = self.succeed("token", "list").splitlines()
        self.assertEqual(lines[1].split(), ["api-token", "admin", "(caller)", "valid", "-",
                                            "never"])
        self.assertIn("laptop", lines[2])
        self.api.on("POST", "/v1/tokens/laptop/revoke", {**TOKEN, "state": "revoked"})
        self.assertEqual(self.succeed("token", "revoke", "laptop"), "token laptop: revoked\n")
        self.api.on("POST", "/v1/tokens/laptop/rotate",
                    {**TOKEN, "earlier_until_s": 1780003600, "secret": "muster_new"})
        printed = self.succeed("token", "rotate", "laptop")
        self.assertIn("2026-05-28 21:26:40", printed)
        assert_golden(self, printed)
        self.succeed("token", "rotate", "laptop", "--overlap", "0s")
        self.assertEqual(self.api.bodies("/v1/tokens/laptop/rotate"), [{}, {"overlap_s": 0}])
        answer = json.loads(self.succeed("token", "rotate", "laptop", "--json"))
        self.assertEqual(answer["secret"], "muster_new")

    def marks(self):
        """Number and sending of the requests since the last look."""
        marks = [(head["Idempotency-Key"], int(head["Muster-Sent"])) for head in self.api.headers]
        self.api.headers.clear()
        return marks

    def test_every_order_keeps_its_number_when_it_is_sent_again(self):
        issued = Reply({**TOKEN, "secret": "muster_5ec"}, 201)
        lost = Reply(reset=True)
        for path, answer, words in [
                ("/v1/tokens", issued, ["token", "create", "x", "--role", "user"]),
                ("/v1/tokens/laptop/rotate", issued, ["token", "rotate", "laptop"]),
                ("/v1/tokens/laptop/revoke", TOKEN, ["token", "revoke", "laptop"]),
                ("/v1/jobs/3/cancel", {"job": 3}, ["cancel", "3"]),
                ("/v1/jobs/3/hold", {"job": 3}, ["hold", "3"]),
                ("/v1/jobs/3/release", {"job": 3}, ["release", "3"]),
                ("/v1/jobs/3/resubmit", Reply(ACCEPTED, 201), ["resubmit", "3"]),
                ("/v1/instances/3/drain", {"instance": 3}, ["drain", "3"]),
                ("/v1/instances/3/interrupt", {"instance": 3}, ["interrupt", "3"])]:
            with self.subTest(path=path):
                self.api.on("POST", path, lost, lost, answer)
                done = self.muster(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
                numbers, sent = zip(*self.marks())
                self.assertEqual((len(numbers), len(set(numbers))), (3, 1))
                self.assertEqual(list(sent), sorted(set(sent)))
                self.succeed(*words)
                self.assertNotEqual(self.marks()[0][0], numbers[0], "another call")

    def test_who_gets_no_answer_is_told_how_to_go_on(self):
        self.api.on("POST", "/v1/tokens", Reply(reset=True))
        create = ["token", "create", "x", "--role", "user"]
        done = self.assert_fails(1, [], *create, "--retry-for", "0s")
        number = self.marks()[0][0]
        self.assertIn(f"--request {number} ", done.stderr)
        assert_golden(self, done.stderr.replace(number, "{number}").replace(self.api.url, "{api}"))
        self.api.on("POST", "/v1/tokens", Reply({**TOKEN, "secret": "muster_5ec"}, 201))
        self.succeed(*create, "--request", number)
        self.assertEqual(self.marks()[0][0], number)
        self.assert_fails(2, ["--request", "no spaces"], *create, "--request", "a b")

    def test_what_is_asked_for_wrongly_is_said_before_anything_is_sent(self):
        for words, arguments in [(["--role"], ["token", "create", "x"]),
                                 (["admin"], ["token", "create", "x", "--role", "boss"]),
                                 (["1s to 3650d"], ["token", "create", "x", "--role", "user",
                                                    "--expires", "0s"]),
                                 (["whole seconds", "1.5s"],
                                  ["token", "create", "x", "--role", "user", "--expires",
                                   "1.5s"]),
                                 (["a token has a name"], ["token", "create", "", "--role",
                                                           "user"]),
                                 (["it acts for its name"], ["token", "create", "x", "--role",
                                                             "user", "--user", ""]),
                                 (["0s to 30d"], ["token", "rotate", "x", "--overlap", "31d"]),
                                 (["1s to 3650d"], ["audit", "--since", "yesterday"]),
                                 ([""], ["token"])]:
            with self.subTest(arguments=arguments):
                self.assert_fails(2, words, *arguments)
        self.assertEqual(self.api.requests, [])

    def test_the_audit_log_is_shown_with_what_is_not_in_it(self):
        self.api.on("GET", "/v1/audit", {"entries": [ENTRY, {**ENTRY, "token": None, "user": None,
                                                             "status": None, "about": None}]})
        lines = self.succeed("audit", "--limit", "7", "--user", "a b", "--since",
                             "1h").splitlines()
        self.assertEqual(self.api.paths(), ["/v1/audit?limit=7&user=a%20b&within_s=3600"])
        self.assertEqual(lines[1].split(), ["2026-05-28", "20:26:40", "laptop", "ann", "10.0.0.9",
                                            "200", "POST", "/v1/jobs/12/cancel", "job", "12"])
        self.api.on("GET", "/v1/audit", {"node": "n2", "entries": []})
        done = self.muster("audit")
        self.assertIn("node n2", done.stderr)
        assert_golden(self, done.stderr)
        self.assertTrue(lines[3].startswith("Requests that came too fast "), lines[3])
        assert_golden(self, lines[3])
        self.api.on("GET", "/v1/audit", {"node": "n2", "entries": [{
            **ENTRY, "token": None, "user": None, "address": None, "method": "", "path": "",
            "status": None, "about": None, "unlisted": 0, "lost": 7}]})
        lost = line_with(self.muster("audit").stdout, "7 entries ")
        assert_golden(self, lost[lost.index("7 entries "):])

    def test_a_refusal_says_what_the_server_says(self):
        for status, said in ((403, "GET /v1/tokens needs an admin's token"),
                             (401, "the token 'laptop' has expired")):
            self.api.on("GET", "/v1/tokens", problem(status, said))
            done = self.assert_fails_at(1, (), "token", "list")
            self.assertIn(said, done.stderr)

    def test_a_job_that_names_no_user_is_left_to_the_server(self):
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        self.succeed("submit", "--", "true")
        self.succeed("submit", "--user", "bob", "--", "true")
        sent = self.api.bodies("/v1/jobs")
        self.assertNotIn("user", sent[0])
        self.assertEqual(sent[1]["user"], "bob")

    def test_an_authority_that_cannot_be_read_is_named(self):
        self.assert_fails(1, ["--ca: cannot read /nowhere.pem"], "jobs", "--ca", "/nowhere.pem")
        os.environ["MUSTER_CA"] = "/nowhere/else.pem"
        self.addCleanup(os.environ.pop, "MUSTER_CA")
        self.assert_fails(1, ["MUSTER_CA: cannot read /nowhere/else.pem"], "jobs")


if __name__ == "__main__":
    unittest.main()
