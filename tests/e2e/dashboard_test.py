"""The dashboard in a headless Chromium, over a cluster that is made up (tests/serve/fake_api)."""

import os
import re
import subprocess
import sys
import unittest

import browser
from fixture import assert_golden

TOKEN = "a-token-for-tests"
HOSTILE = "<img src=x onerror=alert(1)>"
MISSING = browser.missing()


class Api:
    """The made-up cluster, on `port` or one that is free."""

    def __init__(self, port=0):
        self.process = subprocess.Popen([os.environ["FAKE_API"], str(port), TOKEN],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@unittest.skipIf(MISSING, f"SKIPPED: no {' and no '.join(MISSING)}")
class DashboardTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.api = Api()
        cls.page = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.page.close()
        cls.api.stop()

    def setUp(self):
        self.page.open("about:blank")
        self.page.size(1280, 900)
        self.page.requests()
        self.page.complaints()

    def open(self):
        self.page.open(f"{self.api.url}/#token={TOKEN}")
        self.page.wait_for(lambda: self.page.text("#jobs td"), "jobs")
        self.page.wait_for(lambda: self.page.text("#link") == "live", "that it is live")

    def names(self):
        return self.page.run("return [...document.querySelectorAll('#jobs a')]"
                             ".map(node => node.textContent);")

    def open_job(self, name):
        self.page.run("[...document.querySelectorAll('#jobs a')]"
                      ".find(node => node.textContent === arguments[0]).click();", name)
        self.page.wait_for(lambda: self.page.text("#tasks td"), "tasks")

    def test_shows_the_cluster(self):
        self.open()
        self.assertRegex(self.page.text("#usd-h"), r"^\$0\.\d{4}/h$")
        self.assertRegex(self.page.text("#today-usd"), r"^\$3\.2\d{3}$")
        self.assertGreater(len(self.names()), 20)
        self.assertIn("p3.2xlarge", self.page.text("#shares"))
        self.assertIn("p3.2xlarge", self.page.text("#instances"))
        for role in ("site tokyo", "master m0"):
            self.assertIn(role, self.page.text("#nodes"))
        self.assertIn("moves 2 tasks; ", self.page.text("#decisions"))
        self.assertIn("2023-11-14 22:13", self.page.text("#decisions"))
        assert_golden(self, self.page.text("#caps"))
        self.page.wait_for(lambda: self.page.run(
            "return Chart.getChart('cost').data.datasets[0].data.length > 175"), "three hours")
        self.page.run("const box = document.getElementById('hours'); box.value = '1';"
                      "box.dispatchEvent(new Event('change'));")
        self.page.wait_for(lambda: self.page.run(
            "return Chart.getChart('work').data.datasets[3].data.length < 100"), "the last hour")

    def test_changes_without_being_loaded_again(self):
        self.open()
        self.page.run("window.same = true; document.querySelector('#jobs a').focus();")
        before = int(self.page.text("#jobs-waiting"))
        self.page.wait_for(lambda: int(self.page.text("#jobs-waiting")) > before + 1,
                           "more waiting jobs")
        self.assertTrue(self.page.run("return window.same"))
        self.assertEqual(self.page.run("return document.activeElement.textContent"), "sweep-39")
        self.page.wait_for(lambda: "node n1 is not connected" in self.page.text("#trouble"),
                           "trouble", 60)

    def test_shows_hostile_text_as_text(self):
        self.open()
        self.assertIn(HOSTILE, self.names())
        self.open_job(HOSTILE)
        self.page.wait_for(lambda: HOSTILE in self.page.text("#job-title"), "the job's name")
        self.assertEqual(self.page.run("return document.querySelectorAll('img').length"), 0)

    def test_shows_a_jobs_tasks_their_reasons_and_their_output(self):
        self.open()
        self.open_job("sweep-37")
        self.assertIn("m0 spends 2.40 of at most 2.50 $/h", self.page.text("#tasks"))
        self.page.click("#tasks tr:nth-child(2) button")
        text = self.page.wait_for(lambda: self.page.text("#log-text"), "output")
        self.page.wait_for(lambda: len(self.page.text("#log-text")) > len(text), "more output")
        lines = self.page.text("#log-text").splitlines()
        self.assertEqual([re.search(r"epoch (\d+)", line).group(1) for line in lines],
                         [str(i) for i in range(len(lines))])
        self.page.press("\ue00c")  # escape
        self.assertTrue(self.page.run("return document.getElementById('job').hidden"))
        self.assertEqual(self.page.run("return location.hash"), "")

    def test_opens_the_job_that_stands_in_the_address(self):
        self.open()
        self.open_job("sweep-37")
        self.assertEqual(self.page.run("return location.hash"), "#/job/37")
        self.page.run("location.hash = '#/job/36';")
        self.page.wait_for(lambda: "Job 36: sweep-36" in self.page.text("#job-title"), "job 36")
        self.page.open("about:blank")
        self.page.open(f"{self.api.url}/#/job/35")
        self.page.wait_for(lambda: "Job 35: sweep-35" in self.page.text("#job-title"), "job 35")
        self.page.open("about:blank")
        self.page.open(f"{self.api.url}/#token={TOKEN}&job=34")
        self.page.wait_for(lambda: "Job 34: sweep-34" in self.page.text("#job-title"), "job 34")
        self.assertEqual(self.page.run("return location.hash"), "#/job/34")
        self.page.run("location.hash = '#/job/4711';")
        self.page.wait_for(lambda: self.page.text("#job-title") == "There is no job 4711",
                           "that there is none")

    def test_searches_and_sorts_the_jobs(self):
        self.open()
        self.page.run("const box = document.getElementById('job-search'); "
                      "box.value = 'SWEEP-3 ann'; box.dispatchEvent(new Event('input'));")
        self.page.wait_for(lambda: self.names() and all(n.startswith("sweep-3")
                                                        for n in self.names()), "what is found")
        self.assertRegex(self.page.text("#jobs-note"), r"^\d of \d+ jobs searched\.$")
        found = self.names()
        sort = "document.querySelector('th[data-sort=cost] button').click();"
        self.page.run(sort)
        self.page.wait_for(lambda: self.names() == found[::-1], "the cheapest first")
        self.assertEqual(self.page.run("return document.querySelector('th[data-sort=cost]')"
                                       ".getAttribute('aria-sort')"), "ascending")
        self.page.run(sort)
        self.page.wait_for(lambda: self.names() == found, "the dearest first")

    def be(self, role, user):
        """The page as the holder of another token sees it."""
        self.page.run("const real = window.fetch, me = arguments[0];"
                      "window.sent = [];"
                      "window.fetch = (path, how) => {"
                      "  if (path === '/v1/me') return Promise.resolve(Response.json(me));"
                      "  if (how.method === 'POST') window.sent.push(path);"
                      "  return real(path, how); };"
                      "state.known = false;",
                      {"token": "laptop", "role": role, "user": user, "expires_s": None})
        self.page.wait_for(lambda: "laptop may" in self.page.text("#me"), "whose token it is")

    def hidden(self, *ids):
        return [self.page.run("return document.getElementById(arguments[0]).hidden", name)
                for name in ids]

    def test_changes_jobs_and_instances_by_the_role_of_the_token(self):
        self.open()
        self.be("admin", "")
        self.open_job("sweep-37")
        self.page.wait_for(lambda: not self.hidden("job-cancel")[0], "a button to cancel")
        self.page.run("document.getElementById('job-hold').click();")
        self.page.wait_for(lambda: "No more of its tasks" in self.page.text("#job-said"), "hold")
        # The first click only asks whether it is meant.
        self.page.run("document.getElementById('job-cancel').click();")
        self.assertEqual(self.page.text("#job-cancel"), "Really cancel?")
        self.page.run("document.getElementById('job-cancel').click();")
        self.page.wait_for(lambda: "It is cancelled" in self.page.text("#job-said"), "cancel")
        drain = "document.querySelector('#instances button').click();"
        self.page.run(drain)
        self.page.run(drain)
        self.page.wait_for(lambda: "takes no more tasks" in self.page.text("#instances-said"),
                           "drain")
        self.assertEqual(self.page.run("return window.sent"),
                         ["/v1/jobs/37/hold", "/v1/jobs/37/cancel", "/v1/instances/0/drain"])

    def test_has_no_buttons_for_what_a_token_may_not_do(self):
        self.open()
        self.be("user", "ann")
        drains = ("return [...document.querySelectorAll('#instances button')]"
                  ".some(node => !node.hidden);")
        self.page.wait_for(lambda: not self.page.run(drains), "instances without buttons")
        self.open_job("sweep-37")  # ben's
        self.page.wait_for(lambda: "of ben" in self.page.text("#job-summary"), "whose job it is")
        changes = ("job-cancel", "job-hold", "job-release")
        self.assertEqual(self.hidden(*changes), [True] * 3)
        self.open_job("sweep-38")  # ann's
        self.page.wait_for(lambda: not self.hidden("job-cancel")[0], "her own job's button")
        self.be("read_only", "ann")
        self.page.wait_for(lambda: self.hidden(*changes) == [True] * 3, "no button any more")

    def test_shows_a_job_whose_reasons_and_output_are_not_for_the_token(self):
        self.open()
        self.page.run("const real = window.fetch;"
                      "window.fetch = (path, how) => !/[/](explain|log)[?]/.test(path)"
                      " ? real(path, how) : Promise.resolve(Response.json("
                      "{ error: { message: 'it is one of ben' } }, { status: 403 }));")
        self.open_job("sweep-37")
        self.page.wait_for(lambda: "of ben" in self.page.text("#job-summary"), "the job")
        self.page.run("document.querySelector('#tasks button').click();")
        self.page.wait_for(lambda: "No output is shown: it is one of ben" in
                           self.page.text("#job-said"), "why there is no output")
        self.page.wait_for(lambda: self.page.text("#link") == "live", "that it is live")

    def test_says_why_a_change_was_refused(self):
        self.open()
        self.open_job("sweep-37")
        self.page.run("const real = window.fetch;"
                      "window.fetch = (path, how) => how.method !== 'POST' ? real(path, how) :"
                      "  Promise.resolve(Response.json({error: {message: 'job 37 is over'}},"
                      "                                {status: 409}));")
        self.page.wait_for(lambda: not self.hidden("job-hold")[0], "a button to hold")
        self.page.run("document.getElementById('job-hold').click();")
        self.page.wait_for(lambda: self.page.text("#job-said") == "Not done: job 37 is over.",
                           "the refusal")

    def test_tells_a_new_user_what_to_type(self):
        self.open()
        self.assertEqual(self.hidden("empty"), [True])
        self.page.run("const real = window.fetch;"
                      "window.fetch = async (path, how) => {"
                      "  const answer = await real(path, how);"
                      "  if (!path.startsWith('/v1/status')) return answer;"
                      "  const none = { waiting: 0, running: 0, held: 0, over: 0 };"
                      "  return Response.json({ ...(await answer.json()), jobs: none }); };")
        self.page.wait_for(lambda: self.hidden("empty") == [False], "what to type")
        self.assertIn("muster submit --wait -- echo hello", self.page.text("#empty"))

    def test_begins_a_long_output_at_its_end(self):
        self.open()
        self.page.run("const real = window.fetch;"
                      "window.fetch = (path, how) => !path.includes('/log?') ? real(path, how) :"
                      "  Promise.resolve(Response.json(path.includes('offset=0&max=1&') ||"
                      "    path.endsWith('offset=0&max=1') ? {size: 1000000, more: true} :"
                      "    {size: 1000000, more: false, lost: false, next_offset: 1000000,"
                      "     text: path.includes('offset=0&') ? 'first' : 'last'}));")
        self.open_job("sweep-37")
        self.page.click("#tasks tr:nth-child(2) button")
        self.page.wait_for(lambda: "last" in self.page.text("#log-text"), "the end")
        self.page.run("document.getElementById('log-whole').click();")
        self.page.wait_for(lambda: "first" in self.page.text("#log-text"), "the beginning")

    def test_shows_how_wide_an_elastic_job_is_and_how_far(self):
        self.open()
        self.assertIn("3 of 1-8 workers, 120 of 1000 samples", self.page.text("#jobs"))
        self.assertEqual(self.page.run(
            "return [...document.querySelectorAll('#jobs progress')].map(bar => bar.max)"
            ".filter(max => max === 1000).length;"), 1)

    def test_filters_jobs(self):
        self.open()
        self.page.run("const box = document.getElementById('job-user'); box.value = 'ann';"
                      "box.dispatchEvent(new Event('input'));")
        self.page.wait_for(lambda: "ben" not in self.page.text("#jobs"), "only ann's jobs")
        self.page.run("const box = document.getElementById('job-state'); box.value = 'over';"
                      "box.dispatchEvent(new Event('change'));")
        self.page.wait_for(lambda: self.names() and "running" not in self.page.text("#jobs"),
                           "only jobs that are over")

    def test_turns_the_pages_of_its_lists(self):
        self.open()
        # As if there were more than a page of each.
        self.page.run("const real = window.fetch; window.fetch = (path, options) => real("
                      "path.replace('limit=200', path.includes('explain') ? 'limit=5' : 'limit=9'),"
                      " options);")
        self.page.wait_for(lambda: len(self.names()) == 9, "a page of jobs")
        first = self.names()
        self.page.run("document.getElementById('jobs-older').click()")
        self.page.wait_for(lambda: self.names() and not set(self.names()) & set(first),
                           "older jobs")
        self.page.run("document.getElementById('jobs-first').click()")
        self.page.wait_for(lambda: self.names() == first, "the newest jobs")
        self.page.run("document.querySelector('#jobs a').click()")
        self.page.wait_for(lambda: "task 4" in self.page.text("#tasks"), "a page of tasks")
        self.assertIn("3 more of 8 tasks follow", self.page.text("#tasks-note"))
        self.page.run("document.getElementById('tasks-more').click()")
        self.page.wait_for(lambda: "task 7" in self.page.text("#tasks"), "the other tasks")
        self.assertNotIn("task 4", self.page.text("#tasks"))

    def test_says_when_the_connection_is_lost_and_comes_back(self):
        port = self.api.port
        self.open()
        self.api.stop()
        try:
            self.page.wait_for(lambda: "connection lost" in self.page.text("#link"), "the loss")
        finally:
            type(self).api = Api(port)
        self.page.wait_for(lambda: self.page.text("#link") == "live", "the return", 60)

    def test_says_that_an_answer_is_late_before_it_is_there(self):
        self.open()
        self.page.run("const real = window.fetch; window.fetch = (path, how) => "
                      "path.startsWith('/v1/status') ? new Promise(() => {}) : "
                      "real(path, how);")
        self.page.wait_for(lambda: "takes long to answer" in self.page.text("#link"), "the delay")

    def test_says_at_least_before_totals_that_lack_the_part_of_a_silent_master(self):
        self.open()
        self.page.run("""
            const real = window.fetch, last = { usd_h: 0.5, instances: 3 };
            window.silent = [{ master: "m1", since_s: 12.3, last }, { site: "oslo", since_s: 4 }];
            window.fetch = async (path, how) => {
              const answer = await real(path, how);
              if (!path.startsWith("/v1/status")) return answer;
              const status = await answer.json();
              return Response.json({ ...status, silent: window.silent });
            };""")
        totals = ("jobs-waiting", "jobs-running", "tasks-pending", "tasks-running",
                  "instance-count", "usd-h", "today-usd", "total-usd")
        said = lambda: {name: self.page.text("#" + name).startswith("at least ") for name in totals}
        self.page.wait_for(lambda: said()["usd-h"], "that there may be more")
        self.assertEqual(said(), {name: True for name in totals})
        self.assertIn("at least ", self.page.run("return document.title"))
        # The nodes come by a request of their own.
        self.page.wait_for(lambda: "n1" in self.page.text("#trouble"), "that n1 is named")
        assert_golden(self, self.page.text("#trouble"))
        assert_golden(self, self.page.text("#link"))
        self.assertRegex(self.page.text("#nodes tr:nth-child(2)"), "does not answer|lost")
        self.page.run("window.silent = [];")
        self.page.wait_for(lambda: not any(said().values()), "the totals alone")

    def test_asks_before_a_links_token_replaces_the_one_in_use(self):
        self.open()
        self.assertEqual(self.hidden("offer"), [True], "the first token, or the one in use")
        token = "return sessionStorage.getItem('muster.token')"
        other = "another-token-for-tests"
        # In the open page, and as a page of its own; each time it is left.
        for follow in (lambda: self.page.run(f"location.hash = '#token={other}&job=36';"),
                       lambda: self.page.open(f"{self.api.url}/#token={other}&job=36")):
            follow()
            self.page.wait_for(lambda: self.hidden("offer") == [False], "the question")
            self.assertIn("'api-token-2'", self.page.text("#offer-text"))
            self.assertEqual(self.page.run(token), TOKEN)
            self.assertEqual(self.page.run("return location.hash"), "#/job/36")
            self.page.wait_for(lambda: "api-token may" in self.page.text("#me"), "whose is used")
            self.page.run("document.getElementById('offer-leave').click();")
            self.assertEqual(self.hidden("offer"), [True])
            self.assertEqual(self.page.run(token), TOKEN)
            self.page.open("about:blank")
        self.page.open(f"{self.api.url}/#token=of-nobody-at-all")
        self.page.wait_for(lambda: self.hidden("offer", "offer-take") == [False, True],
                           "that it is of no use")
        self.assertIn("does not know", self.page.text("#offer-text"))
        self.page.run(f"location.hash = '#token={other}';")
        self.page.wait_for(lambda: "'api-token-2'" in self.page.text("#offer-text"), "whose it is")
        self.page.run("document.getElementById('offer-take').click();")
        self.page.wait_for(lambda: "api-token-2 may" in self.page.text("#me"), "the other one")
        self.assertEqual(self.page.run(token), other)
        self.page.run(f"sessionStorage.setItem('muster.token', '{TOKEN}');")

    def test_asks_too_when_the_token_in_use_has_ended(self):
        self.open()
        self.page.run("sessionStorage.setItem('muster.token', 'that-has-ended');")
        self.page.open("about:blank")
        self.page.open(f"{self.api.url}/#token=another-token-for-tests")
        self.page.wait_for(lambda: self.hidden("offer", "sign-in") == [False, False],
                           "both questions")
        self.assertIn("'api-token-2'", self.page.text("#offer-text"))
        self.assertNotEqual(self.page.run("return sessionStorage.getItem('muster.token')"),
                            "another-token-for-tests")
        self.page.run("document.getElementById('offer-take').click();")
        self.page.wait_for(lambda: "api-token-2 may" in self.page.text("#me"), "the other one")
        self.page.run(f"sessionStorage.setItem('muster.token', '{TOKEN}');")

    def test_keeps_the_token_out_of_the_address(self):
        self.open()
        self.assertEqual(self.page.run("return location.href"), self.api.url + "/")
        self.assertEqual([url for url in self.page.requests() if TOKEN in url.split("#")[0]], [])

    def test_asks_for_a_token(self):
        self.page.open(self.api.url + "/healthz")
        self.page.run("sessionStorage.clear()")
        self.page.open(self.api.url + "/")
        self.page.wait_for(lambda: self.page.text("#link") == "a token is needed", "the form")
        self.page.press("a-wrong-token-here\ue007")
        self.page.wait_for(lambda: "does not know" in self.page.text("#sign-in-note"), "a refusal")
        self.page.press(TOKEN + "\ue007")
        self.page.wait_for(lambda: self.page.text("#jobs td"), "jobs")

    def test_asks_nobody_else_and_has_nothing_to_complain_of(self):
        self.open()
        self.open_job("sweep-37")
        asked = self.page.requests()
        self.assertGreater(len(asked), 5)
        self.assertEqual([url for url in asked
                          if not url.startswith((self.api.url + "/", "data:", "about:"))], [])
        # The made-up cluster may have no names for its tokens: then the page asks in vain, once.
        self.assertEqual([said for said in self.page.complaints() if "/v1/me " not in said], [])

    def test_fits_a_phone(self):
        self.page.size(360, 740)
        self.open()
        self.open_job("sweep-37")
        self.assertLessEqual(self.page.run("return document.documentElement.scrollWidth"),
                             self.page.run("return document.documentElement.clientWidth"))


if MISSING:
    print(f"SKIPPED: no {' and no '.join(MISSING)}", file=sys.stderr)
