"""Arrow arrays as tensors, and tensors as Arrow arrays. The only module that knows pyarrow's types."""

from __future__ import annotations

import importlib
import math
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from tenon._columns import Array, Column, ColumnError, RowType, column_of as column_of_values
from tenon._numpy import dtype_of
from tenon._spec import TensorSpec

pa: Any = importlib.import_module("pyarrow")
pc: Any = importlib.import_module("pyarrow.compute")


def column_of(values: Any, row: RowType) -> Column:
    """A Column of an Arrow array or chunked array."""
    array = one_array(values)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if isinstance(array.type, pa.BaseExtensionType):
        if pa.types.is_struct(array.type.storage_type):  # tensors of several shapes
            return column_of_values(array.to_numpy(zero_copy_only=False), row)
        shape = getattr(array.type, "shape", None)
        permutation = getattr(array.type, "permutation", None)
        if permutation is not None and list(permutation) != sorted(permutation):
            raise ColumnError("its tensors have a permutation of dimensions")
        return _ArrowColumn(array.storage, row, None if shape is None else tuple(shape))
    return _ArrowColumn(array, row, None)


def one_array(values: Any) -> Any:
    """The array of a chunked array; several chunks are copied to one."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_text(kind: Any) -> bool:
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary,
                                       pa.types.is_large_binary, pa.types.is_fixed_size_binary)) or (
        str(kind) in ("string_view", "binary_view"))


class _ArrowColumn(Column):
    """Values, or lists of them to any depth. tensor: the shape of a row whose list is flat."""

    def __init__(self, array: Any, row: RowType, tensor: Optional[Tuple[int, ...]]) -> None:
        super().__init__(len(array))
        self._array = array
        self._depth, leaf = 0, array.type
        while _is_list(leaf):
            self._depth, leaf = self._depth + 1, leaf.value_type
        self._text = _is_text(leaf)
        self._dtype = self._checked(leaf, row)
        self._shape: Optional[Tuple[int, ...]]
        if tensor is None:
            self._dims, self._shape = row.dims(self._depth)
        else:
            dims, flat = row.dims(len(tensor))
            if any(want is not None and want != have for want, have in zip(dims, tensor)):
                raise ColumnError(f"its tensors have shape {list(tensor)}, but the input takes {dims}")
            self._dims, self._shape = [math.prod(tensor)], tensor if flat is None else flat
        self.bad = self._problems(array, 0)

    def _checked(self, leaf: Any, row: RowType) -> np.dtype[Any]:
        if self._text:
            if row.dtype not in ("string", ""):
                raise ColumnError(f"it has {leaf} values, but the input takes {row.dtype}")
            return np.dtype(object)
        try:
            dtype = np.dtype(leaf.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            raise ColumnError(f"it has {leaf} values, which are no tensor") from None
        if pa.types.is_null(leaf):  # every row is bad: the dtype does not matter
            return dtype_of(row.dtype) if row.dtype else dtype
        return row.check(dtype, str(leaf))

    def _problems(self, array: Any, level: int) -> Dict[int, str]:
        """Elements of `array`, lists at that level, that are no part of a tensor; learns lengths that are free."""
        bad: Dict[int, str] = {}
        if array.null_count:
            nulls = array.is_null().to_numpy(zero_copy_only=False)
            bad = {int(i): "is null" for i in np.flatnonzero(nulls)}
        if level == self._depth:
            return bad
        wanted = self._dims[level]
        if pa.types.is_fixed_size_list(array.type):
            lengths = np.full(len(array), array.type.list_size)
            if wanted is not None and len(array) and array.type.list_size != wanted and level == 0:
                raise ColumnError(f"its rows have {array.type.list_size} values, but the input takes {wanted}")
        else:
            lengths = pc.list_value_length(array).fill_null(-1).to_numpy(zero_copy_only=False)
        good = np.array([i for i in range(len(array)) if i not in bad]) if bad else np.arange(len(array))
        if wanted is None and len(good):
            wanted = self._dims[level] = int(lengths[good[0]])
        for i in good[lengths[good] != wanted]:
            bad[int(i)] = f"has {lengths[i]} values, not {wanted}"
        if bad:
            good = np.array([i for i in good.tolist() if i not in bad], np.int64)
            array = array.take(pa.array(good))
        for inner, reason in self._problems(array.flatten(), level + 1).items():
            row, value = divmod(inner, wanted or 1)
            bad.setdefault(int(good[row]), f"has a value, number {value}, that {reason}")
        return bad

    def take(self, good: Optional[Array]) -> Array:
        array = self._array if good is None else self._array.take(pa.array(good))
        rows = len(array)
        for _ in range(self._depth):
            array = array.flatten()
        values: Array
        if self._text:
            values = np.empty(len(array), object)
            values[:] = array.to_pylist()
        else:
            values = array.to_numpy(zero_copy_only=array.type != pa.bool_() and not pa.types.is_null(array.type))
            values = values.astype(self._dtype, copy=False)
        # Lengths that are still free belong to a column without a good row.
        shape = [d or 0 for d in self._dims] if self._shape is None else self._shape
        return values.reshape(rows, *shape)


def array_of(values: Array, name: str) -> Any:
    """An Arrow array of rows [n, ...]: plain values, fixed-size lists [n, k], fixed-shape tensors of more dimensions.

    Nothing but booleans, strings and bfloat16 (which becomes float) is copied.
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    if values.dtype.name == "bfloat16":
        flat = flat.astype(np.float32)
    try:
        leaf = pa.array(flat.tolist(), pa.binary()) if flat.dtype.kind == "O" else pa.array(flat)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ColumnError(f"output {name!r}: Arrow has no dtype for {values.dtype} ({error})") from None
    if values.ndim == 1:
        return leaf
    lists = pa.FixedSizeListArray.from_arrays(leaf, math.prod(values.shape[1:]))
    if values.ndim == 2 or flat.dtype.kind == "O":
        return lists
    kind = pa.fixed_shape_tensor(leaf.type, values.shape[1:])
    return pa.ExtensionArray.from_storage(kind, lists)


def spread(array: Any, good: Array, rows: int) -> Any:
    """An array of `rows` rows that has `array` at the indices `good`, and nulls elsewhere."""
    indices = np.full(rows, -1)
    indices[good] = np.arange(len(good))
    places = pa.array(indices, mask=indices < 0)
    if isinstance(array.type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(array.type, array.storage.take(places))
    return array.take(places)


def empty_output(spec: TensorSpec) -> Array:
    """No rows of an output whose dtype and shape are known from the model alone; free dimensions are 0."""
    shape: List[int] = [d or 0 for d in (spec.shape or (0,))[1:]]
    return np.empty((0, *shape), spec.numpy_dtype)
