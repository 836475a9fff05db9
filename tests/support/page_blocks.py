"""The blocks of a page of the documents, and its sessions: commands with what they print."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    """The fenced and the indented blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(r"^```\w*\n(.*?)^```$|((?:^    [^\n]*\n)+)", text, re.MULTILINE | re.DOTALL)
    return [match[1] or re.sub(r"^    ", "", match[2], flags=re.MULTILINE) for match in found]


def block_that_begins(page, begins):
    """The only block of the page that begins so."""
    found = [block for block in blocks(page) if block.startswith(begins)]
    if len(found) != 1:
        raise ValueError(f"{page} has {len(found)} blocks that begin with {begins!r}, and not one")
    return found[0]


def session(block):
    """[(command, lines that it prints)] of a block whose commands stand behind "$ "."""
    steps = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps
