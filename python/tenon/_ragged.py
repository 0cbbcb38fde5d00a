"""Ragged tensors: rows that differ in length."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from tenon._numpy import array_of

Array = np.ndarray[Any, Any]


def _parts(rows: Any) -> Tuple[Any, List[Array]]:
    """The innermost values, and the row splits of each level, the outermost first."""
    if hasattr(rows, "flat_values") and hasattr(rows, "nested_row_splits"):  # a tf.RaggedTensor
        return rows.flat_values, [np.asarray(splits, np.int64) for splits in rows.nested_row_splits]
    if hasattr(rows, "to_pylist"):  # Arrow
        rows = rows.to_pylist()
    splits: List[Array] = []
    level = list(rows)
    while level and all(isinstance(row, (list, tuple, np.ndarray)) and np.ndim(row[:0]) == 1 for row in level):
        splits.append(np.cumsum([0, *map(len, level)], dtype=np.int64))
        level = [value for row in level for value in row]
    if not splits:
        if level:
            raise TypeError(f"rows must be lists or arrays, but the first is {level[0]!r}")
        splits = [np.zeros(1, np.int64)]
    if any(isinstance(value, (list, tuple)) for value in level):
        raise ValueError("rows are nested to different depths")
    return level, splits


def ragged(name: str, rows: Any, dtype: Any = None) -> Dict[str, Array]:
    """The inputs for a ragged tensor, as signatures that TensorFlow exports take it: its values as `name`, the splits
    of its rows as `name_1` (of rows of rows as `name_1` and `name_2`, and so on).

    Args:
      name: the input's
      rows: lists or arrays of different lengths, lists of lists, a tf.RaggedTensor, an Arrow list array
      dtype: of the values, as NumPy takes it; by default float32, int32 or strings, by what they are

    Returns a part of a feed: `model(**tenon.ragged("ids", [[1, 2], [3]]))`.

    Raises TypeError if these are no rows, ValueError if they are nested to different depths.

    >>> tenon.ragged("ids", [[1, 2], [], [3]])
    {'ids': array([1, 2, 3], dtype=int32), 'ids_1': array([0, 2, 2, 3])}
    """
    values, splits = _parts(rows)
    array = array_of(values) if dtype is None else np.asarray(values, dtype)
    if dtype is None and isinstance(values, list) and not any(isinstance(value, np.generic) for value in values):
        array = array.astype({"int64": "int32", "float64": "float32"}.get(array.dtype.name, array.dtype))
    return {name: array, **{f"{name}_{i}": each for i, each in enumerate(splits, 1)}}


def rows(result: Mapping[str, Array], name: Optional[str] = None) -> List[Any]:
    """The rows of a ragged output, a list of arrays (of rows of rows, a list of lists).

    Args:
      result: what a run returned
      name: the output's; by default the only ragged one

    Raises KeyError if there is no such ragged output.

    >>> tenon.rows({"y/values": np.array([1, 2, 3]), "y/row_splits": np.array([0, 2, 2, 3])})
    [array([1, 2]), array([], dtype=int64), array([3])]
    """
    if name is None:
        found = sorted({key.rpartition("/")[0] for key in result if "/row_splits" in key})
        if len(found) != 1:
            raise KeyError(f"ragged outputs: {', '.join(found) or 'none'}")
        name = found[0]
    every = [result[f"{name}/row_splits"]] if f"{name}/row_splits" in result else [
        result[key] for key in sorted(key for key in result if key.startswith(f"{name}/row_splits_"))]
    if not every:
        raise KeyError(f"no ragged output {name!r}")
    level: Any = result[f"{name}/values"]
    for splits in reversed(every):
        level = [level[a:b] for a, b in zip(splits[:-1], splits[1:])]
    made: List[Any] = level
    return made
