"""The shape of the page on four screens, in both themes, and whether everybody can use it."""

import os
import subprocess

from fixture import SOURCE
from page_cluster import FAILED
from page_fixture import PageTest

SIZES = [(1280, 900), (800, 1000), (480, 900), (360, 740)]
THEMES = ("light", "dark")

# The texts that leave their card to the side, or stand on another text of their card.
OUTSIDE = """
const cards = document.querySelectorAll("main > section, #tiles > div, tbody tr, #log");
const faults = [];
for (const card of cards) {
  if (!card.checkVisibility()) continue;
  const box = card.getBoundingClientRect();
  for (const node of card.querySelectorAll("dd, dt, td, button, input, select, h2, h3, p, span")) {
    if (!node.checkVisibility() || node.closest(".unseen")) continue;
    const scroller = node.closest(".scroll");
    if (scroller && !card.closest(".scroll")) continue;  // SIDEWAYS is about what is in it
    const place = node.getBoundingClientRect();
    if (place.width === 0) continue;
    const over = node.scrollWidth > node.clientWidth + 1
      && getComputedStyle(node).display !== "inline";
    if (place.left < box.left - 1 || place.right > box.right + 1 || over) {
      faults.push(`${card.id || card.tagName}: ${node.tagName} ${node.textContent.slice(0, 40)}`);
    }
  }
}
return faults;"""

# The scrollers that have to be scrolled to the side.
SIDEWAYS = """
return [...document.querySelectorAll(".scroll")]
  .filter(node => node.checkVisibility() && node.scrollWidth > node.clientWidth + 1)
  .map(node => node.getAttribute("aria-label") ?? node.parentNode.id);"""

