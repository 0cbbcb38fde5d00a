#!/usr/bin/env python3
"""A model of several gigabytes loads and runs without twice its size in memory, and a memory limit below its size refuses it.

  tests/large_model.py [--gigabytes 5] [--folder /tmp]      (PYTHONPATH: the package tenon)

Writes a SavedModel whose checkpoint is a sparse file (weights of zeros, but for one number each), so that it takes no room on the disk.
Loads and runs it in a process of its own and prints the times and the largest resident set, with pages of the file and without.
Exits with 1 if that is more than 1.25 times the weights, if the result is wrong, or if the limit does not hold.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

SIZE = 4096  # each weight is a square matrix of floats: 64 MiB
WEIGHT = 4 * SIZE * SIZE


# ---- protocol buffers and tables, as far as a checkpoint's index needs them ----


def varint(n: int) -> bytes:
  out = b""
  while n > 127:
    out, n = out + bytes([n % 128 | 128]), n // 128
  return out + bytes([n])


def field(tag: int, value: int | bytes) -> bytes:
  if isinstance(value, int):
    return varint(tag << 3) + varint(value)
  return varint(tag << 3 | 2) + varint(len(value)) + value


def masked_crc(data: bytes) -> int:
  """CRC-32C, masked as in leveldb's tables."""
  crc = 0xFFFFFFFF
  for byte in data:
    crc ^= byte
    for _ in range(8):
      crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
  crc ^= 0xFFFFFFFF
  return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def table(entries: list[tuple[bytes, bytes]]) -> bytes:
  """A leveldb table of one block, of entries in order."""
  out = b""

  def add(block: list[tuple[bytes, bytes]]) -> bytes:
    """Appends a block; gives its handle."""
    nonlocal out
    data, restarts = b"", []
    for key, value in block:
      restarts.append(len(data))
      data += varint(0) + varint(len(key)) + varint(len(value)) + key + value
    restarts = restarts or [0]
    data += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    handle = varint(len(out)) + varint(len(data))
    out += data + b"\0" + struct.pack("<I", masked_crc(data + b"\0"))
    return handle

  data = add(entries)
  meta = add([])
  index = add([(entries[-1][0], data)])
  return out + (meta + index).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def write_checkpoint(folder: pathlib.Path, names: list[str]) -> None:
  shape = field(2, field(1, SIZE)) * 2
  entries = [(b"", field(1, 1) + field(2, 0) + field(3, field(1, 1)))]
  with open(folder / "variables.data-00000-of-00001", "wb") as data:
    for i, name in enumerate(names):
      # BundleEntryProto: dtype, shape, shard_id, offset, size
      entries.append((name.encode(), field(1, 1) + field(2, shape) + field(3, 0) + field(4, i * WEIGHT) + field(5, WEIGHT)))
      data.seek(i * WEIGHT)
      data.write(struct.pack("<f", i + 1))
    data.truncate(len(names) * WEIGHT)
  (folder / "variables.index").write_bytes(table(sorted(entries)))


# ---- the graph ----


