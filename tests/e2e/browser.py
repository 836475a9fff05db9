"""A headless Chromium, driven through chromedriver's WebDriver protocol."""

import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
START_S = 60
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-extensions",
    "--disable-features=OptimizationHints,Translate",
]


def missing():
    """What there is not of what a browser needs."""
    programs = {"chromium": shutil.which("chromium"), "chromedriver": shutil.which("chromedriver")}
    return [name for name, path in programs.items() if path is None]


class Browser:
    """One page. Close it with close()."""

    def __init__(self, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="muster-browser-")
        environment = {**os.environ, "HOME": self.profile}
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, env=environment)
        self.port = self._driver_port()
        capabilities = {
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
            "goog:chromeOptions": {
                "binary": shutil.which("chromium"),
                "args": ARGUMENTS + [f"--user-data-dir={self.profile}/data",
                                     f"--window-size={width},{height}"],
            },
        }
        answer = self._ask("POST", "/session",
                           {"capabilities": {"alwaysMatch": capabilities}})
        self.session = "/session/" + answer["sessionId"]

    def _driver_port(self):
        for line in self.driver.stdout:
            found = re.search(r"on port (\d+)", line)
            if found and "started successfully" in line:
                return int(found.group(1))
        raise RuntimeError("chromedriver did not start")

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_S)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{path}: {value['error']}: {value['message']}")
        return value

    def open(self, url):
        self._ask("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        """What the function body `script` returns in the page."""
        return self._ask("POST", self.session + "/execute/sync",
                         {"script": script, "args": list(arguments)})

    def text(self, selector):
        """The text of the first such element; empty when there is none."""
        return self.run("const node = document.querySelector(arguments[0]);"
                        "return node ? node.textContent : '';", selector)

    def click(self, selector):
        found = self._ask("POST", self.session + "/element",
                          {"using": "css selector", "value": selector})
        self._ask("POST", f"{self.session}/element/{found[ELEMENT]}/click", {})

    def press(self, keys):
        """Types into what has the focus."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("POST", self.session + "/actions",
                  {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def command(self, name, parameters):
        """A command of the DevTools protocol."""
        return self._ask("POST", self.session + "/goog/cdp/execute",
                         {"cmd": name, "params": parameters})

    def requests(self):
        """The addresses that were asked for since the last call."""
        entries = self._ask("POST", self.session + "/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        """What stands in the page's console since the last call."""
        return [entry["message"]
                for entry in self._ask("POST", self.session + "/se/log", {"type": "browser"})]

    def wait_for(self, condition, what, limit_s=30):
        """Until `condition()` is true; the value that it then has."""
        end = time.monotonic() + limit_s
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"the page does not show {what}: {self.text('body')[:2000]}")
            time.sleep(0.1)

    def close(self):
        try:
            self._ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.profile, ignore_errors=True)
