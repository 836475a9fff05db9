"""Line plots as SVG, for the scripts beside this file."""

COLOURS = ("#444444", "#c0392b", "#2471a3", "#1e8449", "#b7950b", "#7d3c98", "#d35400")
WIDTH, HEIGHT, LEFT, TOP, PLOT_W, PLOT_H = 640, 330, 60, 20, 340, 250


def across(share):
    return LEFT + PLOT_W * share


def up(share):
    return TOP + PLOT_H * (1 - share)


def svg(title, axes, lines):
    """`axes`: the vertical and the horizontal axis's labels, as (share of the axis, text) from its
    beginning on, and the latter's title. `lines`: (name, points as shares of both axes, whether the
    points are marked)."""
    left_labels, bottom_labels, bottom_title = axes
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="14">{title}</text>']
    for share, label in left_labels:
        y = up(share)
        text.append(f'<line x1="{LEFT}" x2="{LEFT + PLOT_W}" y1="{y:.1f}" y2="{y:.1f}" '
                    'stroke="#dddddd"/>')
        text.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for share, label in bottom_labels:
        text.append(f'<text x="{across(share):.1f}" y="{TOP + PLOT_H + 18}" '
                    f'text-anchor="middle">{label}</text>')
    text.append(f'<text x="{LEFT + PLOT_W / 2}" y="{TOP + PLOT_H + 40}" '
                f'text-anchor="middle">{bottom_title}</text>')
    for number, (name, points, marked) in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        places = [(across(x), up(y)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        text.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if marked:
            text += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
                     for x, y in places]
        y = TOP + 10 + 18 * number
        text.append(f'<rect x="{LEFT + PLOT_W + 20}" y="{y - 8}" width="10" height="10" '
                    f'fill="{colour}"/>')
        text.append(f'<text x="{LEFT + PLOT_W + 36}" y="{y + 1}">{name}</text>')
    return "\n".join(text) + "\n</svg>\n"
