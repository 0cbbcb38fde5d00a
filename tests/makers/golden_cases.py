"""Reads case lines (tests/numerics/README.md) and makes their input values.

A line is `name: Op(input, …) attribute=value …`, for example

    same_s2: Conv2D(f32[1,7,5,3], f32[3,3,3,4]=const) strides=[1,2,2,1]
"""

from __future__ import annotations

import ast
import dataclasses
import pathlib
import re
import zlib
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, Any] = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16,
    "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
    "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
    "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
    "c64": np.complex64, "c128": np.complex128, "str": np.object_}
DTYPE_NAMES = {np.dtype(v): k for k, v in DTYPES.items()}


class QuantizedType(str):
  """TensorFlow's name of a quantized dtype, which NumPy does not have."""


class HexBytes(bytes):
  """A string that is no text, such as a serialized message."""


# Quantized dtypes, and the integers that stand for their elements.
QUANTIZED: dict[str, tuple[QuantizedType, Any]] = {
    "qi8": (QuantizedType("qint8"), np.int8),
    "qu8": (QuantizedType("quint8"), np.uint8),
    "qi16": (QuantizedType("qint16"), np.int16),
    "qu16": (QuantizedType("quint16"), np.uint16),
    "qi32": (QuantizedType("qint32"), np.int32)}
DTYPES |= {k: storage for k, (_, storage) in QUANTIZED.items()}
QUANTIZED_NAMES = {str(name): k for k, (name, _) in QUANTIZED.items()}

_FLOAT_SPECIALS = ["nan", "inf", "-inf", "0.0", "-0.0", "1.0", "-1.0", "0.5",
                   "-0.5", "1.5", "2.5", "-2.5", "6.0", "-3.0", "3.0", "20.0",
                   "-20.0", "100.0", "-100.0", "1e-3"]


class CaseError(ValueError):
  """A line that does not parse; the message names file and line."""


@dataclasses.dataclass(frozen=True)
class Input:
  """One input: dtype, shape, whether it is a Const node, and its values."""

  dtype: str
  shape: tuple[int, ...]
  constant: bool
  values: str  # "", "(…)", "uniform(a,b)", "special", "file(NAME)"

  def __str__(self) -> str:
    text = f"{self.dtype}[{','.join(map(str, self.shape))}]"
    return text + ("=const" if self.constant else "")


@dataclasses.dataclass(frozen=True)
class Case:
  """One line: an op applied to inputs."""

  topic: str
  name: str
  op: str
  inputs: list[Input]
  attributes: dict[str, Any]
  fails: bool  # TensorFlow, and so Tenon, must refuse it
  outputs: int | None  # how many leading outputs have a defined value; None: all
  alone: bool = False  # TensorFlow is not asked: it crashes, or does otherwise
  safe: bool = False  # it may also give a result, of any value


_HEAD = re.compile(r"(\w+):\s*([\w>]+)\(")
_INPUT = re.compile(r"(\w+)\[([\d,]*)\](?:=(.*))?$")
# A value is a word, a "string", or a list, perhaps of lists.
_ATTRIBUTE = r'(\w+=(?:"[^"]*"|\[(?:[^\[\]]|\[[^\]]*\])*\]|\S+))'
_FILES = pathlib.Path(__file__).resolve().parent.parent / "numerics" / "files"
_WORDS = ["", "a", "Tenon", "two words", "1.5", " padded ", "naïve", "UPPER"]


def _unquoted(text: str) -> list[tuple[int, str]]:
  """Characters outside of "quotes" and their positions."""
  found, quoted, escaped = [], False, False
  for i, c in enumerate(text):
    if quoted:
      quoted, escaped = escaped or c != '"', c == "\\" and not escaped
    elif c == '"':
      quoted = True
    else:
      found.append((i, c))
  return found


def _split(text: str) -> list[str]:
  """Splits at commas outside of brackets, parentheses and quotes."""
  parts, depth, start = [], 0, 0
  for i, c in _unquoted(text):
    depth += (c in "([") - (c in ")]")
    if c == "," and depth == 0:
      parts.append(text[start:i])
      start = i + 1
  parts.append(text[start:])
  return [p.strip() for p in parts if p.strip()]


def _parse_input(text: str) -> Input:
  match = _INPUT.match(text)
  if not match or match[1] not in DTYPES:
    raise ValueError(f"bad input {text!r}")
  shape = tuple(int(d) for d in match[2].split(",") if d)
  values = match[3] or ""
  constant = values.startswith("const")
  values = values.removeprefix("const").removeprefix(":")
  return Input(match[1], shape, constant, values)


