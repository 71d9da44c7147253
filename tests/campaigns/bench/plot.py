"""SVG of bars and of lines, by text alone."""
import dataclasses
import math
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, BAR, GAP = 960, 330, 170, 72, 16, 8
HEIGHT = 460
INKS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b9770e", "#34495e")
PALE, GREY, DARK = "#d5dde5", "#8a8a8a", "#222222"
STYLE = 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif"'


@dataclasses.dataclass
class Bar:
    title: str
    figure: dict  # of the document


@dataclasses.dataclass
class Line:
    title: str
    is_floor: bool
    ink: int
    points: list[tuple[float, float]]


def text(x: float, y: float, words: str, size: int = 12, ink: str = DARK, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{ink}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, ink: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" fill="{ink}"/>'


def rule(x1: float, y1: float, x2: float, y2: float, ink: str = PALE) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{ink}"/>'


def page(height: float, title: str, subtitle: str, parts: list[str]) -> str:
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}" {STYLE}>',
            box(0, 0, WIDTH, height, "#ffffff"), text(16, 26, title, 17), text(16, 46, subtitle, 11, GREY)]
    return "\n".join([*head, *parts, "</svg>", ""])


def short(value: float) -> str:
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


# --- bars --------------------------------------------------------------------------------------

def value_text(value: float) -> str:
    return short(value) if abs(value) >= 1e5 else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio_text(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.3f}"


def bar_note(figure: dict) -> str:
    ratio = "" if figure["ratio"] is None else f", {ratio_text(figure['ratio'])} of the floor"
    return f"{value_text(figure['product']['median'])} {figure['unit']}{ratio}"


def bar_parts(bar: Bar, most: float, y: float) -> list[str]:
    """The floor is a pale bar, the product a narrower one in front of it, its spread a line."""
    room = WIDTH - LEFT - RIGHT - 30
    product, floor = bar.figure["product"], bar.figure["floor"]

    def at(value: float) -> float:
        return LEFT + room * max(value, 0) / most

    middle = y + BAR / 2
    return [text(LEFT - 8, y + BAR - 4, bar.title, 11, anchor="end"),
            box(LEFT, y, at(floor["median"]) - LEFT, BAR, PALE), box(LEFT, y + 4, at(product["median"]) - LEFT, BAR - 8, INKS[0]),
            rule(at(min(product["values"])), middle, at(max(product["values"])), middle, DARK),
            text(max(at(product["values"][0]), at(max(product["values"])), at(floor["median"])) + 6, y + BAR - 4, bar_note(bar.figure), 11)]


def bars(title: str, subtitle: str, all_bars: list[Bar]) -> str:
    """Bars of one unit share a scale."""
    parts, y = [], TOP
    for unit in dict.fromkeys(bar.figure["unit"] for bar in all_bars):
        same = [bar for bar in all_bars if bar.figure["unit"] == unit]
        most = max(max(bar.figure[side]["values"]) for bar in same for side in ("product", "floor"))
        better = same[0].figure["better"]
        parts.append(text(LEFT, y + 10, f"{unit}, {better} is better", 11, GREY))
        y += 18
        for bar in same:
            parts += bar_parts(bar, max(most, 1e-9), y)
            y += BAR + GAP
        y += GAP
    parts += [box(16, y, 24, BAR, PALE), text(46, y + 12, "floor", 11), box(96, y + 4, 24, BAR - 8, INKS[0]),
              text(126, y + 12, "product (the thin line: its smallest to its greatest value)", 11)]
    return page(y + BAR + 16, title, subtitle, parts)


# --- lines -------------------------------------------------------------------------------------

def steps_log(least: float, most: float) -> list[float]:
    return [10.0 ** power for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]


def steps_plain(most: float) -> list[float]:
    step = 10 ** math.floor(math.log10(most)) if most > 0 else 1
    step = next(step * part for part in (0.1, 0.2, 0.5, 1, 2) if most / (step * part) <= 8)
    return [step * number for number in range(int(most / step) + 2)]


class Scale:
    """Where a value stands between two ends of a page."""

    def __init__(self, values: list[float], first: float, last: float, is_log: bool) -> None:
        self.is_log = is_log and min(values) > 0
        self.steps = steps_log(min(values), max(values)) if self.is_log else steps_plain(max(values))
        if len(self.steps) == 1:
            self.steps.append(self.steps[0] * 10)
        self.first, self.last = first, last

    def part(self, value: float) -> float:
        if self.is_log:
            low, high = math.log10(self.steps[0]), math.log10(self.steps[-1])
            return (math.log10(value) - low) / (high - low)
        return value / self.steps[-1]

    def at(self, value: float) -> float:
        return self.first + (self.last - self.first) * self.part(value)


def line_parts(line: Line, x: Scale, y: Scale) -> list[str]:
    ink, dash = INKS[line.ink % len(INKS)], ' stroke-dasharray="5 4"' if line.is_floor else ""
    places = [(x.at(across), y.at(up)) for across, up in line.points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
    dots = [f'<circle cx="{across:.1f}" cy="{up:.1f}" r="2.5" fill="{ink}"/>' for across, up in places] if len(places) < 20 else []
    return [f'<polyline points="{path}" fill="none" stroke="{ink}" stroke-width="1.6"{dash}/>', *dots]


def legend_parts(all_lines: list[Line], x: float) -> list[str]:
    parts = []
    for number, line in enumerate(all_lines):
        y = TOP + 10 + 18 * number
        dash = ' stroke-dasharray="5 4"' if line.is_floor else ""
        ink = INKS[line.ink % len(INKS)]
        parts += [f'<line x1="{x}" y1="{y - 4}" x2="{x + 26}" y2="{y - 4}" stroke="{ink}" stroke-width="1.6"{dash}/>',
                  text(x + 32, y, line.title, 11)]
    return parts


def lines(title: str, subtitle: str, across: str, up: str, all_lines: list[Line], is_log: bool) -> str:
    left, right, bottom = 80, WIDTH - 240, HEIGHT - 50
    x = Scale([point[0] for line in all_lines for point in line.points], left, right, is_log)
    y = Scale([point[1] for line in all_lines for point in line.points], bottom, TOP, is_log)
    parts = []
    for step in y.steps:
        parts += [rule(left, y.at(step), right, y.at(step)), text(left - 8, y.at(step) + 4, short(step), 11, GREY, "end")]
    for step in sorted({point[0] for line in all_lines for point in line.points}) if x.is_log else x.steps:
        parts += [rule(x.at(step), TOP, x.at(step), bottom), text(x.at(step), bottom + 18, short(step), 11, GREY, "middle")]
    parts += [text((left + right) / 2, HEIGHT - 12, across, 12, anchor="middle"), text(left, TOP - 4, up, 11, GREY)]
    parts += [part for line in all_lines for part in line_parts(line, x, y)]
    return page(HEIGHT, title, subtitle, parts + legend_parts(all_lines, right + 16))
