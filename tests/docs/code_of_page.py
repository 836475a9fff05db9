#!/usr/bin/env python3
"""Takes the C++ code out of a page, so that it can be compiled.

Usage: code_of_page.py PAGE ROOT TARGET

Each ```cpp block whose first line is a comment with a path becomes that file below TARGET. A block
that names a file of the project (below ROOT) adds its lines to a copy of it."""

import os
import re
import sys

BLOCK = re.compile(r"^```cpp\n// (\S+/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files_of(text, root):
    for path, code in BLOCK.findall(text):
        known = os.path.join(root, path)
        if os.path.exists(known):
            with open(known, encoding="utf-8") as file:
                code = file.read() + code
        yield path, code


def main():
    page, root, target = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        files = list(files_of(file.read(), root))
    if not files:
        sys.exit(f"{page}: has no ```cpp block that begins with the path of a file")
    for path, code in files:
        whole = os.path.join(target, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(code)


if __name__ == "__main__":
    main()
