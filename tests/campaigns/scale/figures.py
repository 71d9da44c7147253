"""What a call and a run cost: the one table of docs/scale.md, from which arithmetic and simulation read.

The column of the prototype is measured once; `./dev scale --refill` writes the one of the product. A "-" is not known,
and then the other column holds.
"""
import dataclasses
import pathlib
import re

PAGE = pathlib.Path(__file__).parents[3] / "docs/scale.md"
ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+|-) \| ([\d.]+|-) \| (.*) \|$", re.M)
COLUMNS = {"prototype": 0, "product": 1}


@dataclasses.dataclass(frozen=True)
class Figures:
    enqueue_call: float  # us of a server's processor, as all up to forget_run
    enqueue_run: float
    step_call: float
    step_run: float
    forget_run: float
    enqueue_bytes: float  # on the wire, both ways together, as the next
    step_bytes: float
    call_bytes: float
    waiting_bytes: float
    producer_run: float  # us of our own processor
    worker_run: float


def between(text: str, name: str) -> tuple[int, int]:
    """Where a part of the page begins and ends that a command writes."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return text.index(begin) + len(begin), text.index(end)


def rows_read(page: str) -> dict[str, tuple[str, str]]:
    begin, end = between(page, "figures")
    return {name: (first, second) for name, first, second, _ in ROW.findall(page[begin:end])}


def figure_of(cells: tuple[str, str], column: str) -> float:
    wanted, other = cells[COLUMNS[column]], cells[1 - COLUMNS[column]]
    return float(other if wanted == "-" else wanted)


def figures_read(column: str = "prototype", page: str | None = None) -> Figures:
    rows = rows_read(PAGE.read_text(encoding="utf-8") if page is None else page)
    return Figures(**{field.name: figure_of(rows[field.name], column) for field in dataclasses.fields(Figures)})


def part_replaced(page: str, name: str, text: str) -> str:
    begin, end = between(page, name)
    return page[:begin] + text + page[end:]


def product_replaced(page: str, measured: dict[str, float]) -> str:
    """The page with other values in the column of the product."""
    def row(found: re.Match) -> str:
        name, first, second, what = found.groups()
        return f"| `{name}` | {first} | {measured[name]:.2f} | {what} |" if name in measured else found.group()
    begin, end = between(page, "figures")
    return page[:begin] + ROW.sub(row, page[begin:end]) + page[end:]
