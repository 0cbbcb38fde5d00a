"""Descriptions of inputs and outputs."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Tuple

import numpy as np

from tenon._numpy import dtype_of


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """An input or an output of a model.

    Attributes:
      name: as in the signature, or the name of the graph's tensor
      dtype: TensorFlow's name of it, such as "float32", "string" or "bfloat16"; "" if it is not known
      shape: a tuple with None for dimensions that are free; None if not even the rank is known

    >>> TensorSpec("image", "float32", (None, 28, 28))
    TensorSpec('image', float32[?, 28, 28])
    """

    name: str
    dtype: str
    shape: Optional[Tuple[Optional[int], ...]]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of NumPy arrays: object for strings.

        >>> TensorSpec("image", "float32", ()).numpy_dtype
        dtype('float32')
        """
        return dtype_of(self.dtype)

    def __str__(self) -> str:
        if self.shape is None:
            shape = "[...]"
        else:
            shape = "[" + ", ".join("?" if d is None else str(d) for d in self.shape) + "]"
        return f"{self.dtype or '?'}{shape}"

    def __repr__(self) -> str:
        return f"TensorSpec({self.name!r}, {self})"


def make(name: str, dtype: str, shape: Optional[Tuple[int, ...]]) -> TensorSpec:
    """From the C interface, whose unknown dimensions are -1."""
    known = None if shape is None else tuple(None if d < 0 else d for d in shape)
    return TensorSpec(name, dtype, known)
