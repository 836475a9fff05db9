"""Gathers the project's Markdown into one folder, as the site's pages.

The pages keep their places relative to each other, so a link between two pages works in the tree
and on the site. A linked file that is no page is copied beside them; a linked folder is shown by
its README. Sequence diagrams become pictures, since the site loads no program that draws them in
the browser."""

import os
import re
import shutil

import sequence
import sources

FENCE = re.compile(r"^```(\w*).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
# Pages about what tests read are for the reader of the tree.
NOT_SHOWN = ("tests/data/", "tests/golden/")
ITEM = re.compile(r"\s*([-*]|\d+\.)\s")


def names_of(root):
    return [path for path in sources.project_files(root)
            if path.endswith(".md") and not path.startswith(NOT_SHOWN)]


def outside_fences(text, change):
    """The text with `change` made to all that is not in a fenced block."""
    parts, last = [], 0
    for match in FENCE.finditer(text):
        parts += [change(text[last:match.start()]), match.group(0)]
        last = match.end()
    return "".join(parts + [change(text[last:])])


def list_problems(path, text):
    """Lists that the site would show as a part of the paragraph before them."""
    lines = FENCE.sub(lambda match: "\n" * match.group(0).count("\n"), text).split("\n")
    for number, (before, line) in enumerate(zip(lines, lines[1:]), 2):
        goes_on = before.strip() and not before.startswith((" ", "#", "|")) \
            and not ITEM.match(before)
        if goes_on and re.match(r"([-*]|1\.)\s", line) and not in_list(lines, number - 2):
            yield f"{path}:{number}: an empty line has to be before a list"


def in_list(lines, at):
    """Whether a line belongs to an item that began above it."""
    while at >= 0 and lines[at].strip():
        if ITEM.match(lines[at]):
            return True
        at -= 1
    return False


class Gatherer:
    def __init__(self, root, target):
        self.root = root
        self.target = target
        self.pages = set(names_of(root))

    def take(self, path):
        """Copies a file that is no page, once."""
        whole = os.path.join(self.target, path)
        if not os.path.exists(whole):
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            shutil.copyfile(os.path.join(self.root, path), whole)

    def link(self, path, match):
        shown, target = match.groups()
        name, mark, anchor = target.partition("#")
        if not name or re.match(r"[a-z][a-z0-9+.-]*:", target):
            return match.group(0)
        whole = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if os.path.isdir(os.path.join(self.root, whole)):
            if os.path.join(whole, "README.md") not in self.pages:
                return shown[1:-1]
            return f"{shown}({os.path.join(name, 'README.md')}{mark}{anchor})"
        if whole not in self.pages and os.path.isfile(os.path.join(self.root, whole)):
            self.take(whole)
        return match.group(0)

    def picture(self, path, number, text):
        name = f"{os.path.splitext(os.path.basename(path))[0]}-{number}.svg"
        whole = os.path.join(self.target, os.path.dirname(path), name)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(sequence.drawing(text))
        return f"![who says what to whom]({name})"

    def page(self, path):
        text = sources.read(self.root, path)
        os.makedirs(os.path.join(self.target, os.path.dirname(path)), exist_ok=True)
        drawings = []

        def drawn(match):
            if match.group(1) != "mermaid":
                return match.group(0)
            drawings.append(match.group(2))
            return self.picture(path, len(drawings), match.group(2))

        changed = outside_fences(FENCE.sub(drawn, text), lambda part: LINK.sub(
            lambda match: self.link(path, match), part))
        with open(os.path.join(self.target, path), "w", encoding="utf-8") as file:
            file.write(changed)
        return list(list_problems(path, text))


def gather(root, target):
    """Writes the pages and what they show below `target`; the problems found on the way."""
    gatherer = Gatherer(root, target)
    problems = []
    for path in sorted(gatherer.pages):
        problems += gatherer.page(path)
    return problems


def left_out(source, settings):
    """A problem for each page that the navigation does not name."""
    with open(settings, encoding="utf-8") as file:
        named = set(re.findall(r"(\S+\.md)\s*$", file.read(), re.MULTILINE))
    found = {os.path.relpath(os.path.join(folder, name), source)
             for folder, _, names in os.walk(source) for name in names if name.endswith(".md")}
    return [f"{page}: the navigation of mkdocs.yml does not name this page"
            for page in sorted(found - named)]
