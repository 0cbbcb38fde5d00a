"""Tenon runs TensorFlow models on CPUs, without TensorFlow.

    import tenon
    model = tenon.load("my_model")        # a SavedModel folder, or a frozen .pb or .pbtxt file
    result = model(image=pixels)          # {"probabilities": array(...)}

A model takes NumPy arrays and anything else that has a buffer or DLPack (torch, jax, TensorFlow,
Arrow), and gives NumPy arrays. Any number of threads may call it.
"""

from tenon import _load as _load  # first: it loads the extension module
from tenon import ops
from tenon._core import Tensor
from tenon._errors import (
    CancelledError,
    DeadlineExceededError,
    Error,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    UnimplementedError,
)
from tenon._generator import Generator
from tenon._model import Model, load
from tenon._page import Page
from tenon._quantize import QuantizationReport, quantize
from tenon._ragged import ragged, rows
from tenon._report import Explanation, Memory, NodeExplanation, Profile, Report, Step, Verdict
from tenon._spec import Signature, TensorSpec, signatures
from tenon._tensorflow import from_function, from_keras

__version__: str = _load.version

__all__ = [
    "CancelledError",
    "DeadlineExceededError",
    "Error",
    "Explanation",
    "FailedPreconditionError",
    "Generator",
    "InternalError",
    "InvalidArgumentError",
    "Memory",
    "Model",
    "NodeExplanation",
    "NotFoundError",
    "Page",
    "Profile",
    "QuantizationReport",
    "Report",
    "ResourceExhaustedError",
    "Signature",
    "Step",
    "Tensor",
    "TensorSpec",
    "UnimplementedError",
    "Verdict",
    "from_function",
    "from_keras",
    "load",
    "ops",
    "quantize",
    "ragged",
    "rows",
    "signatures",
]
