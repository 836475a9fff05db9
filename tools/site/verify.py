"""Checks a built site: every link leads somewhere, and nothing is loaded from another host."""

import html.parser
import os
import re
import urllib.parse

# Attributes by which a page loads something as soon as it is shown.
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src",
         "video": "src", "audio": "src"}
HARMLESS = ("canonical", "next", "prev")
STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?(https?:|//)")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        # The theme fetches a program from another host where a page has such a drawing.
        self.draws = 'class="mermaid' in text
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if values.get("id"):
            self.ids.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        place = values.get(LOADS.get(tag, ""))
        if place and values.get("rel") not in HARMLESS:
            self.loaded.append(place)


def is_outside(place):
    return bool(re.match(r"(?:[a-z]+:)?//", place))


def link_problem(pages, site, name, place):
    split = urllib.parse.urlsplit(place)
    if split.scheme or split.netloc:
        return None
    path = urllib.parse.unquote(split.path)
    whole = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
    if not os.path.isfile(os.path.join(site, whole)):
        return f"{name}: the link {place} leads nowhere"
    if split.fragment and whole in pages and not place.endswith("#__toc"):
        if urllib.parse.unquote(split.fragment) not in pages[whole].ids:
            return f"{name}: the link {place} leads to no heading"
    return None


def problems_of(site):
    pages, problems = {}, []
    for folder, _, names in os.walk(site):
        for file_name in names:
            whole = os.path.join(folder, file_name)
            name = os.path.relpath(whole, site)
            if file_name.endswith((".html", ".css")):
                with open(whole, encoding="utf-8") as file:
                    text = file.read()
            if file_name.endswith(".html") and file_name != "404.html":
                pages[name] = Page(text)
            elif file_name.endswith(".css") and STYLE.search(text):
                problems.append(f"{name}: a style loads from another host")
    for name, page in sorted(pages.items()):
        problems += [f"{name}: loads {place} from another host"
                     for place in page.loaded if is_outside(place)]
        if page.draws:
            problems.append(f"{name}: has a drawing for which the theme loads a program")
        links = page.links + [place for place in page.loaded if not is_outside(place)]
        found = (link_problem(pages, site, name, place) for place in links)
        problems += sorted({problem for problem in found if problem})
    return problems
