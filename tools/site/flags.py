"""Checks that commands in the pages are called as they can be called."""

import re

import reference
import sources

CALL = re.compile(r"(?:^|[`$(]|(?<!-u) )muster ([a-z][a-z-]*(?: [a-z][a-z-]*)?)([^`\n#|;)]*)",
                  re.MULTILINE)
CODE = re.compile(r"^```\w*\n(.*?)^```$|^((?:    \S[^\n]*\n)+)|(`[^`\n]+`)",
                  re.MULTILINE | re.DOTALL)
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")


class Help:
    """The help texts of a command, each asked for once."""

    def __init__(self, muster):
        self.muster = muster
        self.commands = reference.commands_below(reference.asked(muster, "--help"))
        self.texts = {}

    def of(self, words):
        """(the words that are a command, its help), or nothing."""
        first, _, second = words.partition(" ")
        if first not in self.commands:
            return None
        name = (first,)
        if second and second in reference.commands_below(self.text(name)):
            name = (first, second)
        return " ".join(name), self.text(name)

    def text(self, name):
        if name not in self.texts:
            self.texts[name] = reference.asked(self.muster, "help", *name)
        return self.texts[name]


def problems_of(path, text, known):
    """A problem for each call in the page's code with a command or flag that is not there."""
    found = set()
    for block in CODE.finditer(text.replace("\\\n", " ")):
        code = next(part for part in block.groups() if part)
        for call in CALL.finditer(code):
            command = known.of(call.group(1))
            if command is None:
                found.add(f"{path}: there is no command `muster {call.group(1).split(' ')[0]}`")
                continue
            rest = (call.group(1) + call.group(2))[len(command[0]):]
            # Arguments of a job's own program or script are none of the command's.
            own = re.split(r"\s--(?=\s|$)|\s\S+\.sh\b", rest)[0]
            flags = FLAG.findall(own)
            found |= {f"{path}: `muster {command[0]}` has no {flag}" for flag in flags
                      if not re.search(re.escape(flag) + r"(?![\w-])", command[1])}
    return sorted(found)


def problems_in(root, paths, muster):
    known = Help(muster)
    return [problem for path in paths
            for problem in problems_of(path, sources.read(root, path), known)]
