#!/usr/bin/env python3
"""Counts the assertions of tests that expect a wording: four words or more of a sentence.

Tests ask codes and values; texts stand in tests/golden (tests/README.md). What is left of such
assertions stands in wordings.txt by room, and only becomes less: `wordings.py` writes it anew."""

import ast
import collections
import os
import re
import sys

import sources

LIMITS = "tools/checks/wordings.txt"
SENTENCE = re.compile(r"(?<![\w./-])(?:[A-Za-z][a-z'-]*[,;:]? ){3}[A-Za-z]")
ASSERTION = re.compile(r"\b(?:EXPECT|ASSERT)_(EQ|NE|STREQ|THAT|TRUE|FALSE)\(")
TOKEN = re.compile(r'R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:\\.|[^"\\\n])*)"'
                   r"""|'(?:\\.|[^'\\\n])+'"""
                   r"|(?P<call>[\w:~]*)\s*(?:<[\w:, *]*>\s*)?(?P<open>[({\[])"
                   r"|(?P<close>[)}\]])|(?P<comma>,)|//[^\n]*", re.DOTALL)
# Calls whose argument is compared with a text; types and matchers begin in capitals.
COMPARED = re.compile(r"(?:^|:)(?:[A-Z]\w*|string|vector|pair|map|optional|nullopt|)$")
UNITTEST = re.compile(r"assert[A-Z]")
ONE_VALUE = re.compile(r"assert(?:True|False|IsNone|IsNotNone)$")
SEARCHES = re.compile(r"^(?:find|contains|starts_with|ends_with)$")


def expects_wording(kind, text, position):
    """Whether the assertion whose arguments begin at `position` of the C++ text does."""
    calls, comma_seen, literal, end = [], False, "", position
    for token in TOKEN.finditer(text, position):
        found = token.group("raw") if token.group("raw") is not None else token.group("text")
        if found is not None:
            joined = literal and not text[end:token.start()].strip()
            literal = literal + found if joined else found
            end = token.end()
            expected = (any(SEARCHES.search(call) for call in calls) if kind in ("TRUE", "FALSE")
                        else all(COMPARED.search(call) for call in calls)
                        and (comma_seen or kind != "THAT"))
            if expected and SENTENCE.search(literal):
                return True
        elif token.group("open"):
            calls.append(token.group("call"))
        elif token.group("close"):
            if not calls:
                return False
            calls.pop()
        elif token.group("comma") and not calls:
            comma_seen = True
    return False


def wordings_of_cpp(text):
    """The lines of the assertions of a C++ test that expect a wording."""
    for match in ASSERTION.finditer(text):
        if expects_wording(match.group(1), text, match.end()):
            yield sources.line_of(text, match.start())


def wordings_of_python(text):
    """The lines of the assertions of a Python test that expect a wording."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        # Behind what unittest compares stands what to say of it.
        compared = (1 if ONE_VALUE.match(name) else 2 if UNITTEST.match(name) else len(node.args))
        parts = [part for argument in node.args[:compared] for part in ast.walk(argument)]
        if name.startswith("assert") and any(
                isinstance(part, ast.Constant) and isinstance(part.value, str)
                and SENTENCE.search(part.value) for part in parts):
            yield node.lineno


def wordings(path, text):
    if not path.startswith("tests/"):
        return []
    if path.endswith("_test.cpp"):
        return list(wordings_of_cpp(text))
    return list(wordings_of_python(text)) if path.endswith("_test.py") else []


def counts(root):
    """The number of such assertions by room of tests/."""
    found = collections.Counter()
    for path in sources.project_files(root):
        lines = wordings(path, sources.read(root, path)) if path.startswith("tests/") else []
        if lines:
            folders = path.split("/")[1:-1]
            found["/".join(folders[:2 if folders[0] == "tools" else 1])] += len(lines)
    return found


def limits(root):
    """The numbers that wordings.txt allows."""
    if not os.path.exists(os.path.join(root, LIMITS)):
        return {}
    rows = (line.split() for line in sources.read(root, LIMITS).split("\n"))
    return {row[0]: int(row[1]) for row in rows if row}


def problems(root):
    """All that is wrong with the texts of tests, as (path, line, message)."""
    yield from orphans(root)
    found, allowed = counts(root), limits(root)
    for room in sorted({*found, *allowed}):
        if found[room] > allowed.get(room, 0):
            yield LIMITS, 1, (f"tests/{room} has {found[room]} assertions on wording, "
                              f"{allowed.get(room, 0)} are allowed: assert the code, and the text "
                              "by IsGolden() (tests/README.md)")
        elif found[room] < allowed[room]:
            yield LIMITS, 1, (f"tests/{room} has {found[room]} assertions on wording, "
                              f"{allowed[room]} are allowed: run tools/checks/wordings.py, so that "
                              "they do not come back")


def orphans(root):
    """Texts of tests/golden whose test is not there, which no test run would miss."""
    for path in sources.project_files(root):
        if not (path.startswith("tests/golden/") and path.endswith(".txt")):
            continue
        test = path.replace("tests/golden/", "tests/").removesuffix(".txt") + "_test"
        source = "".join(sources.read(root, test + end) for end in (".cpp", ".py")
                         if os.path.exists(os.path.join(root, test + end)))
        for number, line in enumerate(sources.read(root, path).split("\n"), 1):
            if line and line[0] not in " #":
                # Behind the last slash stand the number of a typed suite and the name of a value.
                suite, name = line.split(".", 1)
                suite = re.sub(r"/\d+$", "", suite).rsplit("/", 1)[-1]
                name = name.split("/")[0]
                if not re.search(rf"\({suite},\s*{name}\)|\bdef {name}\(", source):
                    yield path, number, f"no test {line}: run tests/golden/regenerate"


def main():
    """Writes the limits anew; of --list, the assertions themselves."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    if sys.argv[1:2] == ["--list"]:
        for path in sources.project_files(root):
            if path.startswith(tuple(sys.argv[2:]) or "tests/"):
                for line in wordings(path, sources.read(root, path)):
                    print(f"{path}:{line}")
        return 0
    found, allowed = counts(root), limits(root)
    rows = {room: min(found[room], most) for room, most in (allowed or found).items()}
    with open(os.path.join(root, LIMITS), "w", encoding="utf-8") as file:
        file.writelines(f"{room} {count}\n" for room, count in sorted(rows.items()) if count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
