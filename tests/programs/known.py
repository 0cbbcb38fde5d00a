"""What TensorFlow refuses and Tenon computes on purpose."""

from __future__ import annotations

import re

_REFUSALS = re.compile("|".join((
    # Stacks of nothing have the shape that the graph says; where it says none, Tenon takes 0.
    "Tried to stack (elements of )?an empty list with non-fully-defined",
    # The updates of an empty tensor are empty as well.
    "Indices and updates specified for empty",
)))


def refusal(message: str) -> bool:
  return bool(_REFUSALS.search(message))
