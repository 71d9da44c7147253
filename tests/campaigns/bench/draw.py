"""Shows a document of ./dev bench: a table of text, and a folder of plots.

usage: draw.py DOCUMENT [--plots FOLDER]
"""
import argparse
import json
import pathlib

import flat
import plot

HEAD = (f"{'what':34} {'store':18} {'place':5} {'product':>12} {'floor':>12} {'ratio':>6} {'spread':>6}  {'unit':10} "
        f"{'cpu, us a run':>13}")
RATE = "rate"


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}"


def cost_text(row: dict) -> str:
    """Ours, and the server's behind a plus."""
    costs = row["costs"]["product"]
    if "cpu_us" not in costs:
        return ""
    server = f" + {costs['server_cpu_us']:.1f}" if "server_cpu_us" in costs else ""
    return f"{costs['cpu_us']:.1f}{server}"


def figure_line(row: dict, name: str, figure: dict) -> str:
    title = row["name"] if name == RATE else f"{row['name']}: {name.replace('_', ' ')}"
    ratio = "-" if figure["ratio"] is None else plot.ratio_text(figure["ratio"])
    spread = f"{100 * max(figure['product']['spread'], figure['floor']['spread']):.0f} %"
    cost = cost_text(row) if name == RATE else ""
    return (f"{title[:34]:34} {row['store']:18} {row['place']:5} {number(figure['product']['median']):>12} "
            f"{number(figure['floor']['median']):>12} {ratio:>6} {spread:>6}  {figure['unit']:10} {cost:>13}").rstrip()


def quarters_lines(row: dict) -> list[str]:
    """What a series had in its four quarters, and the verdict on a row that is judged."""
    held = flat.quarters_of(row, "product")
    lines = [f"{'':4}MiB of {name} by quarters: {', '.join(f'{mean:.1f}' for mean in means)}" for name, means in held.items() if any(means)]
    return lines + ([f"{'':4}judged: {flat.verdict(row)}"] if flat.is_judged(row) else [])


def row_lines(row: dict) -> list[str]:
    if "skipped" in row:
        return [f"{row['name'][:34]:34} {row['store']:18} {row['place']:5} not measured: {row['skipped']}"]
    lines = [figure_line(row, name, figure) for name, figure in row["figures"].items()]
    return lines + (quarters_lines(row) if "series" in row else [])


def groups_of(document: dict) -> dict[str, list[dict]]:
    """In the order in which they first appear."""
    groups: dict[str, list[dict]] = {}
    for row in document["rows"]:
        groups.setdefault(row["group"], []).append(row)
    return groups


def table(document: dict) -> str:
    lines = [HEAD]
    for group, rows in groups_of(document).items():
        lines += ["", group, *(line for row in rows for line in row_lines(row))]
    return "\n".join(lines)


def subtitle(document: dict) -> str:
    state = "quick, " if document["is_quick"] else ""
    return (f"{state}{document['machine']['processor']}, {document['machine']['processors']} processors; "
            f"Redis {document['product']['redis']}, SQLite {document['product']['sqlite']}; {document['product']['commit'][:12]}")


def lines_of(rows: list[dict]) -> list[plot.Line]:
    """Rows with an axis that differ in its value alone make a line."""
    found: dict[str, list[dict]] = {}
    for row in rows:
        if "axis" in row and "figures" in row:
            beside = row["name"].rpartition(", ")[0]  # what stands before the value of the axis
            found.setdefault(f"{beside} {row['store']}".strip(), []).append(row)
    return [plot.Line(f"{name}{' (floor)' if side == 'floor' else ''}", side == "floor", index,
                      [(row["axis"]["value"], row["figures"][RATE][side]["median"]) for row in line])
            for index, (name, line) in enumerate(found.items()) if len(line) > 1 for side in ("product", "floor")]


def series_of(rows: list[dict], column: int, scale: float) -> list[plot.Line]:
    return [plot.Line(f"{row['store']}{' (floor)' if side == 'floor' else ''}", side == "floor", index,
                      [(sample[0], sample[column] / scale) for sample in row["series"][side]])
            for index, row in enumerate(row for row in rows if "series" in row) for side in ("product", "floor")]


def bars_of(rows: list[dict]) -> list[plot.Bar]:
    return [plot.Bar(f"{row['name']}{'' if name == RATE else ': ' + name.replace('_', ' ')}, {row['store']}, {row['place']}", figure)
            for row in rows if "figures" in row for name, figure in row["figures"].items()]


def plots(document: dict) -> dict[str, str]:
    """Names of files, and SVG."""
    made = {}
    for group, rows in groups_of(document).items():
        name = "-".join("".join(letter if letter.isalnum() else " " for letter in group).split())
        if bars_of(rows):
            made[f"{name}.svg"] = plot.bars(group, subtitle(document), bars_of(rows))
        if lines_of(rows):
            axis = next(row["axis"]["name"] for row in rows if "axis" in row)
            made[f"{name}-lines.svg"] = plot.lines(group, subtitle(document), axis, "runs/s", lines_of(rows), is_log=True)
        for title, column, scale in (("MiB in the store", 1, 2 ** 20), ("MiB resident in producer and worker", 2, 2 ** 10),
                                     ("MiB resident in the server", 3, 2 ** 10)):
            if any("series" in row for row in rows):
                made[f"{name}-{title.split()[1]}-{title.split()[-1]}.svg"] = plot.lines(
                    f"{group}: {title}", subtitle(document), "seconds", "MiB", series_of(rows, column, scale), is_log=False)
    return made


def plots_write(document: dict, folder: pathlib.Path) -> None:
    """Those of an older document go."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.svg"):
        path.unlink()
    for name, text in plots(document).items():
        (folder / name).write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--plots", type=pathlib.Path, help="write SVG files into this folder")
    args = parser.parse_args()
    document = json.loads(args.document.read_text(encoding="utf-8"))
    print(table(document))
    if args.plots:
        plots_write(document, args.plots)


if __name__ == "__main__":
    main()
