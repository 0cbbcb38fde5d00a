"""Runs models in Tenon on request.

A process of its own: its libraries and TensorFlow's cannot share one, and a crash must not end
the test. A request is a pickle {"model", "options", "feeds", "fetches"}; the answer is a list that has, for each
set of inputs in turn, the outputs by name or a text that says what went wrong, or one text if the
model cannot be loaded.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

import ml_dtypes  # NumPy's bfloat16
import numpy as np
import tenon


def array(value: Any) -> np.ndarray:
  return np.array(value if isinstance(value, np.ndarray) else np.asarray(value))


def run(request: dict[str, Any]) -> Any:
  try:
    model = tenon.load(request["model"], **request["options"])
  except Exception as error:  # pylint: disable=broad-exception-caught
    return f"loading: {type(error).__name__}: {error}"
  answers: list[Any] = []
  with model:
    names = {spec.name for spec in model.inputs}
    for feed in request["feeds"]:
      try:
        found = model.run({k: v for k, v in feed.items() if k in names})
        answers.append({k: array(v) for k, v in found.items()})
      except Exception as error:  # pylint: disable=broad-exception-caught
        answers.append(f"{type(error).__name__}: {error}")
  return answers


def main() -> None:
  out = os.fdopen(os.dup(1), "wb")
  os.dup2(2, 1)  # what libraries print is no answer
  assert ml_dtypes
  while True:
    try:
      request = pickle.load(sys.stdin.buffer)
    except EOFError:
      return
    pickle.dump(run(request), out)
    out.flush()


if __name__ == "__main__":
  main()
