"""Finds the functions and the namespace-scope declarations of a C++ file by matching braces.

A heuristic, not a parser: it reads code in the project's layout (clang-format), sees through
comments, literals and macros at namespace scope, and counts a lambda as part of its function."""

import re
from dataclasses import dataclass

import sources


@dataclass
class Function:
    name: str
    line: int  # of the first line of its declaration
    length: int  # lines from there to the closing brace
    owner: str = ""  # the namespaces and types that it stands in, joined by ::


@dataclass
class Type:
    """A class, struct or union, with what its body declares. Overloads count once."""
    name: str  # with the namespaces and types that it stands in, joined by ::
    line: int
    length: int  # lines of its declaration, to the closing brace
    methods: set
    members: set


@dataclass
class Declaration:
    """A type or a free function, declared or defined in a namespace."""
    kind: str  # "type" or "function"
    name: str
    line: int


@dataclass
class _Scope:
    kind: str  # namespace, type, hidden (unnamed or detail namespace), other
    end: int
    name: str = ""
    type: Type = None


_TYPE = re.compile(r"(?:\w+\s+)*?\b(class|struct|union|enum(?:\s+(?:class|struct))?)\b"
                   r"(?:\s*alignas\(\)|\s*\[\[[^\]]*\]\])*\s*([\w:]*)")
_NAMESPACE = re.compile(r'(?:inline\s+)?namespace\b\s*([\w:]*)|extern\s*$')
_PROTOTYPE = re.compile(r"[\w>&*@\s]\s+[&*]*(operator|[\w:]+)[^=]*\(\)\s*(?:noexcept)?$")
# Its value goes behind it, in braces or after an equals sign.
_MEMBER = re.compile(r"^[^()]*[\w>&*\]]\s*[\s&*](\w+)(?:\[[^\]]*\])*\s*"
                     r"(?:\{.*\}|=(?!\s*(?:0|default|delete)$).*|=\s*0)?$", re.DOTALL)
_ACCESS = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)\s*)*")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
# A macro call that fills its lines and opens no body, such as those that register messages.
_MACRO_LINE = re.compile(
    r"^[ \t]*[A-Z][A-Z0-9_]{3,}\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[ \t]*$(?!\s*[{;])",
    re.MULTILINE)


def _without_macros(code):
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return _MACRO_LINE.sub(spaces, _DIRECTIVE.sub(spaces, code))


def _matching(code, start):
    """Position of the bracket that closes the one at `start`; the end of the text without one."""
    pairs = {"{": "}", "(": ")"}
    opening, closing, depth = code[start], pairs[code[start]], 0
    for match in re.finditer(r"[{}]" if opening == "{" else r"[()]", code[start:]):
        depth += 1 if match.group(0) == opening else -1
        if depth == 0:
            return start + match.start()
    return len(code) - 1


def _flat(head):
    """The head of a declaration with its parentheses emptied and template parameters dropped."""
    before, head = None, _ACCESS.sub("", head, count=1)
    while before != head:
        before = head
        # Parentheses that hold empty ones, as of a function that takes std::function<void()>.
        head = re.sub(r"\((?:[^()]|\(\))+\)", "()", head)
    head = re.sub(r"->|<=>|<<=?|>=|<=|operator\s*[<>]+", "@", head)
    match = re.match(r"\s*(?:template\s*)<", head)
    while match:
        depth, end = 0, match.end() - 1
        for end in range(match.end() - 1, len(head)):
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            if depth == 0:
                break
        head = head[end + 1:]
        match = re.match(r"\s*(?:template\s*)<", head)
    return re.sub(r"^\s*\[\[[^\]]*\]\]", "", head)


def _in_initialisers(flat):
    """The head is that of a constructor, up to a member that is initialised with braces."""
    rest = flat.replace("::", "@@")
    return bool(re.search(r"\(\)[^:=]*:", rest)) and bool(re.search(r"[\w>]\s*$", rest))


def _without_arguments(flat):
    """The head without template arguments, which have parentheses of their own."""
    before = None
    while before != flat:
        before, flat = flat, re.sub(r"<[^<>]*>", "", flat)
    return flat


