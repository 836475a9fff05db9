"""Reads CMake's lists of sources, and which names a C++ source has to itself."""

import os
import re

import sources

KEPT_OUT = re.compile(r"set_source_files_properties\(([^)]*?)\bPROPERTIES\b[^)]*"
                      r"\bSKIP_UNITY_BUILD_INCLUSION\b", re.DOTALL)
# Declarations stand at the beginning of a line; what is deeper belongs to them.
TOP = re.compile(
    r"^(?:namespace (?P<space>[\w:]*) ?\{"
    r"|(?P<end>@end)$"
    r"|(?:struct|class|union|enum(?: class)?) (?P<type>\w+)(?: final)?(?: :[^;{]*)? \{"
    r"|using (?P<alias>\w+) =(?P<means>[^;]*);"
    r"|(?:inline )?(?:constexpr|const) [^=({;]*?\b(?P<constant>k\w+)(?: =|\{|\(|;)"
    r"|(?!using|namespace|template|return)[\w:][\w:<>,&*\s\[\]]*?[\s&*](?P<function>\w+)"
    r"\((?P<parameters>(?:[^{};]|\{\})*)\)(?: noexcept)?(?: ->[^{;]*)? \{)",
    re.MULTILINE)


def listed(root, function):
    """{target: its sources that may be compiled at once}, of the calls of a function of CMake."""
    call = re.compile(function + r"\(\s*(\w+)(.*?)\)", re.DOTALL)
    found = {}
    for path in sources.project_files(root):
        if os.path.basename(path) != "CMakeLists.txt":
            continue
        text = re.sub(r"#[^\n]*", "", sources.read(root, path))
        folder = os.path.dirname(path)
        alone = {name for names in KEPT_OUT.findall(text) for name in names.split()}
        for target, words in call.findall(text):
            names = re.findall(r"(?<!\S)[\w./-]+\.cpp", words)
            found[target] = [os.path.normpath(os.path.join(folder, name))
                             for name in names if name not in alone]
    return found


def types_of(parameters):
    """A parameter list without names and defaults."""
    depth, parts, part = 0, [], ""
    for symbol in parameters:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(symbol, 0)
        if symbol == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += symbol
    parts.append(part)
    parts = [re.sub(r"\s*=.*", "", " ".join(part.split())) for part in parts]
    return ", ".join(re.sub(r"(?<=[\s&*>])\w+$", "", part).strip() if " " in part or "&" in part
                     else part for part in parts)


def own_names(text):
    """(name, what has to differ or be the same, line) of all in anonymous namespaces."""
    # The comment tells a namespace's end from all others.
    code = sources.blank(re.sub(r"^\}  // namespace.*$", "@end", text, flags=re.MULTILINE))
    spaces = []
    for match in TOP.finditer(code):
        if match["space"] is not None:
            spaces.append(match["space"])
        elif match["end"]:
            if spaces:
                spaces.pop()
        elif "" in spaces:
            where = "::".join(space for space in spaces if space)
            line = sources.line_of(code, match.start())
            if match["function"]:
                yield f"{where}::{match['function']}({types_of(match['parameters'])})", None, line
            elif match["alias"]:
                yield f"{where}::{match['alias']}", " ".join(match["means"].split()), line
            else:
                yield f"{where}::{match['type'] or match['constant']}", None, line
