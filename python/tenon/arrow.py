"""Models on tables: Arrow tables, dicts of NumPy arrays, pandas frames. Needs pyarrow for the first.

    from tenon.arrow import Predictor
    predict = Predictor("my_model", columns={"image": "x"})
    table = predict(table)                # with a column for each output

The predictors of the engines (`tenon.ray`, `tenon.spark`) are made of this one.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from tenon._columns import Array
from tenon._images import Image
from tenon._model import Path
from tenon._predictor import Prediction, RowPredictor

__all__ = ["Image", "Predictor"]


class Predictor:
    """Runs a model on batches of a table's rows; a batch comes back with columns for the outputs.

    Args:
      model: as `tenon.load` takes it, on this machine
      columns: which column goes to which input, {"column": "input"}; by default each input takes the column of its name
      outputs: which output becomes which column, {"output": "column"}; by default all, under their names
      keep: the columns to keep beside the outputs; by default all
      images: columns of encoded images, {"column": Image()}
      constants: inputs that are the same for all rows, {"input": value}
      shapes: the shape of an input's rows, {"input": (224, 224, 3)}, where the model leaves it open; rows may then be flat lists
      rows: how many rows a run has at most; by default as many as the first batch, at most 1024
      on_error: what a bad row does: a null or a list of another length, an image that cannot be decoded, a row that
        makes the run fail. "raise": ValueError, which names column and row. "null": its outputs are null. "drop": it
        is left out
      row_id: a column whose value errors give with a row
      cast: convert values of another dtype
      threads: per op, as `tenon.load` takes it
      cache_dir: a folder of this machine, through which its processes share one copy of the weights; by default
        TENON_CACHE_DIR, or a folder in the one for temporary files
      load: other options of `tenon.load`: signature, precision, …

    Rows must not influence each other: batches are cut into runs of few different sizes, and padded by repeating a row.
    """

    def __init__(self, model: Path, *, columns: Optional[Mapping[str, str]] = None,
                 outputs: Optional[Mapping[str, str]] = None, keep: Optional[Sequence[str]] = None,
                 images: Optional[Mapping[str, Image]] = None, constants: Optional[Mapping[str, Any]] = None,
                 shapes: Optional[Mapping[str, Sequence[int]]] = None, rows: Optional[int] = None,
                 on_error: str = "raise", row_id: Optional[str] = None, cast: bool = False, threads: int = 0,
                 cache_dir: Optional[Path] = None, **load: Any) -> None:
        self.rows = RowPredictor(model, columns=columns, outputs=outputs, images=images, constants=constants, rows=rows,
                                 shapes=shapes, on_error=on_error, cast=cast, cache_dir=cache_dir,
                                 options={**load, "threads": threads})
        self._keep = None if keep is None else list(keep)
        self._row_id = row_id

    def __call__(self, batch: Any) -> Any:
        """The batch with a column for each output. It is a pyarrow.Table or RecordBatch, a pandas.DataFrame or a dict
        of NumPy arrays, and so is the result.

        In Arrow, outputs [n] are plain columns, [n, k] fixed-size lists, others fixed-shape tensors; in pandas,
        objects that are arrays.
        """
        if isinstance(batch, Mapping):
            return self._on_arrays(batch)
        if type(batch).__module__.partition(".")[0] == "pandas":
            return self._on_frame(batch)
        if hasattr(batch, "column_names") and hasattr(batch, "num_rows"):
            return self._on_table(batch)
        raise TypeError(f"a batch is a pyarrow.Table, a pandas.DataFrame or a dict of NumPy arrays, not a {type(batch).__name__!r}")

    def _predict(self, values: Mapping[str, Any], rows: int) -> Prediction:
        ids = None if self._row_id is None else values[self._row_id]

        def name_of_row(row: int) -> str:
            if ids is None:
                return f"row {row} of the batch"
            found = ids.iloc[row] if hasattr(ids, "iloc") else ids[row]
            return f"row {row} of the batch ({self._row_id} {found})"

        return self.rows.predict(values, rows, name_of_row)

    def _kept(self, names: Sequence[str]) -> List[str]:
        kept = list(names) if self._keep is None else self._keep
        for name in kept:
            if name not in names:
                raise ValueError(f"keep names the column {name!r}, which is not there")
            if name in self.rows.outputs:
                raise ValueError(f"output and column are both named {name!r}: rename it, outputs={{{name!r}: \"…\"}}")
        return kept

    def _split(self, found: Prediction) -> Tuple[Optional[Array], bool]:
        """The rows to keep (None: all), and whether outputs have nulls for the others."""
        nulls = found.good is not None and self.rows.on_error == "null"
        return (None if nulls else found.good), nulls

    def _on_arrays(self, batch: Mapping[str, Any]) -> Dict[str, Any]:
        arrays = {name: np.asanyarray(values) for name, values in batch.items()}
        rows = len(next(iter(arrays.values()))) if arrays else 0
        kept = self._kept(list(arrays))
        found = self._predict(arrays, rows)
        left, nulls = self._split(found)
        if nulls:
            raise ValueError(f'{next(iter(found.bad.values()))}; on_error="null" needs Arrow or pandas batches '
                             '(batch_format="pyarrow"): NumPy arrays have no nulls')
        result: Dict[str, Any] = {name: arrays[name] if left is None else arrays[name][left] for name in kept}
        return {**result, **found.outputs}

    def _on_frame(self, batch: Any) -> Any:
        found = self._predict(batch, len(batch))
        result = batch[self._kept(list(batch.columns))]
        left, nulls = self._split(found)
        result = result.copy() if left is None else result.iloc[left].copy()
        for name, values in found.outputs.items():
            if values.ndim == 1 and not nulls:
                result[name] = values
                continue
            cells = np.empty(len(result), object)
            for place, value in zip(range(len(result)) if found.good is None or not nulls else found.good, values):
                cells[place] = value
            result[name] = cells
        return result

    def _on_table(self, batch: Any) -> Any:
        from tenon import _arrow_columns  # pyarrow is optional

        names = batch.column_names
        found = self._predict({name: batch.column(name) for name in names}, batch.num_rows)
        result = batch.select(self._kept(names))
        left, nulls = self._split(found)
        if left is not None:
            result = result.take(_arrow_columns.pa.array(left))
        columns = [result.column(name) for name in result.column_names]
        for name, values in found.outputs.items():
            column = _arrow_columns.array_of(values, name)
            if nulls and found.good is not None:
                column = _arrow_columns.spread(column, found.good, batch.num_rows)
            columns.append(column)
        return type(batch).from_arrays(columns, [*result.column_names, *found.outputs])
