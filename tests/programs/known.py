"""What TensorFlow refuses and Tenon may compute: invalid only by a check of TensorFlow's, so no failure."""

from __future__ import annotations

import re

_REFUSALS = re.compile("|".join((
    # A stack of nothing whose elements have an unknown shape. Tenon refuses it as well where it knows no more.
    "Tried to stack (elements of )?an empty list with non-fully-defined",
    # Gradients of dilated convolutions.
    "CPU implementations do not yet support dilation rates",
    # The updates of a tensor without elements have none either.
    "Indices and updates specified for empty",
)))


def refusal(message: str) -> bool:
  return bool(_REFUSALS.search(message))
