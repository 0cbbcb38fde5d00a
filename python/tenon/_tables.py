"""Tables of reports, as text and for notebooks."""

from __future__ import annotations

import html
from typing import Sequence


def to_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Text in columns; all but the last to the right if they are numbers."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(
        cell.rjust(width) if cell[:1].isdigit() or line is lines[0] and width < 10 else cell.ljust(width)
        for cell, width in zip(line, widths)).rstrip() for line in lines)


def to_html(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """`rows` are HTML already."""
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
