"""Tenon's dtypes in NumPy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

if TYPE_CHECKING:
    from tenon._core import Tensor

_QUANTIZED = {"qint8": "int8", "qint16": "int16", "qint32": "int32",
              "quint8": "uint8", "quint16": "uint16"}

# The bits of dtypes that NumPy and the buffer protocol do not have.
BITS = {"bfloat16": "uint16", "float8_e5m2": "uint8", "float8_e4m3fn": "uint8", "int4": "int8", "uint4": "uint8"}


def bits_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself, or a view of its bits if NumPy has not its dtype."""
    bits = BITS.get(array.dtype.name)
    return array if bits is None else array.view(bits)


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of arrays of Tenon's dtype `name`.

    Strings are objects. bfloat16, float8 and int4 are ml_dtypes' if that package is installed, otherwise their bits:
    uint16 for bfloat16, uint8 or int8 for others.
    """
    if name == "string":
        return np.dtype(object)
    if name in BITS:
        try:
            found = importlib.import_module("ml_dtypes")
        except ImportError:
            return np.dtype(BITS[name])
        small: np.dtype[Any] = np.dtype(getattr(found, name))
        return small
    return np.dtype(_QUANTIZED.get(name, name))


def array_of(value: Any) -> np.ndarray[Any, Any]:
    """The value as an array. Python's text becomes objects: NumPy's own strings lose zeros at their ends."""
    array = np.asarray(value)
    if array.dtype.kind in "SU" and not isinstance(value, np.ndarray):
        return np.array(value, object)
    return array


def string_array(values: list[bytes], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array of bytes objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def as_asked(array: np.ndarray[Any, Any], dtype: Any,
             copy: Optional[bool]) -> np.ndarray[Any, Any]:
    """What `__array__` returns, by NumPy's rules for its arguments."""
    if dtype is not None and np.dtype(dtype) != array.dtype:
        if copy is False:
            raise ValueError(f"an array of dtype {dtype} needs a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def tensor_repr(tensor: Tensor) -> str:
    """As an array's, with the dtype's name."""
    values = np.array2string(tensor.numpy(), separator=", ", prefix="Tensor(")
    return f"Tensor({values}, dtype={tensor.dtype}, shape={tensor.shape})"
