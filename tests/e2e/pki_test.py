"""muster pki: the certificates of a cluster's links, from the two authorities to a pair."""

import json
import os
import unittest

from fixture import MusterTest

AUTHORITY = "keys/ca/node-ca.pem"


class Pki(MusterTest):
    def setUp(self):
        super().setUp()
        self.succeed("pki", "init", "keys", "--cluster", "lab")

    def issued(self, *arguments):
        return json.loads(self.succeed("pki", "issue", "keys", *arguments, "--json"))

    def shown(self, file):
        return json.loads(self.succeed("pki", "show", file, "--json"))["certificates"]

    def test_something_has_to_be_asked_for(self):
        self.assert_refused(2, ["subcommand"], "pki")

    def test_authorities_are_replaced_where_that_is_said(self):
        first, = self.shown(AUTHORITY)
        self.assertTrue(first["authority"])
        self.assertIn("lab", first["subject"])
        self.assert_refused(1, ["--force"], "pki", "init", "keys")
        self.assertEqual(self.shown(AUTHORITY), [first])
        self.succeed("pki", "init", "keys", "--force")
        self.assertNotEqual(self.shown(AUTHORITY)[0]["fingerprint"], first["fingerprint"])

    def test_a_pair_is_of_the_role_and_the_hosts_that_were_asked_for(self):
        for role in ("node", "worker"):
            with self.subTest(role=role):
                files = self.issued(f"--{role}", "x7", "--host", "127.0.0.1", "--host", "x.lab")
                self.assertEqual((files["role"], files["name"]), (role, "x7"))
                shown, = self.shown(files["certificate"])
                self.assertFalse(shown["authority"])
                self.assertEqual(set(shown["hosts"]), {"127.0.0.1", "x.lab"})
                authority, = self.shown(f"keys/ca/{role}-ca.pem")
                self.assertEqual(shown["issuer"], authority["subject"])
                self.assertTrue(os.path.exists(self.path(files["key"])))
                text = self.succeed("pki", "show", files["certificate"])
                for value in (shown["subject"], shown["serial"], shown["fingerprint"], "x.lab"):
                    self.assertIn(value, text)

    def test_a_pair_is_of_one_role(self):
        self.assert_refused(2, ["--node", "--worker"], "pki", "issue", "keys")
        self.assert_refused(2, ["--node", "--worker"], "pki", "issue", "keys", "--node", "a",
                            "--worker", "b")

    def test_a_pair_that_is_there_is_replaced_where_that_is_said(self):
        self.issued("--node", "n0")
        self.assert_refused(1, ["--force"], "pki", "issue", "keys", "--node", "n0")
        self.issued("--node", "n0", "--force")

    def test_validities_have_bounds(self):
        for days in ("0", "36501"):
            self.assert_refused(2, ["--days"], "pki", "issue", "keys", "--node", "n0", "--days",
                                days)
            self.assert_refused(2, ["--days"], "pki", "init", "more", "--days", days)

    def test_what_is_no_certificate_is_named(self):
        self.write("text.pem", "hello\n")
        for file in ("text.pem", "absent.pem"):
            self.assert_refused(1, [file], "pki", "show", file)


if __name__ == "__main__":
    unittest.main()
