"""The commands about tokens and the audit log, and what the client says of itself and of an API
with TLS, against a server that answers what the test wants."""

import json
import os
import unittest

from client_test import ACCEPTED, ClientTest
from fake_api import Reply, problem

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
        self.assertEqual(printed, "Token laptop: user, for ann, until 2026-09-21 14:13:20. "
                         "It is shown this once:\nmuster_5ec\n")
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
        self.assertIn("the one before counts until 2026-05-28 21:26:40.",
                      self.succeed("token", "rotate", "laptop"))
        self.succeed("token", "rotate", "laptop", "--overlap", "0s")
        self.assertEqual(self.api.bodies("/v1/tokens/laptop/rotate"), [{}, {"overlap_s": 0}])
        answer = json.loads(self.succeed("token", "rotate", "laptop", "--json"))
        self.assertEqual(answer["secret"], "muster_new")

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
        self.assertIn("this is the log of node n2; --api URL asks another node's", done.stderr)
        self.assertEqual(lines[3], "6 more requests came too fast to be listed")

    def test_a_refusal_says_what_the_server_says(self):
        self.api.on("GET", "/v1/tokens", problem(403, "GET /v1/tokens needs an admin's token"))
        self.assert_fails(1, ["needs an admin's token"], "token", "list")
        self.api.on("GET", "/v1/tokens", problem(401, "the token 'laptop' has expired"))
        self.assert_fails(1, ["does not accept the token from", "the token 'laptop' has expired"],
                          "token", "list")

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
