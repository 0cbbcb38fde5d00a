"""What the predictors of all engines share: named columns in, arrays of outputs and bad rows out."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from tenon._columns import Array, Column, ColumnError, RowType, column_of
from tenon._images import Image
from tenon._model import Path
from tenon._rows import Pieces, run_rows
from tenon._shared import SharedModel
from tenon._spec import TensorSpec

POLICIES = ("raise", "null", "drop")


@dataclasses.dataclass
class Prediction:
    """Results for the rows of a batch.

    Attributes:
      good: the indices of the rows with a result; None: all rows
      outputs: arrays [len(good), ...] by column
      bad: what is wrong with the other rows
    """

    good: Optional[Array]
    outputs: Dict[str, Array]
    bad: Dict[int, str]


class RowPredictor:
    """Runs a model on columns, one value a row.

    Args: see `tenon.arrow.Predictor`, which documents them.
    """

    def __init__(self, model: Path, *, columns: Optional[Mapping[str, str]], outputs: Optional[Mapping[str, str]],
                 images: Optional[Mapping[str, Image]], constants: Optional[Mapping[str, Any]], rows: Optional[int],
                 shapes: Optional[Mapping[str, Sequence[int]]], on_error: str, cast: bool, cache_dir: Optional[Path],
                 options: Mapping[str, Any]) -> None:
        if on_error not in POLICIES:
            raise ValueError(f"on_error must be one of {', '.join(POLICIES)}, not {on_error!r}")
        self.on_error = on_error
        self._constants = dict(constants or {})
        self._cast = cast
        self._shared = SharedModel(model, cache_dir, options)
        specs = {spec.name: spec for spec in self._shared.model.inputs}
        gives = {spec.name: spec for spec in self._shared.model.outputs}
        self.columns = dict(columns) if columns is not None else {
            name: name for name, spec in specs.items() if name not in self._constants and not spec.optional}
        self._check_names(specs, gives, outputs)
        self.inputs = {column: specs[name] for column, name in self.columns.items()}
        shapes = dict(shapes or {})
        for name in shapes.keys() - set(self.columns.values()):
            raise ValueError(f"shapes names {name!r}, which no column feeds; these are fed: {', '.join(self.columns.values())}")
        self._row_types = {column: RowType.of(spec, cast, shapes.get(spec.name)) for column, spec in self.inputs.items()}
        self._images = dict(images or {})
        for column in self._images.keys() - self.columns.keys():
            raise ValueError(f"images names the column {column!r}, which is no input; these are: {', '.join(self.columns)}")
        self._output_columns = dict(outputs) if outputs is not None else {name: name for name in gives}
        self.outputs = {column: gives[name] for name, column in self._output_columns.items()}
        fixed = {spec.shape[0] for spec in self.inputs.values() if spec.shape and spec.shape[0] is not None}
        self._pieces = Pieces(min(fixed), True) if fixed else Pieces(rows)

    def _check_names(self, specs: Mapping[str, TensorSpec], gives: Mapping[str, TensorSpec],
                     outputs: Optional[Mapping[str, str]]) -> None:
        fed = [*self.columns.values(), *self._constants]
        for name in fed:
            if name not in specs:
                raise ValueError(f"the model has no input {name!r}; it has {', '.join(specs)}")
            if fed.count(name) > 1:
                raise ValueError(f"input {name!r} is given twice")
        for name, spec in specs.items():
            if name not in fed and not spec.optional:
                raise ValueError(f"no column is given for input {name!r}: columns={{\"a column\": {name!r}, …}}")
        for name in outputs or {}:
            if name not in gives:
                raise ValueError(f"the model has no output {name!r}; it has {', '.join(gives)}")

    @property
    def threads(self) -> int:
        """Threads that an op may use."""
        return self._shared.model.report.threads

    @property
    def memory(self) -> Any:
        """The bytes that the model holds, as Model.memory()."""
        return self._shared.model.memory()

    @property
    def plans(self) -> int:
        """How many plans were compiled."""
        made: int = self._shared.model.report.details["plan_cache"]["misses"]
        return made

    def predict(self, values: Mapping[str, Any], rows: int, name_of_row: Callable[[int], str]) -> Prediction:
        """Results for `rows` rows.

        values: for each column, its values: an Arrow array, a NumPy array or a pandas series
        name_of_row: what an error calls a row

        ValueError, with the column, for columns that do not fit, and for a bad row if on_error is "raise".
        """
        found: Dict[str, Column] = {}
        bad: Dict[int, str] = {}
        for name in self.columns:
            if name not in values:
                raise ValueError(f"there is no column {name!r}; there are {', '.join(map(str, values))}")
            try:
                found[name] = column_of(values[name], self._row_types[name], self._images.get(name))
            except ColumnError as error:
                raise ValueError(f"column {name!r}: {error}") from None
            for row, reason in found[name].bad.items():
                bad.setdefault(row, f"column {name!r}, {name_of_row(row)}: {reason}")
        self._raise_first(bad)
        good = np.array([i for i in range(rows) if i not in bad], np.int64) if bad else None
        left = rows if good is None else len(good)
        feed = {self.columns[name]: column.take(good) for name, column in found.items()}
        if left == 0:
            return Prediction(good, self._nothing(), bad)
        parts, outputs, failed = run_rows(self._run, feed, left, self._pieces, self._constants,
                                          self.on_error == "raise")
        if failed:
            places = np.arange(rows) if good is None else good
            bad.update({int(places[i]): f"{name_of_row(int(places[i]))}: {reason}" for i, reason in failed.items()})
            self._raise_first(bad)
            good = places[np.concatenate(parts)] if parts else np.empty(0, np.int64)
        return Prediction(good, outputs or self._nothing(), bad)

    def _run(self, feed: Mapping[str, Any]) -> Dict[str, Array]:
        results = self._shared.run(feed)
        return {column: results[name] for name, column in self._output_columns.items()}

    def _raise_first(self, bad: Mapping[int, str]) -> None:
        if bad and self.on_error == "raise":
            raise ValueError(bad[min(bad)])

    def _nothing(self) -> Dict[str, Array]:
        """Outputs of no rows; dimensions that the model leaves free are 0."""
        def shape(spec: TensorSpec) -> Tuple[int, ...]:
            rest: List[Optional[int]] = list((spec.shape or (0,))[1:])
            return (0, *(d or 0 for d in rest))

        return {column: np.empty(shape(spec), spec.numpy_dtype) for column, spec in self.outputs.items()}
