"""Columns of tables as tensors: Arrow arrays, NumPy arrays and pandas series.

A column of n rows becomes an array of n rows. Fixed-size lists, fixed-shape tensors and plain values without nulls
are viewed, not copied. Rows that cannot be part of a tensor (nulls, rows of another length, images that cannot be
decoded) are listed, and left out of the array; what is wrong with a column as a whole is a ColumnError.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from tenon._images import Image
from tenon._numpy import array_of, dtype_of
from tenon._spec import TensorSpec

Array = np.ndarray[Any, Any]
Shape = Tuple[Optional[int], ...]


class ColumnError(ValueError):
    """A column that no row of can be fed: a wrong dtype, a wrong rank."""


@dataclasses.dataclass(frozen=True)
class RowType:
    """The dtype and the shape of an input's rows: its spec without the first dimension. shape is None if not even
    the rank is known."""

    dtype: str
    shape: Optional[Shape]
    cast: bool = False

    @staticmethod
    def of(spec: TensorSpec, cast: bool, shape: Optional[Sequence[int]] = None) -> RowType:
        """The rows of an input.

        shape: theirs, where it is known better than from the model

        ColumnError if the input has no dimension for rows, ValueError if `shape` does not fit it.
        """
        if spec.shape == ():
            raise ColumnError(f"input {spec.name!r} is a scalar, not one value a row: give it in constants=")
        row = None if spec.shape is None else spec.shape[1:]
        if shape is None:
            return RowType(spec.dtype, row, cast)
        given = tuple(int(d) for d in shape)
        fits = row is None or (len(row) == len(given) and all(d in (None, g) for d, g in zip(row, given)))
        if not fits or any(d < 0 for d in given):
            raise ValueError(f"shapes gives {list(given)} for rows of input {spec.name!r}, which is {spec}")
        return RowType(spec.dtype, given, cast)

    def dims(self, given: int) -> Tuple[List[Optional[int]], Optional[Tuple[int, ...]]]:
        """The lengths that rows of rank `given` must have, and the shape that they then get (None: the same).

        A row may come flat if the input's shape is known.
        """
        if self.shape is None:
            return [None] * given, None
        if given == len(self.shape):
            return list(self.shape), None
        known = tuple(d for d in self.shape if d is not None)
        if len(known) == len(self.shape):
            values = math.prod(known)
            if given == 1:
                return [values], known
            if given == 0 and values == 1:
                return [], known
        shape = ", ".join("?" if d is None else str(d) for d in self.shape)
        raise ColumnError(f"its rows have rank {given}, but the input takes rows of shape [{shape}]")

    def check(self, dtype: np.dtype[Any], named: str) -> np.dtype[Any]:
        """The dtype to convert values of `dtype` to; ColumnError if they must not be converted."""
        if self.dtype == "string":
            raise ColumnError(f"it has dtype {named}, but the input takes strings")
        wanted = dtype_of(self.dtype) if self.dtype else dtype
        if dtype == wanted or (self.dtype == "bfloat16" and dtype == np.uint16):
            return dtype
        numbers = dtype.kind in "biufc" and not (self.dtype == "bfloat16" and wanted == np.uint16)
        if self.cast and numbers:
            return wanted
        hint = "; cast=True converts it" if numbers else ""
        raise ColumnError(f"it has dtype {named}, but the input takes {self.dtype}{hint}")


class Column:
    """One input's values.

    Attributes:
      bad: rows that have no value, and why: {3: "is null"}
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.bad: Dict[int, str] = {}

    def take(self, good: Optional[Array]) -> Array:
        """The rows with these indices, which must not be bad; None: all rows. [n, ...]"""
        raise NotImplementedError


def column_of(values: Any, row: RowType, image: Optional[Image] = None) -> Column:
    """A Column of an Arrow array, a NumPy array or a pandas series. With `image`, rows are encoded images."""
    if image is not None:
        return _ImageColumn(column_of(values, RowType("string", ())), image, row)
    if type(values).__module__.partition(".")[0] == "pandas":
        values = _of_pandas(values)
    if isinstance(values, np.ndarray):
        return _ObjectColumn(values, row) if values.dtype.kind in "OSUT" else _NumericColumn(values, row)
    return _arrow_column(values, row)


def _of_pandas(series: Any) -> Any:
    """What a series holds, as a NumPy or Arrow array."""
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    return importlib.import_module("pyarrow").array(series, from_pandas=True)


