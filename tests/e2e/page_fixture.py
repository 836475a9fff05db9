"""Tests of the page over a made-up cluster, page_cluster.PageCluster."""

import sys
import unittest

import browser
from page_cluster import PageCluster

TOKEN = "a-token-for-tests"
MISSING = browser.missing()
if MISSING:
    print(f"SKIPPED: no {' and no '.join(MISSING)}", file=sys.stderr)


@unittest.skipIf(MISSING, f"SKIPPED: no {' and no '.join(MISSING)}")
class PageTest(unittest.TestCase):
    """Each test has a cluster of its own, and the browser of its class."""

    @classmethod
    def setUpClass(cls):
        cls.page = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.page.close()

    def setUp(self):
        self.cluster = PageCluster()
        self.addCleanup(self.cluster.close)
        self.page.open("about:blank")
        self.page.size(1280, 900)
        self.theme("light")

    def theme(self, name):
        self.page.command("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, kind="", number=None):
        """The page, and on it a job or an instance."""
        self.page.open("about:blank")
        self.page.open(f"{self.cluster.url}/#token={TOKEN}")
        self.wait(lambda: self.text("#link") == "live", "that it is live")
        if number is not None:
            self.page.run(f"location.hash = '#/{kind}/{number}'")
            self.wait(lambda: self.text(f"#{kind}-title").startswith(f"{kind.title()} {number}: "),
                      f"{kind} {number}")

    def text(self, selector):
        return self.page.text(selector)

    def texts(self, selector):
        return self.page.run("return [...document.querySelectorAll(arguments[0])]"
                             ".map(node => node.textContent);", selector)

    def js(self, script, *arguments):
        return self.page.run(script, *arguments)

    def wait(self, condition, what):
        return self.page.wait_for(condition, what)

    def click(self, selector):
        """Without a mouse: what lies above it does not matter."""
        self.js("document.querySelector(arguments[0]).click();", selector)

    def type_in(self, name, text):
        self.js("const box = document.getElementById(arguments[0]); box.value = arguments[1];"
                "box.dispatchEvent(new Event('input'));", name, text)

    def shown(self, selector):
        return self.js("const node = document.querySelector(arguments[0]);"
                       "return node !== null && node.checkVisibility();", selector)

    def focus(self):
        return self.js("return document.activeElement.id || document.activeElement.textContent;")
