#!/usr/bin/env python3
"""Writes the first inputs of each fuzz target, taken from the tests' own models and cases.

  tests/fuzz/seeds.py FOLDER         makes FOLDER/TARGET/… and FOLDER/words.dict

The inputs of tests/fuzz/corpus are those that fuzzing found on top of them.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import struct

TESTS = pathlib.Path(__file__).resolve().parent.parent
MOST_BYTES = 64 << 10
ATTRIBUTES = (
    "T", "N", "dtype", "shape", "value", "float", "int32", "int64", "half",
    "bfloat16", "string", "padding", "SAME", "VALID", "data_format", "NCHW",
    "strides", "dilations", "ksize", "keep_dims", "transpose_a", "adj_x",
    "_output_shapes", "attr {", "tensor_content", "DT_FLOAT", "dim { size: -1 }")


def models(pattern: str) -> dict[str, bytes]:
  """Files of models that are small enough, by name."""
  found = {}
  for path in sorted(TESTS.rglob(pattern)):
    if path.stat().st_size <= MOST_BYTES and "corpus" not in path.parts:
      found["_".join(path.relative_to(TESTS).parts)] = path.read_bytes()
  return found


def rewrite_cases() -> dict[str, bytes]:
  """The graphs of tests/rewrite, without what is expected of them."""
  found = {}
  for path in sorted((TESTS / "rewrite").glob("*.graph")):
    for number, case in enumerate(path.read_text().split("\n=== ")):
      _, separator, graph = case.partition("\n---\n")
      if separator:
        found[f"{path.stem}_{number}"] = graph.encode()
  return found


def checkpoints() -> dict[str, bytes]:
  """Tables as they are (a 1), with and without checksums, without a shard."""
  return {f"{name}_{verify}": struct.pack("<BBH", 1, verify, 0) + index
          for name, index in models("variables.index").items()
          for verify in (0, 1)}


def text_models() -> dict[str, bytes]:
  """Prebuilt models of text ops, after the byte that says which op."""
  files = TESTS / "numerics" / "files"
  return {path.stem: bytes([path.name.startswith("text_normalizer")]) + path.read_bytes()
          for path in sorted(files.glob("text_*.bin"))
          if path.stat().st_size <= MOST_BYTES and "spaces" not in path.name}


def fields(message: bytes, number: int) -> list[bytes]:
  """The texts and messages in that field of a protocol buffer."""
  found, at = [], 0

  def varint() -> int:
    nonlocal at
    value = shift = 0
    while True:
      byte = message[at]
      at += 1
      value |= (byte & 127) << shift
      shift += 7
      if byte < 128:
        return value

  while at < len(message):
    key = varint()
    if key & 7 == 2:
      size = varint()
      if key >> 3 == number:
        found.append(message[at:at + size])
      at += size
    elif key & 7 == 0:
      varint()
    else:
      at += 8 if key & 7 == 1 else 4
  return found


def modules() -> dict[str, bytes]:
  """StableHLO of the tests' JAX models, after the bytes for the op's version and its form."""
  found = {}
  for path in sorted((TESTS / "models" / "jax").glob("*/saved_model/saved_model.pb")):
    (library,) = fields(fields(fields(path.read_bytes(), 2)[0], 2)[0], 2)
    nodes = [node for function in fields(library, 1) for node in fields(function, 3)]
    calls = [node for node in nodes if fields(node, 2) == [b"XlaCallModule"]]
    texts = [fields(fields(attr, 2)[0], 2)[0] for node in calls for attr in fields(node, 5)
             if fields(attr, 1) == [b"module"]]
    for number, text in enumerate(texts):
      if len(text) <= MOST_BYTES:
        found[f"{path.parts[-3]}_{number}"] = bytes(2) + text
  return found


def words() -> str:
  """libFuzzer's dictionary: the names of all ops, as docs/OPS.md lists them, and of attributes."""
  page = (TESTS.parent / "docs" / "OPS.md").read_text()
  ops = re.findall(r"^\| (\w+) \|", page.partition("## Every op")[2], re.M)[1:]
  return "".join(f'"{word}"\n' for word in [*ops, *ATTRIBUTES])


def seeds() -> dict[str, dict[str, bytes]]:
  """The seeds of each target that has any."""
  arrays = models("*.npz")
  graphs = {k: v for k, v in models("*.pb").items()
            if not k.endswith(("saved_model.pb", "fingerprint.pb"))}
  return {"saved_model": models("saved_model.pb"),
          "graph_def": graphs,
          "graph_def_text": models("*.pbtxt"),
          "rewrite_text": rewrite_cases(),
          "checkpoint": checkpoints(),
          "stablehlo": modules(),
          "text_model": text_models(),
          "npz": dict(list(arrays.items())[:50])}


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("folder", type=pathlib.Path)
  folder = parser.parse_args().folder
  for target, files in seeds().items():
    (folder / target).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
      (folder / target / name).write_bytes(content)
    print(f"{target}: {len(files)} seeds")
  (folder / "words.dict").write_text(words())


if __name__ == "__main__":
  main()
