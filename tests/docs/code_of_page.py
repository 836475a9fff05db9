#!/usr/bin/env python3
"""Takes the code out of a page, so that it can be compiled.

Usage: code_of_page.py PAGE ROOT TARGET

The first line of a ```cpp or ```capnp block is a comment with a path, and the block becomes that
file below TARGET. A block for a file of the project (below ROOT) is added to a copy of it: at its
end, or where the comment says

    // PATH, before: TEXT        (also "behind:", and "in place of:")

above, below or instead of the one line that has the text. In a schema "@next" is the next number
of the struct that it stands in."""

import os
import re
import sys

PLACE = r"(?:, (before|behind|in place of): ([^\n]+))?"
BLOCK = re.compile(r"^ *```(?:cpp|capnp)\n *(?://|#) (\S+/[\w.]+)" + PLACE + r"\n(.*?)^ *```$",
                   re.MULTILINE | re.DOTALL)


def numbered(text):
    """A schema with its numbers where it says "@next"."""
    while "@next" in text:
        at = text.index("@next")
        begin = text.rindex("\nstruct ", 0, at)
        members = text[begin:text.index("\n}", at)]
        number = 1 + max(int(one) for one in re.findall(r"^  \w+ @(\d+)", members, re.MULTILINE))
        text = text.replace("@next", f"@{number}", 1)
    return text


def placed(text, place, anchor, code):
    """The text of a file with the code in its place."""
    if place is None:
        return text + code
    lines = text.splitlines(keepends=True)
    found = [i for i, line in enumerate(lines) if anchor in line]
    if len(found) != 1:
        raise ValueError(f"has {len(found)} lines with {anchor!r}, and not one")
    first = found[0] + (place == "behind")
    last = found[0] + (place != "before")
    return "".join(lines[:first]) + code + "".join(lines[last:])


def files_of(page, root):
    """The files of the page by their paths."""
    files = {}
    for path, place, anchor, code in BLOCK.findall(page):
        known = os.path.join(root, path)
        if path not in files and os.path.exists(known):
            with open(known, encoding="utf-8") as file:
                files[path] = file.read()
        try:
            files[path] = placed(files.get(path, ""), place or None, anchor, code)
        except ValueError as fault:
            raise ValueError(f"{path} {fault}") from fault
    return files


def main():
    page, root, target = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    try:
        files = files_of(text, root)
    except ValueError as fault:
        sys.exit(f"{page}: {fault}")
    if not files:
        sys.exit(f"{page}: has no ```cpp block that begins with the path of a file")
    for path, code in files.items():
        whole = os.path.join(target, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(numbered(code) if path.endswith(".capnp") else code)


if __name__ == "__main__":
    main()
