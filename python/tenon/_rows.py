"""Runs a model on rows in pieces of few different sizes, and finds rows that make a run fail."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from tenon._errors import InvalidArgumentError

Array = np.ndarray[Any, Any]
Arrays = Dict[str, Array]
_MOST_ROWS = 1024  # Tenon itself runs large batches a few rows at a time


class Pieces:
    """The sizes of runs. A plan is compiled for each size, so batches of all sizes are cut and padded to few.

    Batches are cut into runs of one size, `most`. What is left over is padded to a power of two, or to `most` if that
    is less.

    most: None: the rows of the first batch, at most 1024; a larger batch raises it, at least to its double
    fixed: the model runs exactly `most` rows

    >>> pieces = Pieces(None)
    >>> pieces.cut(100), pieces.cut(37), pieces.cut(250)
    ([(100, 100)], [(37, 64)], [(250, 250)])
    """

    def __init__(self, most: Optional[int], fixed: bool = False) -> None:
        if most is not None and most < 1:
            raise ValueError(f"rows must be at least 1, not {most}")
        self._most = most or 0
        self._fixed = fixed
        self._grows = most is None

    def cut(self, rows: int) -> List[Tuple[int, int]]:
        """For each run, how many rows it has, and how many with padding."""
        if self._grows and rows > self._most:
            self._most = min(_MOST_ROWS, max(rows, 2 * self._most))
        whole, rest = divmod(rows, self._most)
        pieces = [(self._most, self._most)] * whole
        return [*pieces, (rest, self.padded(rest))] if rest else pieces

    def padded(self, rows: int) -> int:
        """The size of a run for so many rows."""
        return self._most if self._fixed else min(self._most, 1 << (rows - 1).bit_length())


def run_rows(run: Callable[[Mapping[str, Any]], Arrays], feed: Arrays, rows: int, pieces: Pieces,
             constants: Mapping[str, Any], stop: bool) -> Tuple[List[Array], Arrays, Dict[int, str]]:
    """Runs a model on `rows` rows.

    feed: arrays [rows, ...]; constants: inputs that all rows share; stop: the first bad row is enough

    Returns the indices of the rows with a result, in parts; the outputs [n, ...] for those; what is wrong with the
    others: rows that made their run fail with InvalidArgumentError, alone too.
    """
    parts: List[Arrays] = []
    good: List[Array] = []
    bad: Dict[int, str] = {}

    def try_rows(first: int, count: int, size: int) -> None:
        try:
            parts.append(_run_padded(run, feed, first, count, size, constants))
            good.append(np.arange(first, first + count))
        except InvalidArgumentError as error:
            if count == 1:
                bad[first] = str(error)
                return
            half = count // 2
            try_rows(first, half, pieces.padded(half))
            if not (stop and bad):
                try_rows(first + half, count - half, pieces.padded(count - half))

    first = 0
    for count, size in pieces.cut(rows):
        try_rows(first, count, size)
        first += count
        if stop and bad:
            break
    if len(parts) == 1:
        return good, parts[0], bad
    names = parts[0] if parts else {}
    return good, {name: np.concatenate([part[name] for part in parts]) for name in names}, bad


def _run_padded(run: Callable[[Mapping[str, Any]], Arrays], feed: Arrays, first: int, count: int, size: int,
                constants: Mapping[str, Any]) -> Arrays:
    """Runs rows [first, first + count), the last one repeated up to `size` rows."""
    cut = {name: values[first:first + count] for name, values in feed.items()}
    if size > count:
        cut = {name: np.concatenate([values, np.repeat(values[-1:], size - count, axis=0)])
               for name, values in cut.items()}
    results = run({**cut, **constants})
    for name, result in results.items():
        if result.shape[:1] != (size,):
            raise ValueError(f"output {name!r} has shape {list(result.shape)}: not a row for each of the {size} rows "
                             "that were given. Name the outputs that have one in outputs=")
    return {name: result[:count] for name, result in results.items()}
