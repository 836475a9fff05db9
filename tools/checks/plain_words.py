#!/usr/bin/env python3
"""Finds the four habits that hide the noun of a sentence, and numbers that do not fit their noun.

  subject  a sentence that begins with What, Who, Whatever or Whoever and is no question
  amount   "so many", "so much", "so long", "so often" where no "as" or "that" follows
  same     "the same" without a noun behind it
  none     "none" or "nobody" in the place of a noun; "or none", "none of the tasks" and names of
           the code in quotes are let through
  plural   "1 jobs", in the texts of tests/golden

It reads, of the product's C++, documentation comments (///), other comments and the texts of string
literals (errors, --help, meanings of keys), of the tests' C++ the comments, further descriptions
in schemas.json, the pages (*.md) and the texts of tests/golden. The numbers that are left stand in
plain_words.txt by room and kind, and only become smaller.

Usage: plain_words.py [--list PART]

Writes plain_words.txt anew; with --list it prints each place whose path begins with PART. The check
itself is check_words."""

import collections
import os
import re
import sys

import sources

LIMITS = "tools/checks/plain_words.txt"
# Of a comment or text, of a heading or list item, of a sentence or of a table's cell.
BEGINNING = r"(?:^(?:#+|>|\d+\.)?|[.:;!?] |\*\*|\| *(?=[A-Z]))[\s*-]*"
HABITS = {
    "subject": re.compile(BEGINNING + r"(?:[Ww]hat|[Ww]ho)(?:ever)?(?=[ ,])(?![^.;]*\?)"),
    "amount": re.compile(r"\bso (?:many|much|long|often|few)\b(?!-)(?! (?:as|that)\b)", re.I),
    "same": re.compile(
        r"\bthe same\b(?=\s*(?:[.,;:)!?]|$)|\s+(?:for|as|in|of|with|by|to|from|if|when|while|where"
        r"|at|on|is|are|was|were|and|or|but|goes|holds|once|twice|again|until|after|before|under"
        r"|between|without|beside)\b)", re.I),
    "none": re.compile(
        r"(?<!\bor )(?<!\bor of )(?<![\w=:])"
        r"(?:\bnone\b(?![=:(]| \|| of (?:the|its|their|his)\b)|\bnobody\b)",
        re.I),
}
PLURAL = re.compile(
    r"(?<![\w.,:$-])1 (?:other |of the )?"
    r"(?:jobs|tasks|requests|instances|lines|workers|tokens|budgets|runs|rows|events|attempts"
    r"|columns|files|masters|sites|nodes|users|rounds|seconds|days|times|types|names|values|bytes"
    r"|hours|gangs|moves)\b")
QUOTED = re.compile(r"\\\"[^\"\n]{0,60}\\\"|\"[^\"\n]{0,60}\"|`[^`\n]*`|'[^'\n]{1,30}'")
LITERAL = re.compile(r'^"(?:\\.|[^"\\\n])*"$')
DESCRIPTION = re.compile(r'"description": "((?:\\.|[^"\\])*)"')
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
ROOMS_OF_THEIR_OWN = ("docs/research",)


def slips(text):
    """(habit, position) of each habit in a text."""
    plain = QUOTED.sub(lambda match: re.sub(r"[^\n]", "_", match.group(0)), text)
    for habit, pattern in HABITS.items():
        for match in pattern.finditer(plain):
            yield habit, match.start()


def mark_of(comment):
    mark = re.match(r"/{2,}<?", comment)
    return mark.group(0) if mark else "/*"


def pieces_of_cpp(text):
    """(kind, line, text) of the comments and literals of a C++ text; neighbours are one piece."""
    pieces, last = [], None  # last: (mark, end)
    for match in sources.literals_and_comments(text):
        found = match.group(0)
        if found.startswith("/"):
            mark = mark_of(found)
            kind, said = ("docs" if mark.startswith("///") else "comments"), found[len(mark):]
        elif LITERAL.match(found):
            mark, kind, said = '"', "texts", found[1:-1]
        else:
            last = None
            continue
        between = text[last[1]:match.start()] if last else ""
        if last and last[0] == mark and not between.strip() and (
                mark == '"' or between.count("\n") == 1):
            kind, line, before = pieces.pop()
            said = before + said if mark == '"' else f"{before.rstrip()} {said.strip()}"
        else:
            line, said = sources.line_of(text, match.start()), said if mark == '"' else said.strip()
        pieces.append((kind, line, said))
        last = (mark, match.end())
    return [piece for piece in pieces if piece[0] != "texts" or piece[2].count(" ") > 0]


