"""How C text is laid out: comments, wrapped argument lists, aligned columns."""

from __future__ import annotations

from typing import List, Sequence

import literals
from literals import CText

LINE_MAX = 100


def indent(text: str, columns: int) -> CText:
    """Moves every line after the first."""
    return CText(text.replace("\n", "\n" + " " * columns))


def comment(doc: str, columns: int = 0) -> List[CText]:
    """Documentation as one block comment, or nothing."""
    if not doc.strip():
        return []
    lines = literals.c_comment_lines(doc)
    margin = "\n" + " " * columns + " *"
    body = margin.join([lines[0]] + [" " + line if line else "" for line in lines[1:]])
    return [CText(" " * columns + "/* " + body + " */")]


def call(head: str, arguments: Sequence[str], tail: str) -> CText:
    """`head(arguments)tail`, broken before the line limit and aligned behind the parenthesis."""
    if not arguments:
        return CText(f"{head}(){tail}")
    margin = len(head) - head.rfind("\n")
    start = head + "("
    if margin + max(map(len, arguments)) + len(tail) + 1 > LINE_MAX:
        margin = len(head) - len(head.lstrip(" ")) + 4
        start += "\n" + " " * margin
    breaks = ",\n" + " " * margin
    last = len(arguments) - 1
    width, text = margin - 1, start
    for index, argument in enumerate(arguments):
        piece = len(argument) + (1 if index < last else 1 + len(tail))
        width += 1 + piece
        if index == 0:
            text += argument
        elif width <= LINE_MAX:
            text += ", " + argument
        else:
            text += breaks + argument
            width = margin + piece
    return CText(f"{text}){tail}")


def assign(left: str, right: str, margin: int = 0) -> CText:
    """`left = right`, to stand behind `margin` blanks; broken where it is too long."""
    first = right.partition("\n")[0]
    if margin + len(left) + len(" = ") + len(first) <= LINE_MAX:
        return indent(f"{left} = {right}", margin)
    return indent(f"{left} =\n{right}", margin + 4)


def table(rows: Sequence[Sequence[str]], margin: int) -> List[CText]:
    """Rows of cells behind `margin` blanks: in columns, or filled up where these are too wide."""
    shown = columns(rows)
    if all(margin + len(line) < LINE_MAX for line in shown):
        return shown
    return [fill(row, margin) for row in rows]


def fill(cells: Sequence[str], margin: int) -> CText:
    """The cells joined by commas, on as few lines as hold them."""
    lines = [cells[0]]
    for cell in cells[1:]:
        if margin + len(lines[-1]) + len(", ") + len(cell) < LINE_MAX:
            lines[-1] += ", " + cell
        else:
            lines.append(cell)
    return CText((",\n" + " " * margin).join(lines))


def columns(rows: Sequence[Sequence[str]]) -> List[CText]:
    """Each row joined by commas, its cells padded to the widest of their column."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = [f"{cell},".ljust(width + 1) for cell, width in zip(row, widths)]
        lines.append(CText(" ".join(cells).rstrip(" ").rstrip(",")))
    return lines


def margin_notes(statements: Sequence[str], notes: Sequence[str]) -> List[CText]:
    """Each statement with its note behind it, the notes in one column where that is near."""
    noted = [len(statement) for statement, note in zip(statements, notes) if note]
    width = max([length for length in noted if length <= 60] or [0])
    lines = []
    for statement, note in zip(statements, notes):
        gap = max(width - len(statement), 0) if 4 + width + 1 + len(note) <= LINE_MAX else 0
        lines.append(CText(f"{statement}{' ' * gap} {note}" if note else statement))
    return lines