def _checked_shape(given: Tuple[int, ...], row: RowType) -> Tuple[int, ...]:
    """The shape for rows that all have the shape `given`; ColumnError if they do not fit."""
    dims, shape = row.dims(len(given))
    if any(want is not None and want != have for want, have in zip(dims, given)):
        raise ColumnError(f"its rows have shape {list(given)}, but the input takes "
                          f"{['?' if d is None else d for d in row.shape or dims]}")
    return given if shape is None else shape


class _NumericColumn(Column):
    """An array of rows, [n, ...]."""

    def __init__(self, values: Array, row: RowType) -> None:
        super().__init__(len(values))
        self._values = values
        self._dtype = row.check(values.dtype, str(values.dtype))
        self._shape = _checked_shape(values.shape[1:], row)
        if isinstance(values, np.ma.MaskedArray):
            masked = np.ma.getmaskarray(values).reshape(self.rows, -1).any(axis=1)
            self.bad = {int(i): "is null" for i in np.flatnonzero(masked)}
            self._values = values.data

    def take(self, good: Optional[Array]) -> Array:
        values = self._values if good is None else self._values[good]
        return np.ascontiguousarray(values, self._dtype).reshape(len(values), *self._shape)


class _ObjectColumn(Column):
    """An array of n objects: strings, arrays, lists, numbers, and None."""

    def __init__(self, values: Array, row: RowType) -> None:
        super().__init__(len(values))
        self._rows: List[Any] = list(values)
        self._dtype = np.dtype(object)
        self._shape: Optional[Tuple[int, ...]] = None
        dims: Optional[List[Optional[int]]] = None
        for i, value in enumerate(self._rows):
            if value is None or (isinstance(value, float) and value != value and row.shape != ()):
                self.bad[i] = "is null"
                continue
            try:
                value = self._rows[i] = _row_array(value)
            except ValueError:
                self.bad[i] = "is a list whose parts differ in length"
                continue
            if value.dtype.kind == "O" and any(part is None for part in value.flat):
                self.bad[i] = "has a null"
                continue
            if dims is None:  # the first row that is one
                dims, self._shape = row.dims(value.ndim)
                dims = [have if want is None else want for want, have in zip(dims, value.shape)]
                self._dtype = self._checked(value, row)
            if list(value.shape) != dims:
                self.bad[i] = f"has shape {list(value.shape)}, not {dims}"
            elif value.dtype != self._dtype:
                self._checked(value, row)

    @staticmethod
    def _checked(value: Array, row: RowType) -> np.dtype[Any]:
        if value.dtype.kind in "OSUT":
            if row.dtype not in ("string", ""):
                raise ColumnError(f"it has strings or objects, but the input takes {row.dtype}")
            return np.dtype(object)
        return row.check(value.dtype, str(value.dtype))

    def take(self, good: Optional[Array]) -> Array:
        rows = self._rows if good is None else [self._rows[i] for i in good]
        if not rows:
            return np.empty((0, *(self._shape or ())), self._dtype)
        stacked = np.stack(rows).astype(self._dtype, copy=False)
        return stacked if self._shape is None else stacked.reshape(len(rows), *self._shape)


def _row_array(value: Any) -> Array:
    """A row as an array; text as an array of objects."""
    array = array_of(value)
    return array.astype(object) if array.dtype.kind in "SUT" else array


class _ImageColumn(Column):
    """Encoded images, decoded at once: a damaged one is a bad row."""

    def __init__(self, encoded: Column, image: Image, row: RowType) -> None:
        super().__init__(encoded.rows)
        self.bad = dict(encoded.bad)
        good = np.array([i for i in range(self.rows) if i not in self.bad], np.int64)
        shape = row.shape
        self._images: Dict[int, Array] = {}
        size: Tuple[int, ...] = ()
        for i, data in zip(good.tolist(), encoded.take(good)):
            try:
                found = image.decode(data, row.dtype, shape)
            except ValueError as error:
                self.bad[i] = f"is not an image: {error}"
                continue
            size = size or found.shape
            if found.shape == size:
                self._images[i] = found
            else:
                self.bad[i] = f"is an image of shape {list(found.shape)}, not {list(size)}; give Image a size"

    def take(self, good: Optional[Array]) -> Array:
        return np.stack([self._images[i] for i in (range(self.rows) if good is None else good)])


def _arrow_column(values: Any, row: RowType) -> Column:
    from tenon import _arrow_columns  # pyarrow is optional

    return _arrow_columns.column_of(values, row)
