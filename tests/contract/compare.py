"""Whether Tenon's results agree with TensorFlow's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from mutate import Call
from side_process import NO_ANSWER

# Kinds of outcomes, the worst last.
KINDS = ("agreed", "both refuse", "TensorFlow lacks it", "TensorFlow crashes", "known", "accepted",
         "refused", "type", "values", "crash")
FAILURES = ("type", "values", "crash")
LISTED = ("accepted", "refused", *FAILURES)

_EPS = {"float32": 2.0 ** -23, "bfloat16": 2.0 ** -7, "float64": 2.0 ** -52, "float16": 2.0 ** -10}
_ROUNDINGS = 64
KILLED = "ended with status -9"  # results of gigabytes, for lack of memory
_LARGE = 2 ** 28  # bytes
_RANDOM = re.compile(r"(?!Stateless).*(Random|Fractional(Avg|Max)Pool$|Multinomial|Normal$|SampleDistorted|Dropout|Sampler|"
                     r"NonDeterministic|Glimpse)")
_LACKING = re.compile(r"No OpKernel|no registered|unimplemented|not implemented|not yet supported|does not have|"
                      r"only supports? |CPU implementation|on the CPU|not support|Missing 0-th output|"
                      r"is not available in GraphDef", re.I)


def _undefined(call: Call, way: str) -> bool:
  """Whether values are random: TensorFlow's without seeds, eager ones as the sequence goes on."""
  seeds = [call.case.attributes.get(s, 0) for s in ("seed", "seed2")]
  return bool(_RANDOM.match(call.case.op)) and (way == "eager" or not any(seeds))


def judge(call: Call, wanted: Any, got: Any) -> tuple[str, str]:
  """The worst outcome of all ways of running, and what is wrong."""
  reference = wanted if isinstance(wanted, str) else wanted["tensorflow"]
  if isinstance(reference, str):
    reference = re.sub(r"Graph execution error:.*?Node: 'case'\n", "", reference, flags=re.S)
  if isinstance(wanted, str) and isinstance(got, str):
    return "TensorFlow crashes", "a call that is too large for both"
  killed = got in (NO_ANSWER, KILLED)
  if killed and isinstance(reference, str) and _LACKING.search(reference):
    return "TensorFlow lacks it", ""
  if killed and not isinstance(reference, str) and _bytes(reference) > _LARGE:
    return "TensorFlow crashes", "results that take long to compare"
  if isinstance(got, str):
    return "crash", f"Tenon {got}; TensorFlow: {str(reference)[:200]}"
  if isinstance(wanted, str):
    return "TensorFlow crashes", wanted
  outcomes = [_outcome(call, reference, result, way) for way, result in got.items()]
  return max(outcomes, key=lambda outcome: KINDS.index(outcome[0]))


def _outcome(call: Call, reference: Any, result: Any, way: str) -> tuple[str, str]:
  if isinstance(reference, str):
    if isinstance(result, str):
      return "both refuse", ""
    if _LACKING.search(reference):
      return "TensorFlow lacks it", ""
    shapes = ", ".join(f"{r.dtype}{list(r.shape)}" for r in result)
    return "accepted", f"{way} gives {shapes}; TensorFlow: {reference[:300]}"
  if isinstance(result, str):
    return "refused", f"{way}: {result[:300]}"
  return _compare(call, reference, result, way)


def _compare(call: Call, wanted: list[np.ndarray], got: list[np.ndarray],
             way: str) -> tuple[str, str]:
  if len(got) != len(wanted):
    return "type", f"{way}: {len(got)} outputs, not {len(wanted)}"
  pairs = list(enumerate(zip(wanted, got)))[:call.case.outputs]
  for i, (a, b) in pairs:
    if a.dtype != b.dtype and not (a.dtype.kind in "OSU" and b.dtype.kind in "OSU"):
      return "type", f"{way}: output {i} is {b.dtype}, not {a.dtype}"
    if a.shape != b.shape:
      return "type", f"{way}: output {i} is {b.shape}, not {a.shape}"
  if _undefined(call, way):
    return "agreed", ""
  largest = max(map(_largest, call.values), default=0.0)
  for i, (a, b) in pairs:
    # Large inputs may cancel where several of them make an output.
    sums = not call.values or a.shape != call.values[0].shape
    text = _difference(a, b, largest if sums else 0.0)
    if text:
      return "values", f"{way}: output {i} {text}"
  return "agreed", ""


def _bytes(arrays: list[np.ndarray]) -> int:
  return sum(a.nbytes for a in arrays)


def _largest(array: np.ndarray) -> float:
  """The largest finite magnitude of floats."""
  if array.dtype.name not in _EPS:
    return 0.0
  wide = np.abs(array.astype(np.float64))
  return float(wide[np.isfinite(wide)].max(initial=0))


def _difference(a: np.ndarray, b: np.ndarray, inputs: float) -> str:
  """Where b is not a, or an empty text. `inputs`: the largest one that may cancel."""
  if a.size == 0:  # NumPy converts no empty array that has a huge dimension
    return ""
  if a.dtype.kind == "c":
    part = a.real.dtype
    a, b = (np.ascontiguousarray(v).reshape(-1).view(part) for v in (a, b))
  if a.dtype.name.startswith("float8"):
    a, b = a.astype(np.float32), b.astype(np.float32)
    return _show(a, b, ~((a == b) | (np.isnan(a) & np.isnan(b))))
  if a.dtype.name not in _EPS:
    wrong = np.array([x != y for x, y in zip(a.ravel(), b.ravel())], bool)
    return _show(a, b, wrong)
  x, y = a.astype(np.float64), b.astype(np.float64)
  with np.errstate(all="ignore"):
    close = (x == y) | (np.isnan(x) & np.isnan(y))
    scale = np.maximum(np.abs(x), 0.25 * max(_largest(a), 0.25 * inputs))
    both = np.isfinite(x) & np.isfinite(y)
    close |= both & (np.abs(x - y) <= _ROUNDINGS * _EPS[a.dtype.name] * scale + 1e-37)
    if a.dtype.name == "float16":  # a sum that overflows in one order may not in another
      close |= ~np.isfinite(x) & ~np.isfinite(y)
  return _show(x, y, ~close)


def _show(a: np.ndarray, b: np.ndarray, wrong: np.ndarray) -> str:
  at = np.flatnonzero(wrong)
  if not at.size:
    return ""
  a, b = a.ravel(), b.ravel()
  return (f"differs at {at.size} of {a.size} places: " +
          ", ".join(f"[{i}] {b[i]} not {a[i]}" for i in at[:4]))