def paragraphs(text):
    """(line, text) of the paragraphs, list items and table cells of a page, without code."""
    text = FENCE.sub(lambda match: re.sub(r"[^\n]", "", match.group(0)), text)
    number, lines = 1, []
    for at, line in enumerate(text.split("\n") + [""], 1):
        begins = not line.strip() or re.match(r"\s*(?:[-*|>#]|\d+\.)", line)
        if begins and lines:
            yield number, " ".join(lines)
            lines = []
        if line.strip():
            number = number if lines else at
            lines.append(line.strip())


def found_in(path, text):
    """(kind, habit, line, words) of each slip in a file of the project."""
    if path.startswith("tests/golden/"):
        for match in PLURAL.finditer(text):
            yield "texts", "plural", sources.line_of(text, match.start()), match.group(0)
        return
    if path.endswith(sources.CPP) and path.startswith(sources.FOLDERS):
        pieces = pieces_of_cpp(text)
    elif path.endswith(sources.CPP) and path.startswith("tests/"):
        pieces = [piece for piece in pieces_of_cpp(text) if piece[0] != "texts"]
    elif path.endswith(".md"):
        pieces = [("pages", line, said) for line, said in paragraphs(text)]
    elif path == "serve/api/schemas.json":
        pieces = [("texts", sources.line_of(text, match.start()), match.group(1))
                  for match in DESCRIPTION.finditer(text)]
    else:
        return
    for kind, line, said in pieces:
        for habit, at in slips(said):
            yield kind, habit, line, said[max(0, at - 30):at + 70]


def all_found(root):
    """(path, kind, habit, line, words) of all slips of the project."""
    for path in sources.project_files(root):
        if path.endswith(sources.CPP + (".md", ".txt", ".json")):
            for found in found_in(path, sources.read(root, path)):
                yield (path, *found)


def room_of(path):
    for room in ROOMS_OF_THEIR_OWN:
        if path.startswith(room + "/"):
            return room
    return path.split("/")[0] if "/" in path else "."


def limits(root):
    """The numbers that plain_words.txt allows, by (room, kind, habit)."""
    if not os.path.exists(os.path.join(root, LIMITS)):
        return {}
    rows = (line.split() for line in sources.read(root, LIMITS).split("\n"))
    return {tuple(row[:3]): int(row[3]) for row in rows if row}


def problems(root):
    """All that is wrong, as (path, line, message)."""
    places, allowed = collections.defaultdict(list), limits(root)
    for path, kind, habit, line, words in all_found(root):
        places[room_of(path), kind, habit].append((path, line, words))
    for key in sorted({*places, *allowed}):
        room, kind, habit = key
        found, limit = places[key], allowed.get(key, 0)
        if len(found) > limit and limit == 0:
            for path, line, words in found:
                yield path, line, f"{habit}: \"{words}\": {ADVICE[habit]}"
        elif len(found) > limit:
            yield LIMITS, 1, (f"{room} has {len(found)} of the habit \"{habit}\" in its {kind}, "
                              f"{limit} are allowed: {ADVICE[habit]} "
                              f"(tools/checks/plain_words.py --list {room})")
        elif len(found) < limit:
            yield LIMITS, 1, (f"{room} has {len(found)} of the habit \"{habit}\" in its {kind}, "
                              f"{limit} are allowed: run tools/checks/plain_words.py, so that "
                              "they do not come back")


ADVICE = {"subject": "begin with the noun that the sentence is about",
          "amount": "name the number", "same": "name the thing again",
          "none": "say \"no\" with its noun", "plural": "print the noun that fits the number"}


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    found = list(all_found(root))
    if sys.argv[1:2] == ["--list"]:
        parts = tuple(sys.argv[2:]) or ""
        for path, kind, habit, line, words in found:
            if path.startswith(parts):
                print(f"{path}:{line}: {kind} {habit}: {words}")
        return 0
    counts = collections.Counter((room_of(path), kind, habit) for path, kind, habit, *_ in found)
    with open(os.path.join(root, LIMITS), "w", encoding="utf-8") as file:
        file.writelines(f"{' '.join(key)} {count}\n" for key, count in sorted(counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
