"""Draws calls of ops: cases with random changes.

A case is a call that makes sense: its shapes fit together and its indices are in
range. Changes give it other dtypes, sizes, ranks, values and attributes, so that most
calls still make sense and some do not.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf
from golden_cases import (DTYPE_NAMES, DTYPES, QUANTIZED, QUANTIZED_NAMES, Case,
                          Input)
from tensorflow.python.framework import kernels

LARGEST = 4096  # elements of an input
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0,
          20.0, -20.0, 100.0, 1e-3, 1e5, -1e5, 0.1, 1e10]
WORDS = np.array([b"", b"a", b"B", b" ", b"ab cd", b"1", b"-2.5", b"1e3", b"nan", b"\xff\x00",
                  "naïve".encode(), "日本語".encode(), b"x,y", b"UPPER lower", b"0x10",
                  b"9223372036854775808", b"a b\tc\n", b"\xf0\x9f\x98\x80", b"true"], object)
# Type attributes of inputs that are positions, shapes or axes.
POSITIONS = {"", "Tidx", "Tindices", "Tshape", "Tperm", "index_type", "Tpaddings", "Tsegmentids",
             "Taxis", "Tmultiples", "Tdim", "Tlen", "Index", "Tblock_shape", "Tcrops",
             "Tnumsegments"}


@dataclasses.dataclass
class Call:
  """A case with its values, and what was changed."""

  case: Case
  values: list[np.ndarray]
  changes: list[str]


def name_of(dtype: Any) -> str:
  """As case lines write it; "" for dtypes that they do not have."""
  name = tf.as_dtype(dtype).name
  if name in QUANTIZED_NAMES:
    return QUANTIZED_NAMES[name]
  try:
    return DTYPE_NAMES.get(np.dtype(tf.as_dtype(dtype).as_numpy_dtype), "")
  except (KeyError, TypeError):  # resource, variant
    return ""


def attribute_type(name: str) -> Any:
  """A dtype as Case.attributes has it."""
  if name in QUANTIZED:
    return QUANTIZED[name][0]
  return tf.string if name == "str" else np.dtype(DTYPES[name])


def kernel_dtypes(definition: Any) -> list[dict[str, str]]:
  """For each CPU kernel of TensorFlow, the dtypes of type attributes that it requires."""
  found = []
  for kernel in kernels.get_registered_kernels_for_op(definition.name).kernel:
    if kernel.device_type != "CPU" or kernel.label:
      continue
    row = {c.name: name_of(c.allowed_values.list.type[0])
           for c in kernel.constraint if c.allowed_values.list.type}
    if all(row.values()):
      found.append(row)
  return found


def convert(value: np.ndarray, name: str) -> np.ndarray:
  """The values in another dtype, or what comes near to them."""
  dtype = np.dtype(DTYPES[name])
  if value.dtype == dtype:
    return value
  if dtype.kind == "O":
    words = np.empty(value.size, object)
    words[:] = [str(v).encode() for v in value.ravel()]
    return words.reshape(value.shape)
  if value.dtype.kind in "OS":
    value = np.array([len(v) for v in value.ravel()]).reshape(value.shape)
  if value.dtype.kind == "c" and dtype.kind != "c":
    value = value.real
  with np.errstate(all="ignore"):
    if dtype.kind == "c":  # as in Mutator.fresh
      return np.nan_to_num(value.astype(dtype), nan=2, posinf=50, neginf=-50)
    if dtype.kind not in "iu":
      # NumPy knows no way between two dtypes of ml_dtypes.
      return (value.astype(np.float32) if value.dtype.kind == "V" else value).astype(dtype)
    wide = np.nan_to_num(value.astype(np.float64), posinf=1e6, neginf=-1e6)
    ends = np.iinfo(dtype)
    wide = np.abs(wide) if dtype.kind == "u" else wide
    return np.clip(wide, float(ends.min), min(float(ends.max), 2.0 ** 62)).astype(dtype)


class Mutator:
  """Changes calls of one op, in place. Each change says what it did, or returns ""."""

  def __init__(self, rng: np.random.Generator, definition: Any) -> None:
    self.rng, self.definition = rng, definition
    self.rows = kernel_dtypes(definition)
    self.attrs = {a.name: a for a in definition.attr}

  def change(self, call: Call) -> None:
    """One to four changes."""
    changes = {self.dtypes: 0.15, self.size: 0.22, self.rank: 0.08, self.content: 0.28,
               self.attribute: 0.2, self.constness: 0.07}
    for _ in range(int(self.rng.choice([1, 2, 3, 4], p=[0.4, 0.3, 0.2, 0.1]))):
      kind = int(self.rng.choice(len(changes), p=list(changes.values())))
      if call.values or kind == 4:
        said = list(changes)[kind](call)
        call.changes += [said] if said else []

  # ---- drawing ----
  def chance(self, p: float) -> bool:
    return bool(self.rng.random() < p)

  def among(self, values: Any) -> Any:
    return values[int(self.rng.integers(len(values)))]

  def fresh(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """New values."""
    dtype = np.dtype(DTYPES[name])
    if dtype.kind == "O":
      return np.asarray(WORDS[self.rng.integers(0, len(WORDS), shape)], object)
    if dtype.kind == "b":
      return np.asarray(self.rng.random(shape) < 0.5)
    if dtype.kind in "iu":
      return self.integers(dtype, shape)
    # What complex arithmetic makes of infinities differs between compilers.
    kinds = 5 if dtype.kind == "c" else 6

    def real() -> np.ndarray:
      normal = np.asarray(self.rng.standard_normal(shape))
      return [normal, 10 * normal, 1000 * normal, np.round(2 * normal),
              np.asarray(self.rng.random(shape)),
              np.array(FLOATS)[self.rng.integers(0, len(FLOATS), shape)]][
                  int(self.rng.integers(kinds))]
    with np.errstate(all="ignore"):
      values = real() + 1j * real() if dtype.kind == "c" else real()
      return np.asarray(values).astype(dtype)

  def integers(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Small ones, or those at the ends of the dtype."""
    info = np.iinfo(dtype)
    kind = int(self.rng.integers(4))
    if kind == 3:
      ends = [info.min, info.max, 0, 1, info.max - 1, info.min + 1, 2, info.max // 2]
      return np.asarray(np.array(ends, dtype)[self.rng.integers(0, len(ends), shape)])
    low, high = [(0, 3), (-10, 10), (-100, 100)][kind]
    return np.asarray(self.rng.integers(max(low, info.min), high, shape)).astype(dtype)

  # ---- inputs ----
  def arguments(self, case: Case) -> list[Any]:
    """For each input, its argument in the op's definition."""
    arguments = list(self.definition.input_arg)
    lists = [a.number_attr or a.type_list_attr for a in arguments]
    given = {attr: case.attributes[attr] for attr in lists if attr in case.attributes}
    counts = {attr: n if isinstance(n, int) else len(n) for attr, n in given.items()}
    left = len(case.inputs) - sum(counts.get(attr, 0) if attr else 1 for attr in lists)
    unknown = [attr for attr in lists if attr and attr not in counts]
    counts |= {attr: left // len(unknown) for attr in unknown}
    return [arg for arg, attr in zip(arguments, lists)
            for _ in range(counts[attr] if attr else 1)]

  def put(self, call: Call, i: int, value: Any, dtype: str = "") -> None:
    value, old = np.asarray(value), call.case.inputs[i]
    call.values[i] = value
    call.case.inputs[i] = Input(dtype or old.dtype, value.shape, old.constant, "")

  # ---- changes ----
  def dtypes(self, call: Call, row: dict[str, str] | None = None) -> str:
    """Those of a kernel, or any of one attribute."""
    if row is None and self.rows and self.chance(0.9):
      row = self.among(self.rows)
    elif row is None:
      names = [a.name for a in self.definition.attr if a.type == "type"]
      if not names:
        return ""
      name = self.among(names)
      row = {name: self.among(self.allowed(name))}
    arguments = self.arguments(call.case)
    for attr, dtype in row.items():
      read = [i for i, arg in enumerate(arguments) if arg.type_attr == attr]
      for i in read:
        self.put(call, i, convert(call.values[i], dtype), dtype)
      if attr in call.case.attributes or (not read and attr in self.attrs):
        call.case.attributes[attr] = attribute_type(dtype)
    return f"dtypes {row}"

  def allowed(self, attr: str) -> list[str]:
    """What the op's definition allows for a type attribute."""
    types = self.attrs[attr].allowed_values.list.type
    return [n for n in map(name_of, types) if n] if types else list(DTYPES)

  def size(self, call: Call) -> str:
    """Dimensions of one size, and integers that may state it, become another one."""
    sizes = sorted({d for v in call.values for d in v.shape})
    if not sizes:
      return ""
    old = self.among(sizes)
    new = self.among([0, 1, 2, 3, 4, 5, 7, 8, old + 1, max(old - 1, 0)])
    only = int(self.rng.integers(len(call.values))) if self.chance(0.25) else None
    one_place = self.chance(0.3)
    stated = self.chance(0.5)
    for i, value in enumerate(list(call.values)):
      places = [a for a, d in enumerate(value.shape) if d == old]
      if places and only in (None, i):
        places = [self.among(places)] if one_place else places
        shape = [new if a in places else d for a, d in enumerate(value.shape)]
        if np.prod(shape) <= LARGEST:
          self.put(call, i, resized(value, shape))
      if stated and value.dtype.kind in "iu" and value.size <= 8 and np.any(value == old):
        value = call.values[i]
        self.put(call, i, np.where(value == old, new, value).astype(value.dtype))
    return f"size {old} to {new}"

  def rank(self, call: Call) -> str:
    """A dimension more or less, of one input or several."""
    one = int(self.rng.integers(len(call.values)))
    kind = self.among(["first", "last", "none", "twice"])
    for i, value in enumerate(list(call.values)):
      if i != one and (kind == "last" or self.chance(0.5)):
        continue
      if kind == "first":
        self.put(call, i, value[None])
      elif kind == "last":
        self.put(call, i, value[..., None])
      elif kind == "none" and value.ndim and value.shape[0]:
        self.put(call, i, value[0])
      elif kind == "twice" and 2 * value.size <= LARGEST:
        self.put(call, i, np.stack([value, value]))
    return f"rank: {kind} of {one}"

  def content(self, call: Call) -> str:
    """New values for one input, perhaps for others of its dtype."""
    if not call.values:
      return "values: none"
    one = int(self.rng.integers(len(call.values)))
    arguments = self.arguments(call.case)
    for i, value in enumerate(list(call.values)):
      dtype = call.case.inputs[i].dtype
      if i != one and (dtype != call.case.inputs[one].dtype or self.chance(0.4)):
        continue
      position = value.dtype.kind in "iu" and arguments[i].type_attr in POSITIONS
      if position and self.chance(0.75):
        self.put(call, i, self.perturbed(value))
      elif value.dtype.kind == "O" and self.chance(0.7):
        self.put(call, i, self.edited(value))
      elif value.dtype.kind in "fcV" and self.chance(0.2):
        self.put(call, i, np.where(self.rng.random(value.shape) < 0.2,
                                   self.fresh(dtype, value.shape), value))
      else:
        self.put(call, i, self.fresh(dtype, value.shape))
    return f"values of {one}"

  def perturbed(self, value: np.ndarray) -> np.ndarray:
    """Some integers a little different, or in another order."""
    flat = value.ravel().copy()
    if not flat.size:
      return value
    kind = int(self.rng.integers(5))
    at = int(self.rng.integers(flat.size))
    if kind == 0:
      self.rng.shuffle(flat)
    elif kind == 1:
      flat[:] = flat[at]
    elif kind == 2:
      flat[at] = self.among([0, 1, 2, 5] + ([-1] if value.dtype.kind == "i" else []))
    elif kind == 3:
      flat += (self.rng.random(flat.size) < 0.5).astype(flat.dtype)
    else:
      flat.sort()
    return flat.reshape(value.shape)

  def edited(self, value: np.ndarray) -> np.ndarray:
    """One string cut, extended, replaced or doubled."""
    flat = value.ravel().copy()
    if not flat.size:
      return value
    at = int(self.rng.integers(flat.size))
    word = flat[at] if isinstance(flat[at], bytes) else str(flat[at]).encode()
    place = int(self.rng.integers(len(word) + 1))
    flat[at] = self.among([word[:place], word[:place] + self.among(WORDS) + word[place:],
                           self.among(WORDS), word[:place] + word[place + 1:], 2 * word])[:2000]
    return flat.reshape(value.shape)

  def attribute(self, call: Call) -> str:
    """Another value of an attribute that does not follow from the inputs."""
    follow = {name for a in self.definition.input_arg
              for name in (a.number_attr, a.type_attr, a.type_list_attr)}
    names = [name for name in self.attrs if name not in follow and name[0] != "_"]
    if not names:
      return ""
    name = self.among(names)
    attr = self.attrs[name]
    current = call.case.attributes.get(name)
    if current is None and attr.HasField("default_value"):
      current = default(attr)
    new = self.other(attr, current)
    if new is None:
      return ""
    call.case.attributes[name] = new
    return f"{name}={new}"

  def other(self, attr: Any, current: Any) -> Any:
    """A value of the attribute's kind; None if none is known."""
    kind = attr.type
    if kind == "string":
      words = [s.decode() for s in attr.allowed_values.list.s]
      if attr.name == "data_format":
        words = words or ["NHWC", "NCHW"]
      return self.among(words) if words else None
    if kind == "bool":
      return not current
    if kind == "int":
      n = current or 0
      return int(self.among([n + 1, n - 1, 0, -1, 1, 2, 3, 5]))
    if kind == "float":
      x = current or 0.0
      return float(self.among([0.0, 1.0, 0.5, -1.0, 2.0, 1e-3, 2 * x, -x, 10.0]))
    if kind == "type":
      return attribute_type(self.among(self.allowed(attr.name)))
    if kind in ("list(int)", "list(float)", "shape") and current is not None:
      return self.other_list(list(current), int if kind != "list(float)" else float)
    return None

  def other_list(self, values: list[Any], number: type) -> list[Any]:
    """One element more, less or different."""
    at = int(self.rng.integers(len(values) + 1))
    if at == len(values):
      return values + [number(self.among([1, 2, -1]))] if self.chance(0.3) else values
    if self.chance(0.1):
      return values[:at] + values[at + 1:]
    values[at] = number(self.among([values[at] + 1, 1, 2, 3, 0, -1, values[at] - 1]))
    return values

  def constness(self, call: Call) -> str:
    """An input that was fed is a constant, or the other way."""
    i = int(self.rng.integers(len(call.values)))
    old = call.case.inputs[i]
    call.case.inputs[i] = dataclasses.replace(old, constant=not old.constant)
    return f"const {i}"


def resized(value: np.ndarray, shape: list[int]) -> np.ndarray:
  """Elements along each axis left out or repeated."""
  for axis, (size, old) in enumerate(zip(shape, value.shape)):
    if old:
      value = np.take(value, np.arange(size) % old, axis=axis)
    else:
      grown = [*value.shape[:axis], size, *value.shape[axis + 1:]]
      value = np.full(grown, b"a" if value.dtype.kind == "O" else 1, value.dtype)
  return value


def default(attr: Any) -> Any:
  """Of an int, float, bool, string, shape, or a list of such; otherwise None."""
  value, kind = attr.default_value, attr.type.removeprefix("list(").removesuffix(")")
  if kind == "shape":
    known = attr.type == kind and not value.shape.unknown_rank
    return [d.size for d in value.shape.dim] if known else None
  field = {"int": "i", "float": "f", "bool": "b", "string": "s"}.get(kind)
  if field is None:
    return None
  return list(getattr(value.list, field)) if kind != attr.type else getattr(value, field)