# Texts whose colour does not differ enough from what they stand on: 4.5 to 1.
FAINT = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const over = (colours) => {
  canvas.clearRect(0, 0, 1, 1);
  for (const colour of colours) {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
  }
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = (rgb) => {
  const [r, g, b] = rgb.map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const faults = [];
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
  if (!own || !node.checkVisibility() || node.disabled) continue;
  const below = [];
  for (let each = node; each; each = each.parentElement) {
    below.unshift(getComputedStyle(each).backgroundColor);
  }
  const ground = over(["white", ...below]);
  const ink = over([`rgb(${ground})`, getComputedStyle(node).color]);
  const [a, b] = [light(ground), light(ink)].sort((x, y) => y - x);
  const contrast = (a + 0.05) / (b + 0.05);
  if (contrast < 4.5) faults.push(`${contrast.toFixed(2)}: ${node.textContent.slice(0, 40)}`);
}
return faults;"""

# Landmarks of one kind and name, controls without a name, names that stand twice.
UNNAMED = """
const name = (node) => node.getAttribute("aria-label")
  ?? (node.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean)
    .map(id => document.getElementById(id).textContent).join(" ")
  .concat(node.labels?.[0]?.textContent ?? "", node.matches("button, a, summary")
    ? node.textContent : "");
const seen = (nodes) => [...nodes].filter(node => node.checkVisibility());
const landmarks = seen(document.querySelectorAll("section, nav, main, header, [role=region]"))
  .map(node => `${node.tagName} ${name(node)}`);
const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
return [
  ...landmarks.filter((each, i) => landmarks.indexOf(each) !== i).map(each => "twice: " + each),
  ...ids.filter((each, i) => ids.indexOf(each) !== i).map(each => "id twice: " + each),
  ...seen(document.querySelectorAll("button, a, input, select, meter, canvas, [tabindex='0'], "
      + "progress:not([aria-hidden])"))
    .filter(node => name(node).trim() === "")
    .map(node => "no name: " + node.outerHTML.slice(0, 80)),
];"""

# What can be reached by the keyboard, in its order; text for text.
CONTROLS = """
return [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")]
  .filter(node => node.checkVisibility() && !node.disabled && !node.closest("[hidden]")).length;"""


def axe_core():
    """The script of axe-core, where npm has put it; None: nowhere."""
    places = [os.environ.get("MUSTER_AXE"),
              os.path.join(SOURCE, "node_modules/axe-core/axe.min.js")]
    try:
        root = subprocess.run(["npm", "root", "--global"], capture_output=True, text=True,
                              check=True, timeout=30).stdout.strip()
        places.append(os.path.join(root, "axe-core/axe.min.js"))
    except (OSError, subprocess.SubprocessError):
        pass  # no npm, no axe
    found = [place for place in places if place and os.path.isfile(place)]
    if not found:
        return None
    with open(found[0], encoding="utf-8") as file:
        return file.read()


class ShapeTest(PageTest):

    def everything(self, kind="job", number=FAILED):
        """The page with a job and its output, or an instance, and all lists filled."""
        self.open(kind, number)
        self.wait(lambda: self.texts("#machines tr"), "machines")
        if kind == "job":
            self.wait(lambda: self.text("#log-text"), "its output")
        for part in ("#jobs td", "#instances td", "#decisions td", "#users td"):
            self.wait(lambda part=part: self.text(part), part)
        self.js("document.getElementById('job-state').value = 'all';"
                "document.getElementById('job-state').dispatchEvent(new Event('change'));")
        self.wait(lambda: len(self.texts("#jobs tr")) > 10, "all jobs")

    def each_look(self):
        for width, height in SIZES:
            self.page.size(width, height)
            for theme in THEMES:
                self.theme(theme)
                yield f"{width} px, {theme}", width

    def test_has_nothing_beside_its_card_and_nothing_to_scroll_to_the_side(self):
        for kind, number in (("job", FAILED), ("instance", 3)):
            self.everything(kind, number)
            for look, width in self.each_look():
                with self.subTest(look=look, kind=kind):
                    # Plots take their new width a moment after the screen has.
                    self.wait(lambda width=width: self.js(
                        "return document.documentElement.scrollWidth") <= width, "its width")
                    self.assertEqual(self.js(OUTSIDE), [])
                    self.assertEqual(self.js(SIDEWAYS), [])

    def test_can_be_read_and_named_everywhere(self):
        for kind, number in (("job", FAILED), ("instance", 3)):
            self.everything(kind, number)
            for look, _ in self.each_look():
                with self.subTest(look=look, kind=kind):
                    self.assertEqual(self.js(FAINT), [])
                    self.assertEqual(self.js(UNNAMED), [])

    def test_shows_costs_users_and_buttons_on_a_phone(self):
        self.page.size(360, 740)
        self.everything()
        for part in ("#jobs td:nth-child(4)", "#jobs td:nth-child(8)", "#instances td button",
                     "#decisions td:nth-child(4)", "th[data-sort=cost] button"):
            self.js("document.querySelector(arguments[0]).scrollIntoView();", part)
            place = self.js("const box = document.querySelector(arguments[0])"
                            ".getBoundingClientRect(); return [box.left, box.right];", part)
            self.assertTrue(0 <= place[0] < place[1] <= 360, (part, place))
        width = self.js("return document.querySelector('#decisions td:nth-child(4)')"
                        ".getBoundingClientRect().width")
        self.assertGreater(width, 250)

    def test_breaks_names_behind_their_marks(self):
        self.page.size(360, 740)
        self.open("job", FAILED)
        broken = self.js("""
            const lines = [];
            for (const node of document.querySelector("#job-title bdi").childNodes) {
              if (node.nodeType !== 3) continue;
              const range = document.createRange();
              range.selectNodeContents(node);
              lines.push(range.getClientRects().length);
            }
            return lines;""")
        self.assertGreater(len(broken), 5)
        self.assertEqual(set(broken), {1}, "pieces in one line")

    def test_is_used_by_keyboard_with_the_focus_in_sight(self):
        self.page.size(1280, 900)
        self.everything()
        wanted = self.js(CONTROLS)
        self.js("document.activeElement.blur(); scrollTo(0, 0); window.stops = new Set();")
        seen = 0
        for _ in range(wanted + 20):
            self.page.press("\ue004")
            stop = self.js("""
                const node = document.activeElement;
                if (node === document.body || window.stops.has(node)) return null;
                window.stops.add(node);
                const style = getComputedStyle(node);
                const box = node.getBoundingClientRect();
                return { ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
                         sight: box.bottom > 0 && box.top < innerHeight,
                         what: node.outerHTML.slice(0, 100) };""")
            if stop is None:
                continue
            seen += 1
            self.assertTrue(stop["ring"] and stop["sight"], stop)
        self.assertGreaterEqual(seen, wanted - 2)

    def test_has_no_fault_by_axe(self):
        script = axe_core()
        if script is None:
            self.skipTest("SKIPPED: no axe-core: npm install --global axe-core, or MUSTER_AXE")
        for kind, number in (("job", FAILED), ("instance", 3)):
            self.everything(kind, number)
            self.js(script)
            for look, _ in self.each_look():
                with self.subTest(look=look, kind=kind):
                    self.js("window.found = null; axe.run().then(all => window.found ="
                            " all.violations.map(each => each.id + ': ' + each.nodes"
                            ".map(node => node.target).join(' ')));")
                    self.assertEqual(self.wait(lambda: self.js("return window.found && "
                                                               "[window.found]"), "axe"), [[]])
