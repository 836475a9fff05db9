"""How the commands find a cluster, whom of it they ask, and what they say when nobody answers."""

import json
import os
import unittest

from client_test import ACCEPTED, ClientTest
from fake_api import FakeApi, Reply, TOKEN, problem
from fixture import assert_golden


class Where(ClientTest):
    def setUp(self):
        super().setUp()
        self.api.on("GET", "/v1/jobs", {"jobs": []})

    def test_flags_and_variables_name_the_cluster(self):
        empty = self.path("empty")
        os.mkdir(empty)
        other = self.write("other", "wrong\n")
        self.succeed("jobs", "--cluster", self.folder)
        self.succeed("jobs", "--cluster", empty, "--api", self.api.url + "/",
                     "--token-file", "token")
        os.environ.update({"MUSTER_API": self.api.url, "MUSTER_TOKEN": TOKEN})
        self.addCleanup(os.environ.pop, "MUSTER_API", None)
        self.addCleanup(os.environ.pop, "MUSTER_TOKEN", None)
        self.succeed("jobs")
        self.assert_fails_at(1, other.replace(self.folder, "{dir}"), "jobs", "--token-file", other)
        self.assert_fails(1, [empty, "muster up"], "jobs", "--cluster", empty)
        del os.environ["MUSTER_TOKEN"]
        self.assert_fails(1, ["no token for " + self.api.url], "jobs")

    def test_the_page_is_opened_with_the_token_where_no_server_sees_it(self):
        page = f"{self.api.url}/#token={TOKEN}"
        self.assertEqual(self.succeed("open", "--print").strip(), page)
        self.assertEqual(self.succeed("open", "12", "--print").strip(), page + "&job=12")
        # Without a display the address is all that can be given.
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.addCleanup(os.environ.update, {name: os.environ[name]} if name in os.environ
                            else {})
            os.environ.pop(name, None)
        self.assertEqual(self.succeed("open").strip(), page)
        # A browser is started by what opens addresses on this desktop.
        opener = self.write("xdg-open", '#!/bin/sh\nprintf "%s" "$*" >"$(dirname "$0")/opened"\n')
        os.chmod(opener, 0o755)
        self.addCleanup(os.environ.update, {"PATH": os.environ["PATH"]})
        self.addCleanup(os.environ.pop, "DISPLAY", None)
        os.environ.update({"PATH": self.folder + ":" + os.environ["PATH"], "DISPLAY": ":77"})
        self.assertEqual(self.succeed("open"), "")
        with open(self.path("opened"), encoding="utf-8") as file:
            self.assertEqual(file.read(), page)
        self.write("xdg-open", "#!/bin/sh\nexit 3\n")
        self.assert_fails_at(1, (), "open")
        self.assertEqual(self.api.requests, [])

    def test_decisions_are_told_in_the_sentences_of_the_api(self):
        said = {"at_s": 1800000000, "master": "m0", "round": 7, "choice": "full", "figures": {},
                "launches": 0, "moves": 2, "resizes": 0,
                "sentence": "Reconfigures all instances: moves or stops 2 tasks."}
        self.api.on("GET", "/v1/decisions", {"decisions": [said]})
        printed = self.succeed("decisions", "--limit", "3")
        self.assertIn("2027-01-15 08:00:00  m0          7  " + said["sentence"], printed)
        self.assertEqual(self.api.paths(), ["/v1/decisions?limit=3"])
        self.assert_fails(2, ["--limit"], "decisions", "--limit", "0")

    def test_a_wrong_token_is_refused_at_once(self):
        self.write("token", "stolen\n")
        done = self.assert_fails(1, [], "jobs")
        assert_golden(self, done.stderr.replace(self.api.url, "{api}"), at="{dir}/token")
        self.assertEqual(len(self.api.requests), 1)

    def test_a_file_that_says_nothing_of_use_is_named(self):
        for text in ("", "{", "[]", '{"api": 3, "token_file": "token"}', '{"api": "http://x"}'):
            with self.subTest(text=text):
                self.write("client.json", text)
                self.assert_fails(1, ["client.json: has to be"], "jobs")
        self.write("client.json", '{"api": "ftp://x", "token_file": "token"}')
        self.assert_fails_at(1, "client.json", "jobs")
        self.write("client.json", json.dumps({"api": self.api.url, "token_file": "absent"}))
        self.assert_fails_at(1, (), "jobs")
        self.write("client.json", json.dumps({"api": self.api.url, "token_file": "token"}))
        self.write("token", "two words\n")
        self.assert_fails(1, ["holds no token"], "jobs")

    def test_nobody_at_home_is_said_with_what_to_do(self):
        gone = FakeApi()
        gone.close()
        self.write("client.json", json.dumps({"api": gone.url, "token_file": "token"}))
        done = self.assert_fails(1, [gone.url, "`muster up`"], "jobs")
        assert_golden(self, done.stderr.replace(gone.url, "{api}"))

    def away(self, *others):
        """The first API is away; its URL."""
        gone = FakeApi()
        gone.close()
        self.write("client.json", json.dumps({"api": gone.url, "others": list(others),
                                              "token_file": "token"}))
        return gone.url

    def second(self):
        """A further API, which is asked when self.api is not to be had."""
        other = FakeApi()
        self.addCleanup(other.close)
        self.write("client.json", json.dumps({"api": self.api.url, "others": [other.url],
                                              "token_file": "token"}))
        return other

    def test_nothing_is_tried_again_that_is_to_be_tried_once(self):
        self.api.on("GET", "/v1/jobs", problem(503, "not now"))
        self.assert_fails(1, ["not now"], "jobs", "--retry-for", "0s")
        self.assertEqual(len(self.api.requests), 1)
        self.assert_fails(1, ["not now"], "jobs", "--retry-for", "1s")
        self.assertGreater(len(self.api.requests), 2)

    def test_an_api_that_says_nothing_is_given_the_time_that_is_left_and_no_more(self):
        self.api.on("GET", "/v1/jobs", Reply(silent=True))
        # A guard against hanging: without a limit of its own a try lasts 30 s.
        done = self.muster("jobs", "--retry-for", "1s", timeout=25)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no answer from " + self.api.url, done.stderr)
        self.assertEqual(len(self.api.requests), 1)

    def test_of_a_submission_that_is_not_answered_the_token_is_told(self):
        self.api.on("POST", "/v1/jobs", Reply(silent=True))
        done = self.muster("submit", "--retry-for", "1s", "--", "true", timeout=25)
        self.assertEqual(done.returncode, 1)
        token = done.stderr.rpartition("--token ")[2].strip()
        assert_golden(self, done.stderr.replace(token, "{token}").replace(self.api.url, "{api}"))
        self.assertEqual(json.loads(self.api.requests[0][2])["token"], token)
        self.assertGreater(len(token), 8)

    def test_another_api_is_asked_when_the_first_says_nothing(self):
        other = self.second()
        other.on("GET", "/v1/jobs", {"jobs": []})
        other.on("POST", "/v1/jobs/12/cancel", {"job": 12})
        self.api.on("GET", "/v1/jobs", Reply(silent=True))
        self.api.on("POST", "/v1/jobs/12/cancel", Reply(silent=True))
        # Guards against hanging: alone the first would have 30 s.
        self.muster("jobs", timeout=25)
        self.muster("cancel", "12", timeout=25)
        for api in (self.api, other):
            self.assertEqual([path.partition("?")[0] for path in api.paths()],
                             ["/v1/jobs", "/v1/jobs/12/cancel"])

    def test_a_change_that_names_what_it_changes_is_made_elsewhere(self):
        other = self.second()
        plan = {"user": "ann", "from": "POST /v1/plan"}
        for path, command in [("/v1/jobs/12/cancel", ["cancel", "12"]),
                              ("/v1/jobs/12/hold", ["hold", "12"]),
                              ("/v1/jobs/12/release", ["release", "12"]),
                              ("/v1/instances/3/drain", ["drain", "3"]),
                              ("/v1/instances/3/interrupt", ["interrupt", "3"]),
                              ("/v1/plan", ["plan", "--json", "--", "true"])]:
            with self.subTest(command=command):
                self.api.on("POST", path, Reply(reset=True))
                other.on("POST", path, plan)
                self.succeed(*command)
                self.assertIn(path, other.paths())

    def test_another_api_is_asked_when_the_first_is_away(self):
        gone = self.away(self.api.url)
        self.succeed("jobs")
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        self.succeed("submit", "--", "true")
        self.api.close()
        self.assert_fails(1, ["nothing answers at " + gone + ", " + self.api.url], "jobs")

    def test_a_token_of_the_users_is_sent_to_the_first_api_alone(self):
        self.away(self.api.url)
        self.api.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        words = ["nothing answers at", "no other API was asked", "your tokens"]
        self.write("a.toml", 'command = "true"\ntoken = "nightly"\n')
        self.assert_fails(1, words, "submit", "--retry-for", "0s", "a.toml")
        self.assert_fails(1, words, "submit", "--retry-for", "0s", "--token", "nightly", "--",
                          "true")
        self.assertEqual(self.api.requests, [])
        self.succeed("submit", "--", "true")

    def test_with_several_apis_it_is_said_once_that_it_is_tried_again(self):
        other = self.second()
        self.api.on("POST", "/v1/jobs", problem(503, "not now"), problem(503, "not now"),
                    Reply(ACCEPTED, 201))
        done = self.muster("submit", "--", "true")
        self.assertEqual(done.stderr.count("trying again"), 1, done.stderr)
        for api in (self.api, other):
            api.close()
        done = self.assert_fails(1, ["nothing answers"], "submit", "--retry-for", "1s", "--",
                                 "true")
        self.assertEqual(done.stderr.count("trying again"), 1, done.stderr)

    def test_a_change_that_may_be_through_is_not_repeated_elsewhere(self):
        other = FakeApi()
        self.addCleanup(other.close)
        other.on("POST", "/v1/jobs", Reply(ACCEPTED, 201))
        other.on("GET", "/v1/jobs", {"jobs": []})
        self.write("client.json", json.dumps({"api": self.api.url, "others": [other.url],
                                              "token_file": "token"}))
        self.api.on("POST", "/v1/jobs", Reply(reset=True), Reply(ACCEPTED, 201))
        self.assertEqual(self.muster("submit", "--", "true").returncode, 0)
        self.assertEqual(len(self.api.bodies("/v1/jobs")), 2)
        self.api.on("GET", "/v1/jobs", Reply(reset=True))
        self.succeed("jobs")
        self.assertEqual([method for method, _, _ in other.requests], ["GET"])

    def test_what_was_mistyped_gets_a_suggestion(self):
        self.assert_fails_at(2, "'sumbit'", "sumbit", "--", "true")
        self.assert_fails_at(2, "'--limt'", "jobs", "--limt", "3")
        self.assert_fails_at(2, "'--limt'", "jobs", "--limt=3")
        self.assert_fails_at(2, (), "frobnicate")
        self.assert_fails_at(2, (), "store", "frobnicate")
        self.assert_fails_at(2, "--sites", "up", "--sites", "6")
        self.assert_fails_at(2, "--wait", "up", "--wait", "soon")
        self.assert_fails_at(2, "--delay-scale", "up", "--delay-scale", "x")
        self.assertNotIn("did you mean", self.assert_fails(2, [], "jobs", "--zzzzzz").stderr)
        before = self.assert_fails_at(2, (), "--cluster", "/nope", "jobs")
        self.assertIn("muster jobs --cluster", before.stderr)
        behind = self.assert_fails(2, ["it is '-1'"], "job", "--", "-1")
        for done in (before, behind):
            self.assertNotIn("did you mean", done.stderr)

    def test_an_answer_without_end_is_cut_off(self):
        self.api.on("GET", "/v1/jobs", Reply(raw=b" " * (65 * 1024 * 1024)))
        self.assert_fails(1, ["larger than 67108864 bytes"], "jobs")

    def test_other_statuses_are_told(self):
        for reply, words in [(problem(404, "no such thing"), "no such thing"),
                             (Reply(raw=b"oops", status=500), "HTTP status 500"),
                             (Reply({"error": "x"}, 418), "HTTP status 418"),
                             (Reply({"error": {"message": 5}}, 400), "HTTP status 400"),
                             (Reply(raw=b"", status=302, headers={"Location": "/v1/x"}),
                              "HTTP status 302")]:
            with self.subTest(words=words):
                self.api.on("GET", "/v1/jobs", reply)
                self.assert_fails(1, [words], "jobs")


if __name__ == "__main__":
    unittest.main()
