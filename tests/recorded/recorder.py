"""Sends what TensorFlow computed to Tenon, and writes what differs."""

from __future__ import annotations

import collections
import json
import pathlib
import pickle
from typing import Any

import known
import numpy as np
from compare import LISTED, judge
from golden_cases import Case
from mutate import Call
from sides import Side

SAME = 2  # calls with the same attributes, dtypes and shapes
DIFFERENT = 300  # others, of one op
LARGEST = 2 ** 22  # bytes of all inputs
KEPT = 300  # differences


class Recorder:
  """Of one test file."""

  def __init__(self, file: pathlib.Path, results: pathlib.Path, python_path: str) -> None:
    self.file = file
    self.out = open(results, "w", encoding="utf-8")
    self.keep = results.parent / "kept"
    self.keep.mkdir(exist_ok=True)
    # NaN passes through fused Relu as in TensorFlow.
    self.side = Side("tenon", {"PYTHONPATH": python_path, "TENON_STRICT_NAN": "1"})
    self.seen: collections.Counter[Any] = collections.Counter()
    self.counts: collections.Counter[str] = collections.Counter()
    self.busy = False  # what the recorder itself executes is not recorded

  def enough(self, name: str, key: Any) -> bool:
    """Whether calls of this kind have been compared before. The key: what makes a call another one."""
    self.seen[key] += 1
    self.seen[name] += self.seen[key] == 1
    return self.seen[key] > SAME or self.seen[name] > DIFFERENT

  def check(self, what: str, name: str, attributes: dict[str, Any], values: list[np.ndarray],
            request: dict[str, Any], wanted: list[np.ndarray] | str) -> None:
    """Runs the request in Tenon. `wanted`: TensorFlow's outputs, or its error."""
    if sum(v.nbytes for v in values) > LARGEST:
      return
    call = Call(Case("recorded", what, name, [], attributes, False, None), values, [])
    self.side.send(request)
    got = self.side.receive()
    kind, text = judge(call, {"tensorflow": wanted}, got)
    if what == "op" and known.reason(call, kind):
      kind = "known"
    self.counts[kind] += 1
    self.counts[f"{what}s"] += 1
    if kind not in LISTED:
      return
    self.counts["kept"] += 1
    kept = f"{self.file.stem}_{self.counts['kept']}.pkl"
    if self.counts["kept"] <= KEPT:
      with open(self.keep / kept, "wb") as file:
        pickle.dump({"call": call, "request": request, "wanted": wanted, "got": got}, file)
    self.line(kind=kind, what=what, name=name, text=text, kept=kept,
              inputs=[f"{v.dtype}{list(v.shape)}" for v in values],
              attributes=str(attributes)[:400])

  def line(self, **fields: Any) -> None:
    self.out.write(json.dumps({"file": self.file.name, **fields}) + "\n")
    self.out.flush()

  def end(self, status: str) -> None:
    self.line(kind="end", counts=dict(self.counts), status=status)
    self.side.stop()
    self.out.close()