def node(name: str, op: str, *inputs: str, **attrs: str) -> str:
  parts = [f'name: "{name}" op: "{op}"', *(f'input: "{i}"' for i in inputs)]
  parts += [f'attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attrs.items()]
  return "node { " + " ".join(parts) + " }\n"


def strings(name: str, values: list[str]) -> str:
  texts = " ".join(f'string_val: "{v}"' for v in values)
  return node(name, "Const", dtype="type: DT_STRING", value="tensor { dtype: DT_STRING tensor_shape { dim { size: "
              f"{len(values)} }} }} {texts} }}")


def write_model(folder: pathlib.Path, weights: int) -> None:
  """y is the sum of the products of x with each weight."""
  names = [f"w{i:04}" for i in range(weights)]
  square = f"dim {{ size: {SIZE} }} dim {{ size: {SIZE} }}"
  floats = "type: DT_FLOAT"
  graph = node("x", "Placeholder", dtype=floats, shape=f"shape {{ dim {{ size: -1 }} dim {{ size: {SIZE} }} }}")
  for name in names:
    graph += node(name, "VarHandleOp", dtype=floats, shape=f"shape {{ {square} }}", shared_name=f's: "{name}"')
    graph += node(f"{name}/read", "ReadVariableOp", name, dtype=floats)
    graph += node(f"{name}/product", "MatMul", "x", f"{name}/read", T=floats)
  graph += node("y", "AddN", *(f"{n}/product" for n in names), T=floats, N=f"i: {len(names)}")
  graph += node("save/prefix", "Const", dtype="type: DT_STRING",
                value='tensor { dtype: DT_STRING tensor_shape { } string_val: "model" }')
  graph += strings("save/names", names) + strings("save/slices", [""] * len(names))
  types = " ".join("type: DT_FLOAT" for _ in names)
  graph += node("save/restore", "RestoreV2", "save/prefix", "save/names", "save/slices", dtypes=f"list {{ {types} }}")
  for i, name in enumerate(names):
    graph += node(f"save/assign{i}", "AssignVariableOp", name, f"save/restore:{i}", dtype=floats)
  graph += node("save/restore_all", "NoOp", *(f"^save/assign{i}" for i in range(len(names))))
  tensor = "tensor_shape { dim { size: -1 } dim { size: " + str(SIZE) + " } }"
  (folder / "variables").mkdir(parents=True)
  (folder / "saved_model.pbtxt").write_text(
      "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: \"serve\" } graph_def { " + graph + " } "
      'saver_def { filename_tensor_name: "save/prefix:0" restore_op_name: "save/restore_all" } '
      'signature_def { key: "serving_default" value { '
      f'inputs {{ key: "x" value {{ name: "x:0" dtype: DT_FLOAT {tensor} }} }} '
      f'outputs {{ key: "y" value {{ name: "y:0" dtype: DT_FLOAT {tensor} }} }} '
      'method_name: "tensorflow/serving/predict" } } }')
  write_checkpoint(folder / "variables", names)


# ---- loading it ----


def resident() -> dict[str, int]:
  """Bytes of this process in memory now, and the most so far, pages of files included."""
  status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
  return {key: int(status[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM", "RssAnon")}


def load(folder: str, limit: int) -> dict:
  """In this process."""
  import numpy as np
  import tenon
  start = time.perf_counter()
  before = resident()
  try:
    model = tenon.load(folder, memory_limit=limit or None)
    loaded = time.perf_counter()
    x = np.zeros((2, SIZE), np.float32)
    x[0, 0], x[1, 0] = 1, -2
    y = model.run({"x": x})["y"]
  except tenon.ResourceExhaustedError as error:
    return {"error": str(error), "before": before, "after": resident()}
  done = time.perf_counter()
  return {"load_s": loaded - start, "first_run_s": done - loaded, "y": [float(y[0, 0]), float(y[1, 0]), float(np.abs(y[:, 1:]).max())],
          "before": before, "after": resident(), "memory": vars(model.memory())}


def in_process(folder: pathlib.Path, limit: int = 0) -> dict:
  done = subprocess.run([sys.executable, __file__, "--load", str(folder), "--limit", str(limit)], capture_output=True, text=True,
                        check=False)
  if done.returncode != 0:
    raise RuntimeError(done.stderr[-2000:])
  return json.loads(done.stdout)


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
  parser.add_argument("--gigabytes", type=float, default=5)
  parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
  parser.add_argument("--load")
  parser.add_argument("--limit", type=int, default=0)
  args = parser.parse_args()
  if args.load:
    print(json.dumps(load(args.load, args.limit)))
    return 0
  weights = max(1, round(args.gigabytes * 1e9 / WEIGHT))
  size = weights * WEIGHT
  failures = []
  with tempfile.TemporaryDirectory(dir=args.folder) as scratch:
    folder = pathlib.Path(scratch) / "model"
    write_model(folder, weights)
    found = in_process(folder)
    print(json.dumps(found, indent=2))
    peak = found["after"]["VmHWM"] - found["before"]["VmRSS"]
    print(f"weights {size / 1e9:.2f} GB; largest resident set {peak / 1e9:.2f} GB, {peak / size:.2f} times; loaded in "
          f"{found['load_s']:.1f} s, first run {found['first_run_s']:.1f} s")
    if peak > 1.25 * size:
      failures.append("more than 1.25 times the weights in memory")
    total = weights * (weights + 1) / 2
    if found["y"] != [total, -2 * total, 0]:
      failures.append(f"result {found['y']}, not {total}")
    refused = in_process(folder, size // 2)
    print(refused.get("error"))
    if "memory limit" not in refused.get("error", "") or refused["after"]["RssAnon"] > refused["before"]["RssAnon"] + size // 2:
      failures.append("the limit did not hold")
    enough = in_process(folder, int(1.25 * size))
    if "error" in enough:
      failures.append(f"refused at 1.25 times its size: {enough['error']}")
  print("\n".join(failures) or "passed")
  return 1 if failures else 0


if __name__ == "__main__":
  sys.exit(main())
