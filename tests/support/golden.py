"""The texts of tests/golden/ for Python tests; tests/support/golden.hpp is the same for C++.

    from golden import assert_golden
    assert_golden(self, done.stderr, at="jobs.csv:3: gpu")
"""

import json
import os
import re
import sys
import tempfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
GOLDEN = os.path.join(SOURCE, "tests/golden")
HEAD = ("# Texts that tests expect. tests/golden/regenerate writes this file: "
        "change the code, not it.\n")


def form(text):
    """The text as it stands in a file: golden_form() of golden.hpp, of text that is Unicode."""
    if not text:
        return r"\empty"
    body = text.strip("\n")
    before = len(text) - len(text.lstrip("\n")) if body else len(text)
    after = len(text) - len(body) - before
    body = body.replace("\\", r"\\").replace("\t", r"\t").replace("\r", r"\r")
    body = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]|\x20(?=\n|\Z)",
                  lambda found: f"\\x{ord(found.group()):02x}", body)
    return r"\n" * before + body + r"\n" * after


def without_folders(text):
    """The text with {source} for the root of the sources, {dir} for a test's temporary folder."""
    begin = os.path.join(os.path.realpath(tempfile.gettempdir()), "muster-")
    return re.sub(re.escape(begin) + r"[\w-]*", "{dir}", text.replace(SOURCE, "{source}"))


def line_with(text, part):
    """The first line of a text that has this in it; empty where no line has. For a sentence among
    figures."""
    return next((line for line in text.split("\n") if part in line), "")


def read(path):
    """The texts of a file, in their form, by test; of no file there are none."""
    tests = {}
    if not os.path.exists(path):
        return tests
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    texts = []
    for line in lines:
        if line.startswith("  - "):
            texts.append(line[4:])
        elif not line or line.startswith("    "):
            if texts:
                texts[-1] += "\n" + line[4:]
        elif not line.startswith("#"):
            texts = tests.setdefault(line, [])
    return {test: [text.rstrip("\n") for text in texts] for test, texts in tests.items()}


def write(path, tests):
    """Writes the texts of a file, sorted by test; without texts there is no file."""
    if not any(tests.values()):
        if os.path.exists(path):
            os.remove(path)
        return
    parts = [HEAD]
    for test, texts in sorted(tests.items()):
        lines = [test]
        for text in texts:
            first, *more = text.split("\n")
            lines += ["  - " + first, *("    " + line if line else "" for line in more)]
        parts.append("\n".join(lines) + "\n")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(parts))


class Texts:
    """The texts that one test asks for, in their order."""

    def __init__(self, file, test, folder=GOLDEN, output=os.environ.get("MUSTER_GOLDEN_OUT")):
        self.file, self.test, self.output = file, test, output
        self.expected = read(os.path.join(folder, file + ".txt")).get(test, [])
        self.asked = 0

    def mend(self):
        return (f"Where the new text is right: tests/golden/regenerate {self.file}, "
                "and read its diff.")

    def fault(self, text):
        """Why the text is not the next one of the test; empty where it is."""
        number, self.asked, said = self.asked, self.asked + 1, form(text)
        place = f"text {number + 1} of {self.test} in tests/golden/{self.file}.txt"
        if self.output:
            with open(os.path.join(self.output, f"{os.getpid()}.jsonl"), "a",
                      encoding="utf-8") as out:
                out.write(json.dumps({"file": self.file, "test": self.test, "number": number,
                                      "text": said}) + "\n")
            return ""
        if number >= len(self.expected):
            return f"there is no {place}; the test said:\n{said}\n{self.mend()}"
        if self.expected[number] != said:
            return (f"it is not {place}, which is:\n{self.expected[number]}\nThe test said:\n"
                    f"{said}\n{self.mend()}")
        return ""

    def fault_of_rest(self):
        """Why the test asked for fewer texts than there are; empty where it did not."""
        if self.output or self.asked >= len(self.expected):
            return ""
        return f"the test asked for {self.asked} texts, and has {len(self.expected)}: {self.mend()}"


def assert_golden(test, text, at=()):
    """The next text of the running test is this one, folders replaced; it names the place `at`, or
    all of them."""
    plain = without_folders(text)
    for place in [at] if isinstance(at, str) else at:
        test.assertRegex(plain, rf"(?m)(?:^|[ /]){re.escape(place)}:")
    texts = test.__dict__.get("golden_texts")
    if texts is None:
        module = os.path.relpath(sys.modules[type(test).__module__].__file__,
                                 os.path.join(SOURCE, "tests"))
        texts = Texts(module.removesuffix("_test.py"), test.id().split(".", 1)[1])
        test.golden_texts = texts
        test.addCleanup(lambda: test.assertEqual(texts.fault_of_rest(), ""))
    fault = texts.fault(plain)
    if fault:
        test.fail(fault)
