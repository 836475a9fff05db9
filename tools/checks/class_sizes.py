#!/usr/bin/env python3
"""Bounds classes: how many lines, methods, members and files one may have.

Lines of a class are those of its declaration and of its functions elsewhere. Overloads of a method
count once. A class none of whose members ends in an underscore is plain data, whose members do not
count. Classes of tests are not bounded.

The classes that were above a bound before there was one stand in class_sizes.txt, one a line:
CLASS LINES METHODS MEMBERS FILES, with - for a size within its bound. Those sizes only shrink, and
no class is added: `class_sizes.py [ROOT]` writes the smaller ones of now."""

import os
import re
import sys
from dataclasses import dataclass

import cpp_scopes
import sources

# A header and two sources are three files.
BOUNDS = {"lines": 400, "methods": 30, "members": 20, "files": 3}
LIST = "tools/checks/class_sizes.txt"
ROW = re.compile(r"^(\S+)" + r" (\d+|-)" * len(BOUNDS) + r"$")


@dataclass
class Class:
    """A class of the product, with its sizes by the names of BOUNDS."""
    path: str
    line: int
    sizes: dict


def classes_of(scans):
    """{name: Class} of the product's classes; `scans` are those of cpp_scopes by path."""
    product = {path: scan for path, scan in scans.items() if not path.startswith("tests/")}
    found = {}

    def whole(path, name):
        # A class in an unnamed namespace is of its file alone.
        return name.replace("(unnamed)", f"({os.path.basename(path)})")

    for path, scan in product.items():
        for each in scan.types:
            members = each.members if any(name.endswith("_") for name in each.members) else ()
            found[whole(path, each.name)] = Class(path, each.line, {
                "lines": each.length, "methods": set(each.methods), "members": len(members),
                "files": {path}})
    for path, scan in product.items():
        for function in scan.functions:
            if "::" not in function.name:
                continue
            name = whole(path, f"{function.owner}::{function.name}").removeprefix("::")
            owner, method = name.rsplit("::", 1)
            if owner in found:
                sizes = found[owner].sizes
                sizes["lines"] += function.length
                sizes["methods"].add(method)
                sizes["files"].add(path)
    for each in found.values():
        each.sizes = {kind: size if isinstance(size, int) else len(size)
                      for kind, size in each.sizes.items()}
    return found


def excess(each):
    """The sizes of the class that are above their bounds."""
    return {kind: each.sizes[kind] for kind, bound in BOUNDS.items() if each.sizes[kind] > bound}


def lines_of_list(root):
    """(number, text) of the lines of the list that are not empty."""
    if os.path.exists(os.path.join(root, LIST)):
        for number, line in enumerate(sources.read(root, LIST).split("\n"), 1):
            if line:
                yield number, line


def lines_that_are_no_row(root):
    for number, line in lines_of_list(root):
        if not ROW.match(line):
            yield LIST, number, f"no row of CLASS {' '.join(BOUNDS).upper()}: {line}"


def listed(root):
    """{name: (line of the list, {kind: size above its bound})}; lines that are no row are left out.

    Of two rows of one class the smaller sizes count, as after two changes of the list that met."""
    found = {}
    for number, line in lines_of_list(root):
        if row := ROW.match(line):
            sizes = {kind: int(size) for kind, size in zip(BOUNDS, row.groups()[1:]) if size != "-"}
            before = found.get(row.group(1), (number, sizes))[1]
            found[row.group(1)] = number, smaller(before, sizes)
    return found


def smaller(one, other):
    """What is above its bound in both."""
    return {kind: min(one[kind], other[kind]) for kind in BOUNDS if kind in one and kind in other}


def problems(root, classes):
    """Classes above a bound that they may not exceed, and rows of the list that allow too much, as
    (path, line, message)."""
    yield from lines_that_are_no_row(root)
    allowed = listed(root)
    for name, each in classes.items():
        most = allowed.get(name, (0, {}))[1]
        for kind, size in excess(each).items():
            if size > most.get(kind, BOUNDS[kind]):
                yield each.path, each.line, (
                    f"{name} has {size} {kind}, the limit is {most.get(kind, BOUNDS[kind])}: move "
                    "a job of it to a class of its own")
    for name, (line, most) in allowed.items():
        now = excess(classes[name]) if name in classes else {}
        less = [f"{now[kind]} {kind}" if kind in now else f"{kind} within the limit"
                for kind, size in most.items() if now.get(kind, 0) < size]
        if less or not most:
            yield LIST, line, (f"{name} has {', '.join(less) or 'no size above a limit'} by now: "
                               "run tools/checks/class_sizes.py, so that it does not grow again")


def main():
    """Writes the list anew, smaller."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    root = sys.argv[1] if len(sys.argv) > 1 else here
    classes = classes_of({path: cpp_scopes.scan(sources.read(root, path))
                          for path in sources.cpp_files(root)})
    rows = {name: smaller(most, excess(classes[name]))
            for name, (_, most) in listed(root).items() if name in classes}
    with open(os.path.join(root, LIST), "w", encoding="utf-8") as file:
        for name, sizes in sorted(rows.items()):
            if sizes:
                print(name, *(sizes.get(kind, "-") for kind in BOUNDS), file=file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
