"""Descriptions of inputs and outputs."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from tenon import _core
from tenon._numpy import dtype_of


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """An input or an output of a model.

    Attributes:
      name: as in the signature, or the name of the graph's tensor
      dtype: TensorFlow's name of it, such as "float32", "string" or "bfloat16"; "" if it is not known
      shape: a tuple with None for dimensions that are free; None if not even the rank is known
      optional: whether a run may omit it

    >>> TensorSpec("image", "float32", (None, 28, 28))
    TensorSpec('image', float32[?, 28, 28])
    """

    name: str
    dtype: str
    shape: Optional[Tuple[Optional[int], ...]]
    optional: bool = False

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of NumPy arrays: object for strings.

        >>> TensorSpec("image", "float32", ()).numpy_dtype
        dtype('float32')
        """
        return dtype_of(self.dtype)

    @property
    def shape_text(self) -> str:
        """The shape as reports show it.

        >>> TensorSpec("image", "float32", (None, 28, 28)).shape_text
        '[?, 28, 28]'
        """
        if self.shape is None:
            return "[...]"
        return "[" + ", ".join("?" if d is None else str(d) for d in self.shape) + "]"

    def __str__(self) -> str:
        return f"{self.dtype or '?'}{self.shape_text}"

    def __repr__(self) -> str:
        return f"TensorSpec({self.name!r}, {self})"


def make(name: str, dtype: str, shape: Optional[Tuple[int, ...]], optional: bool) -> TensorSpec:
    """From the C interface, whose unknown dimensions are -1."""
    known = None if shape is None else tuple(None if d < 0 else d for d in shape)
    return TensorSpec(name, dtype, known, optional)


@dataclasses.dataclass(frozen=True)
class Signature:
    """A function of a model.

    Attributes:
      name: "serving_default" as a rule; "" in a GraphDef
      method: often ""
      inputs, outputs: as the model states them, sorted by name
    """

    name: str
    method: str
    inputs: List[TensorSpec]
    outputs: List[TensorSpec]


def signatures(path: Union[str, bytes, os.PathLike[str]]) -> Dict[str, Signature]:
    """The signatures of a model, by name, without loading its weights.

    path: a SavedModel folder or a GraphDef file; or the bytes of a GraphDef. Errors are those of `tenon.load`.

    >>> found = tenon.signatures("tests/models/mlp/saved_model")
    >>> found["serving_default"].inputs
    [TensorSpec('features', float32[?, 16])]
    """
    source = path if isinstance(path, bytes) else os.fspath(path)
    return {name: Signature(name, method, [make(*spec) for spec in inputs], [make(*spec) for spec in outputs])
            for name, method, inputs, outputs in _core.inspect(source)}
