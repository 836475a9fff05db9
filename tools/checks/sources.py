"""What the checks share: which files are the project's, and C++ without comments and strings."""

import os
import re
import subprocess

MODULES = ("model", "learning", "schedulers", "storage", "config", "actors", "masters", "workers",
           "serve", "replay", "tools")
FOLDERS = tuple(f"{module}/" for module in MODULES)
HEADERS = (".hpp", ".h", ".hh")
CPP = HEADERS + (".cpp", ".cc")


def project_files(root):
    """Every file of the project below `root`, as sorted paths relative to it.

    In a git checkout: what is tracked or would be after `git add .`; elsewhere: all but build/ and
    caches."""
    if os.path.exists(os.path.join(root, ".git")):
        command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                   "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True)
        if listed.returncode == 0:
            names = listed.stdout.decode().split("\0")
            return sorted({n for n in names if n and os.path.isfile(os.path.join(root, n))})
    found = []
    for folder, folders, names in os.walk(root):
        here = os.path.relpath(folder, root)
        left_out = ("build", ".git", ".cache") if here == "." else ("__pycache__",)
        folders[:] = [f for f in folders if f not in left_out]
        found += [os.path.normpath(os.path.join(here, name)) for name in names]
    return sorted(found)


def cpp_files(root, folders=MODULES):
    """The C++ sources and headers below the given top-level folders."""
    return [p for p in project_files(root)
            if p.endswith(CPP) and p.split("/", 1)[0] in folders]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


_NOT_CODE = re.compile(
    r"""//(?:\\\n|[^\n])*"""  # a line comment, continued ones too
    r"""|/\*.*?(?:\*/|\Z)"""
    r"""|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)\""""
    r"""|"(?:\\.|[^"\\\n])*"?"""
    r"""|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE)


def blank(text, keep_quotes=False):
    """The C++ text with comments and literals turned into spaces; lines and columns stay.

    With `keep_quotes` ordinary string literals stay too, which #include lines need."""

    def spaces(match):
        found = match.group(0)
        if keep_quotes and found[0] == '"':
            return found
        return re.sub(r"[^\n]", " ", found)

    return _NOT_CODE.sub(spaces, text)


def literals_and_comments(text):
    """The matches of all comments and literals of a C++ text, in order."""
    return _NOT_CODE.finditer(text)


def comments(text):
    """(begin, end) of each comment of a C++ text."""
    for match in _NOT_CODE.finditer(text):
        if match.group(0).startswith(("//", "/*")):
            yield match.span()


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def report(problems, name):
    """Prints one problem a line (path, line, message); returns the exit status."""
    problems = sorted(problems)
    for path, line, message in problems:
        print(f"{path}:{line}: {message}")
    if problems:
        print(f"{name}: {len(problems)} problem(s)")
    return 1 if problems else 0
