"""Draws a sequence diagram in Mermaid's words as SVG: participants, messages and notes."""

import html
import re

COLUMN, ROW, TOP, LETTER = 180, 30, 46, 6.3
MESSAGE = re.compile(r"(\w+)(-->>|->>)(\w+): (.*)")
NOTE = re.compile(r"Note over (\w+): (.*)")
PARTICIPANT = re.compile(r"participant (\w+) as (.*)")
HEAD = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" '
        'font-family="sans-serif" font-size="11.5">'
        '<rect width="100%" height="100%" fill="white"/>'
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#333"/></marker></defs>')


def text_at(x, y, text, anchor="middle"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" stroke="white" '
            f'stroke-width="3" paint-order="stroke">{html.escape(text)}</text>')


def message(columns, y, match):
    start, arrow, end, text = match.groups()
    begin, to = columns[start], columns[end]
    dash = ' stroke-dasharray="5 3"' if arrow == "-->>" else ""
    line = (f'<line x1="{begin}" y1="{y}" x2="{to}" y2="{y}" stroke="#333"{dash} '
            'marker-end="url(#a)"/>')
    return line + text_at((begin + to) / 2, y - 5, text)


def note(x, y, text, width):
    wide = min(max(60, len(text) * LETTER + 14), width - 4)
    left = min(max(2, x - wide / 2), width - wide - 2)
    return (f'<rect x="{left:.0f}" y="{y - 17}" width="{wide:.0f}" height="21" fill="#fff7cc" '
            f'stroke="#ccb84a"/>' + text_at(left + wide / 2, y - 2, text))


def drawing(text):
    """The drawing; a line that it does not understand is an error that names the line."""
    lines = [line.strip() for line in text.strip().split("\n")]
    names = [match.groups() for match in map(PARTICIPANT.fullmatch, lines) if match]
    columns = {key: COLUMN // 2 + COLUMN * at for at, (key, _) in enumerate(names)}
    width, y, body = COLUMN * len(names), TOP, []
    for line in lines:
        if line == "sequenceDiagram" or PARTICIPANT.fullmatch(line):
            continue
        y += ROW
        if found := MESSAGE.fullmatch(line):
            body.append(message(columns, y, found))
        elif found := NOTE.fullmatch(line):
            body.append(note(columns[found.group(1)], y, found.group(2), width))
        else:
            raise ValueError(f"not understood in a sequence diagram: {line}")
    lifelines = [f'<line x1="{columns[key]}" y1="{TOP - 12}" x2="{columns[key]}" y2="{y + 14}" '
                 f'stroke="#bbb"/><rect x="{columns[key] - 75}" y="8" width="150" height="26" '
                 f'fill="#e8eaf6" stroke="#9fa8da"/>' + text_at(columns[key], 25, name)
                 for key, name in names]
    return HEAD.format(width, y + 24) + "".join(lifelines + body) + "</svg>\n"