def _parse_value(text: str) -> Any:
  """int, float, bool, "string", hex:bytes, file:NAME, dtype name, or a [list] of these."""
  if text.startswith("["):
    return [_parse_value(t) for t in _split(text[1:-1])]
  if text.startswith('"'):
    return text[1:-1]
  if text.startswith("hex:"):
    return HexBytes.fromhex(text[4:])
  if text.startswith("file:"):
    return HexBytes((_FILES / text[5:]).read_bytes())
  if text in ("true", "false"):
    return text == "true"
  if text in QUANTIZED:
    return QUANTIZED[text][0]
  if text in DTYPES:
    return np.dtype(DTYPES[text])
  try:
    return int(text)
  except ValueError:
    return float(text)


def _parse_line(topic: str, line: str) -> Case:
  match = _HEAD.match(line)
  if not match:
    raise ValueError("expected `name: Op(`")
  depth, end = 1, match.end()
  for i, c in _unquoted(line[match.end():]):
    depth += (c == "(") - (c == ")")
    if depth == 0:
      end = match.end() + i + 1
      break
  if depth:
    raise ValueError("missing `)`")
  rest = line[end:].strip()
  rest, _, result = (part.strip() for part in rest.partition("=>"))
  count = re.fullmatch(r"(\d+) outputs", result)
  if result and result not in ("error", "refused", "safe") and not count:
    raise ValueError(f"bad result {result!r}")
  attributes = {}
  for word in re.findall(_ATTRIBUTE, rest):
    key, value = word.split("=", 1)
    attributes[key] = _parse_value(value)
  inputs = [_parse_input(t) for t in _split(line[match.end():end - 1])]
  return Case(topic, match[1], match[2], inputs, attributes,
              fails=result in ("error", "refused", "safe"),
              alone=result in ("refused", "safe"),
              safe=result == "safe",
              outputs=int(count[1]) if count else None)


def read_cases(path: pathlib.Path) -> list[Case]:
  """All cases of a file; raises CaseError on a bad line or a repeated name."""
  cases: list[Case] = []
  names: set[str] = set()
  for number, line in enumerate(path.read_text().splitlines(), 1):
    line = line.strip()
    if not line or line.startswith("#"):
      continue
    try:
      case = _parse_line(path.stem, line)
      if case.name in names:
        raise ValueError(f"second case named {case.name}")
    except ValueError as error:
      raise CaseError(f"{path}:{number}: {error}") from error
    names.add(case.name)
    cases.append(case)
  return cases


def _draw(rng: np.random.Generator, spec: Input) -> np.ndarray:
  dtype = np.dtype(DTYPES[spec.dtype])
  shape = spec.shape
  bounds = re.match(r"uniform\(([^,]+),([^)]+)\)$", spec.values)
  if bounds:
    low, high = float(bounds[1]), float(bounds[2])
    if dtype.kind in "iu":
      return rng.integers(int(low), int(high), shape, endpoint=True)
    return rng.uniform(low, high, shape)
  if spec.values:
    raise ValueError(f"unknown values {spec.values!r}")
  if dtype.kind == "O":
    words = np.array([w.encode() for w in _WORDS], object)
    return words[rng.integers(0, len(words), shape)]
  if dtype.kind == "b":
    return rng.integers(0, 2, shape)
  if dtype.kind in "iu":
    return rng.integers(0 if dtype.kind == "u" else -10, 10, shape)
  if dtype.kind == "c":
    return rng.normal(0, 1, shape) + 1j * rng.normal(0, 1, shape)
  return rng.normal(0, 1, shape)


def _bytes_of(word: str) -> bytes:
  """"text" with Python's escapes; \\udc80 to \\udcff are single bytes."""
  return ast.literal_eval(word).encode("utf-8", "surrogateescape")


def make_input(case: Case, index: int) -> np.ndarray:
  """The values of one input, seeded by topic, case and index."""
  spec = case.inputs[index]
  dtype = np.dtype(DTYPES[spec.dtype])
  if spec.values.startswith("("):
    words = _split(spec.values[1:-1])
    if dtype.kind in "iu":
      values = np.array([int(w) for w in words], object)
    elif dtype.kind == "b":
      values = np.array([w == "true" for w in words])
    elif dtype.kind == "O":
      values = np.array([_bytes_of(w) for w in words], object)
    else:
      values = np.array([complex(w) if dtype.kind == "c" else float(w)
                         for w in words])
    return values.astype(dtype).reshape(spec.shape)
  file = re.fullmatch(r"file\(([\w.]+)(?:,(\d+))?\)", spec.values)
  if file:
    content = (_FILES / file[1]).read_bytes()
    if dtype == np.uint8:
      return np.frombuffer(content, np.uint8).reshape(spec.shape)
    return np.array(content[:int(file[2])] if file[2] else content, object)
  if spec.values == "special":
    values = np.array([float(w) for w in _FLOAT_SPECIALS])
    return np.resize(values, spec.shape).astype(dtype)
  seed = zlib.crc32(f"{case.topic}/{case.name}/{index}".encode())
  drawn = _draw(np.random.default_rng(seed), spec)
  return np.asarray(drawn).astype(dtype)
