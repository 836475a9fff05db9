#!/usr/bin/env python3
"""Makes the pictures of the page that the documents show, docs/pictures/page*.png.

Usage: tests/e2e/page_pictures.py [FOLDER]

The page shows a made-up cluster (page_cluster.py), so that a picture changes with the page alone.
It needs chromium and chromedriver. A picture keeps its 255 most frequent colours. Look at each
before you keep it."""

import base64
import os
import struct
import sys
import zlib

sys.dont_write_bytecode = True
import browser
import page_cluster

HEIGHTS = {1280: 1080, 360: 1000}
MOST_BYTES = 150_000
CHART_READY = "return Chart.getChart('work')?.data.datasets[0].data.length > 90;"


def show(page, url, width, theme):
    page.size(width, HEIGHTS[width])
    page.command("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": theme}]})
    page.open("about:blank")
    page.open(url)
    page.wait_for(lambda: page.text("#link") == "live", "that it is live")
    page.wait_for(lambda: page.run(CHART_READY), "two hours of the past")


# The picture's size, its most frequent colours, and for each of its points the place of the nearest
# of these.
FEW_COLOURS = """
const picture = new Image();
picture.src = "data:image/png;base64," + arguments[0];
return picture.decode().then(() => {
  const { width, height } = picture;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(picture, 0, 0);
  const points = new Uint32Array(canvas.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const point of points) counts.set(point, (counts.get(point) ?? 0) + 1);
  const parts = (point) => [point & 255, point >> 8 & 255, point >> 16 & 255];
  const colours = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 255)
    .map(([point]) => parts(point));
  const nearest = new Map();
  const place = (point) => {
    if (!nearest.has(point)) {
      const own = parts(point);
      const far = colours.map(each => each.reduce((sum, part, i) => sum + (part - own[i]) ** 2, 0));
      nearest.set(point, far.indexOf(Math.min(...far)));
    }
    return nearest.get(point);
  };
  let text = "";
  for (const point of points) text += String.fromCharCode(place(point));
  return { width, height, colours, points: btoa(text) };
});"""


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, colours, points):
    """A PNG file with a palette."""
    rows = b"".join(b"\0" + points[row * width:(row + 1) * width] for row in range(height))
    return b"\x89PNG\r\n\x1a\n" + b"".join([
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        chunk(b"PLTE", bytes(part for colour in colours for part in colour)),
        chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b"")])


def take(page, file):
    taken = page.command("Page.captureScreenshot", {"format": "png"})["data"]
    few = page.run(FEW_COLOURS, taken)
    content = png(few["width"], few["height"], few["colours"], base64.b64decode(few["points"]))
    print(f"{file}: {len(content)} bytes")
    if len(content) > MOST_BYTES:
        sys.exit(f"{file}: more than {MOST_BYTES} bytes")
    with open(file, "wb") as out:
        out.write(content)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    shipped = os.path.join(here, "../../docs/pictures")
    folder = os.path.normpath(sys.argv[1] if len(sys.argv) > 1 else shipped)
    os.makedirs(folder, exist_ok=True)
    cluster = page_cluster.PageCluster()
    page = browser.Browser()
    try:
        for width in HEIGHTS:
            for theme in ("light", "dark"):
                name = os.path.join(folder, f"page-{width}-{theme}")
                show(page, f"{cluster.url}/#token=a-token-for-pictures", width, theme)
                take(page, f"{name}.png")
                page.run(f"location.hash = '#/job/{page_cluster.FAILED}';")
                page.wait_for(lambda: page.text("#attempts td") and page.text("#log-text"),
                              "a task and its output")
                page.run("document.activeElement.blur();"
                         "document.getElementById('job').scrollIntoView();")
                take(page, f"{name}-job.png")
    finally:
        page.close()
        cluster.close()


if __name__ == "__main__":
    main()
