"""Values that callers feed and that are not plain buffers of the expected dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenon import _core
from tenon._numpy import BITS, array_of, bits_of, dtype_of


def _label(name: str) -> str:
    return f"input {name!r}" if name else "the value"


def _described(value: Any) -> str:
    """What came, in the words of its own library."""
    kind = type(value).__name__
    dtype = getattr(value, "dtype", None)
    shape = getattr(value, "shape", None)
    named = f"an object of type {kind!r}"
    if dtype is None or shape is None:
        return named
    return f"{named}, dtype {dtype} and shape {tuple(shape)}"


def _strings(value: Any, name: str) -> _core.Tensor:
    array = array_of(value)
    if not array.size and isinstance(value, (list, tuple)):
        array = array.astype(object)
    if array.dtype.kind not in "SUOT":
        raise TypeError(f"{_label(name)} is of dtype string, but {_described(value)} was given")
    if array.dtype.kind == "O" and array.ndim and not isinstance(value, np.ndarray):
        first = array.reshape(-1)[:1]
        if first.size and isinstance(first[0], (list, tuple)):
            raise ValueError(f"{_label(name)}: the rows of a list of strings differ in length")
    try:
        return _core.Tensor.from_strings(array.reshape(-1).tolist(), array.shape)
    except TypeError as error:
        raise TypeError(f"{_label(name)}: {error}") from None


def _array_of(value: Any, name: str) -> np.ndarray[Any, Any]:
    """`value` as an array, of its own dtype."""
    if isinstance(value, np.ndarray):
        return value
    try:
        return array_of(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{_label(name)}: {_described(value)} is not a tensor: {error}") from error


def _view(array: np.ndarray[Any, Any], dtype: str) -> _core.Tensor:
    """A C-contiguous array of the dtype, without a copy."""
    return _core.Tensor.from_buffer(bits_of(array), dtype)


def _plain(value: Any) -> bool:
    """Numbers and lists of them have no dtype of their own."""
    return isinstance(value, (bool, int, float, complex, list, tuple))


def tensor_for(value: Any, dtype: str, name: str, cast: bool) -> _core.Tensor:
    """A tensor of the dtype ("": any) for one input.

    Views what can be viewed. Python's numbers and lists are converted if no value is lost in kind; other values
    of another dtype, or that are not C-contiguous, only with `cast`. TypeError or ValueError otherwise.
    """
    if isinstance(value, _core.Tensor):
        if value.dtype == dtype or not dtype:
            return value
        value = value.numpy()
    if dtype == "string":
        return _strings(value, name)
    if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        try:
            tensor = _core.Tensor.from_dlpack(value)
        except (TypeError, BufferError, RuntimeError, ValueError):
            pass  # not contiguous, on another device, …: NumPy says it better
        else:
            if not dtype or tensor.dtype == dtype:
                return tensor
            if BITS.get(dtype) == tensor.dtype:
                return _core.Tensor.from_buffer(tensor, dtype)
    array = _array_of(value, name)
    if array.dtype.kind in "SUOT":
        if not dtype:
            return _strings(value, name)
        raise TypeError(f"{_label(name)} is of dtype {dtype}, but {_described(value)} was given")
    wanted = dtype_of(dtype) if dtype else array.dtype
    same = array.dtype == wanted or (array.dtype.name == dtype)
    if not same:
        allowed = cast or (_plain(value) and np.can_cast(array.dtype, wanted, "same_kind"))
        if wanted.name == BITS.get(dtype) and array.dtype != wanted:
            allowed = False  # without ml_dtypes only bits can be fed
        if not allowed:
            hint = "" if cast else "; cast=True converts it"
            raise TypeError(
                f"{_label(name)} is of dtype {dtype}, but {_described(value)} was given{hint}")
        if _plain(value):
            given = array
            array = np.asarray(value, dtype=wanted)  # NumPy 2 checks the range of integers
            if given.dtype.kind in "iu" and wanted.kind in "iu" and not np.array_equal(array, given):
                raise OverflowError(f"{_label(name)} is of dtype {dtype}, but integers out of its range were given")
        else:
            array = array.astype(wanted)
    if not array.flags.c_contiguous or not array.dtype.isnative:
        if not (cast or _plain(value)) and not array.dtype.isnative:
            raise ValueError(
                f"{_label(name)} must be in the machine's byte order, but {_described(value)} was given; cast=True "
                "converts it")
        if not (cast or _plain(value)):
            raise ValueError(
                f"{_label(name)} must be C-contiguous, but {_described(value)} with strides "
                f"{array.strides} was given; cast=True or numpy.ascontiguousarray copies it")
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return _view(array, dtype)