def _function_name(flat):
    match = re.search(r"(operator\s*(?:\(\)|[^\s(]+)|[~\w:]+)\s*\(\)", _without_arguments(flat))
    return match.group(1) if match else "?"


class _Walk:
    def __init__(self, text):
        self.code = _without_macros(sources.blank(text))
        self.functions = []
        self.declarations = []
        self.types = []
        self.scopes = []
        self.head_start = 0

    def run(self):
        position = 0
        stop = re.compile(r"[{};(]")
        while match := stop.search(self.code, position):
            at = match.start()
            position = self._step(match.group(0), at)
        return self

    def _step(self, symbol, at):
        if symbol == "(":
            return _matching(self.code, at) + 1
        if symbol == ";":
            self._declared(at)
        elif symbol == "}":
            if self.scopes:
                self.scopes.pop()
        else:
            return self._open(at)
        self.head_start = at + 1
        return at + 1

    def _open(self, at):
        head = self.code[self.head_start:at]
        flat = _flat(head).strip()
        close = _matching(self.code, at)
        namespace, type_head = _NAMESPACE.match(flat), _TYPE.match(flat)
        if namespace:
            hidden = namespace.group(1) in ("", "detail", "internal") and "extern" not in flat
            name = namespace.group(1) or "(unnamed)"
            self.scopes.append(_Scope("hidden" if hidden else "namespace", close, name))
        elif type_head and not re.search(r"\(\)\s*(?:const|noexcept)?\s*$", flat):
            self._declare("type", type_head.group(2))
            if not flat.startswith("enum"):
                self._type(type_head.group(2), close)
                self.head_start = at + 1
                return at + 1
            return self._skip(close)
        elif "()" not in flat or _in_initialisers(flat) or re.search(r"=\s*$", flat):
            return close + 1  # an initialiser: the declaration goes on after it
        else:
            self._function(flat, close)
            return self._skip(close)
        self.head_start = at + 1
        return at + 1

    def _skip(self, close):
        self.head_start = close + 1
        return close + 1

    def _first_line(self):
        head = self.code[self.head_start:]
        indent = _ACCESS.match(head).end()
        return sources.line_of(self.code, self.head_start + indent)

    def _function(self, flat, close):
        name, first = _function_name(flat), self._first_line()
        length = sources.line_of(self.code, close) - first + 1
        self.functions.append(Function(name, first, length, self._owner()))
        self._declare("function", name)
        self._add("methods", name)

    def _type(self, name, close):
        first = self._first_line()
        length = sources.line_of(self.code, close) - first + 1
        found = Type("::".join(filter(None, (self._owner(), name))), first, length, set(), set())
        self.types.append(found)
        self.scopes.append(_Scope("type", close, name, found))

    def _owner(self):
        return "::".join(scope.name for scope in self.scopes)

    def _add(self, kind, name):
        """To the type whose body is read, if one is."""
        if self.scopes and self.scopes[-1].type:
            getattr(self.scopes[-1].type, kind).add(name)

    def _declared(self, at):
        flat = _flat(self.code[self.head_start:at]).strip()
        is_function = _PROTOTYPE.search(flat)
        if is_function and not re.match(r"(using|static_assert|friend|extern|return)\b", flat):
            self._declare("function", _function_name(flat))
        if re.search(r"\b(?:using|static_assert|friend|enum|static|typedef)\b"
                     r"|^(?:class|struct|union)\s+\w+$", flat):
            return
        member = _MEMBER.search(_without_arguments(flat))
        if member and "operator" not in flat:
            self._add("members", member.group(1))
        elif "()" in flat:
            self._add("methods", _function_name(flat))

    def _declare(self, kind, name):
        if all(scope.kind == "namespace" for scope in self.scopes):
            self.declarations.append(Declaration(kind, name, self._first_line()))


def scan(text):
    """What a C++ text has: its `functions`, `types` and namespace-scope `declarations`."""
    return _Walk(text).run()
