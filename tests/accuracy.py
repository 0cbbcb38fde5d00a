#!/usr/bin/env python3
"""How far results are from the same computation in float64, in Tenon, TensorFlow and its peers.

  tests/accuracy.py [--sides NAME,…] [--only REGEX] [--limit 1.2] [--json FILE]
  tests/accuracy.py --page      writes the tables of docs/NUMERICS.md (some minutes)

Each case is a small graph with seeded inputs, which are the same for everyone. TensorFlow computes
it in float64; then each side computes it in float32, or its contractions in bfloat16. A figure
is the root mean square of the differences, divided by that of the results, in units of 1e-7. The
last column is Tenon's error over TensorFlow's. n/a: that side cannot load the graph;
the reason is printed.

With --limit, cases above it are listed and the exit status is 1.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]

# pylint: disable=wrong-import-position
import environments

PAGE = ROOT / "docs" / "NUMERICS.md"
MARK = "<!-- Written by tests/accuracy.py --page; do not edit. -->\n"


class Side(NamedTuple):
  """Who computes the cases, and how."""
  title: str
  who: str
  gate: str = "1"  # TF_ENABLE_ONEDNN_OPTS
  isa: str = ""  # ONEDNN_MAX_CPU_ISA
  bf16: bool = False
  wide: bool = False

  def environment(self) -> dict[str, str]:
    limit = {"ONEDNN_MAX_CPU_ISA": self.isa} if self.isa else {}
    return dict(os.environ, TF_ENABLE_ONEDNN_OPTS=self.gate,
                TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", **limit)


# The kernels of ONNX Runtime, and those of TensorFlow with the gate off, know no limit.
SIDES = {
    "tenon": Side("Tenon", "tenon"),
    "tenon_off": Side("gate off", "tenon", gate="0"),
    "tensorflow": Side("TensorFlow", "tensorflow"),
    "tensorflow_off": Side("gate off", "tensorflow", gate="0"),
    "openvino": Side("OpenVINO", "openvino"),
    "onnxruntime": Side("ONNX Runtime", "onnxruntime"),
    "tenon_avx2": Side("Tenon, AVX2", "tenon", isa="AVX2"),
    "tensorflow_avx2": Side("TensorFlow, AVX2", "tensorflow", isa="AVX2"),
    "openvino_avx2": Side("OpenVINO, AVX2", "openvino", isa="AVX2"),
    "tenon_bf16": Side("Tenon", "tenon", bf16=True),
    "tensorflow_bf16": Side("TensorFlow", "tensorflow", bf16=True),
    "openvino_bf16": Side("OpenVINO", "openvino", bf16=True),
}
WIDE = Side("float64", "tensorflow", gate="0", wide=True)
IN_FLOAT = [name for name, side in SIDES.items() if not side.bf16]
IN_BFLOAT16 = [name for name, side in SIDES.items() if side.bf16]


# ---- In processes of their own: the graphs, and their results ------------------------------------


def graph_of(case: Any, values: list[Any], wide: bool) -> Any:
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  from tensorflow.python.framework import convert_to_constants  # pylint: disable=import-outside-toplevel
  dtype = tf.float64 if wide else tf.float32
  fed = values[:case.constants]

  def run(*inputs: Any) -> Any:
    constants = [tf.constant(v, dtype) for v in values[case.constants:]]
    return tf.identity(case.build(tf, *inputs, *constants), "result")

  function = tf.function(run, autograph=False).get_concrete_function(
      *[tf.TensorSpec(v.shape, dtype, f"in{i}") for i, v in enumerate(fed)])
  return convert_to_constants.convert_variables_to_constants_v2(
      function, lower_control_flow=False).graph.as_graph_def()


def write_cases(folder: pathlib.Path, only: str) -> None:
  """NUMBER.pb, NUMBERw.pb in float64, and the inputs as NUMBER.npz."""
  import accuracy_cases  # pylint: disable=import-outside-toplevel
  import numpy as np  # pylint: disable=import-outside-toplevel
  for i, case in enumerate(accuracy_cases.cases()):
    if not re.search(only, case.name):
      continue
    values = accuracy_cases.values_of(case)
    for wide in (False, True):
      graph = graph_of(case, values, wide)
      (folder / f"{i}{'w' if wide else ''}.pb").write_bytes(graph.SerializeToString())
    np.savez(folder / f"{i}.npz", **{
        f"in{j}": v for j, v in enumerate(values[:case.constants])})


def run_tenon(side: Side, tenon: pathlib.Path, path: pathlib.Path) -> Any:
  import numpy as np  # pylint: disable=import-outside-toplevel
  out = path.with_suffix(".out.npz")
  done = subprocess.run(
      [tenon, "run", path, "--fetch", "result:0", "--threads", "1",
       "--precision", "bf16" if side.bf16 else "fp32", "--inputs",
       path.with_suffix(".npz"), "--outputs", out],
      capture_output=True, text=True, check=False)
  if done.returncode != 0:
    raise RuntimeError(done.stderr.strip())
  with np.load(out) as arrays:
    return next(iter(arrays.values()))


def run_tensorflow(side: Side, path: pathlib.Path, inputs: dict[str, Any]) -> Any:
  import numpy as np  # pylint: disable=import-outside-toplevel
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  from tensorflow.core.protobuf import rewriter_config_pb2  # pylint: disable=import-outside-toplevel
  config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1,
                                    inter_op_parallelism_threads=1)
  if side.bf16:
    rewrite = config.graph_options.rewrite_options
    rewrite.auto_mixed_precision_onednn_bfloat16 = rewriter_config_pb2.RewriterConfig.ON
    rewrite.min_graph_nodes = -1  # smaller graphs would not be rewritten
  definition = tf.compat.v1.GraphDef()
  definition.ParseFromString(
      path.with_stem(path.stem + "w" * side.wide).read_bytes())
  with tf.Graph().as_default() as graph:
    tf.import_graph_def(definition, name="")
    dtype = np.float64 if side.wide else np.float32
    with tf.compat.v1.Session(graph=graph, config=config) as session:
      return session.run("result:0", {
          f"{k}:0": v.astype(dtype) for k, v in inputs.items()})


def run_peer(side: Side, path: pathlib.Path, inputs: dict[str, Any]) -> Any:
  """As bench/compare does: OpenVINO reads the graph, ONNX Runtime what tf2onnx makes of it."""
  import conversions  # pylint: disable=import-outside-toplevel
  import peer_backends  # pylint: disable=import-outside-toplevel
  if side.who == "openvino":
    backend = peer_backends.openvino(path, inputs, 1, "bf16" if side.bf16 else "f32")
  else:
    import tensorflow as tf  # pylint: disable=import-outside-toplevel
    graph = tf.compat.v1.GraphDef()
    graph.ParseFromString(path.read_bytes())
    model = path.with_suffix(".onnx")
    model.write_bytes(conversions.to_onnx(graph, [f"{k}:0" for k in inputs], ["result:0"]))
    backend = peer_backends.onnxruntime(model, inputs, 1)
  backend.run()
  return backend.outputs()[0]


def run_cases(name: str, tenon: pathlib.Path, folder: pathlib.Path, only: str) -> None:
  """Writes NUMBER.NAME.npy for each case that the side can compute."""
  import accuracy_cases  # pylint: disable=import-outside-toplevel
  import numpy as np  # pylint: disable=import-outside-toplevel
  side = SIDES.get(name, WIDE)
  for i, case in enumerate(accuracy_cases.cases()):
    if not re.search(only, case.name):
      continue
    if side.bf16 and not accuracy_cases.IN_BFLOAT16.match(case.name):
      continue
    path = folder / f"{i}.pb"
    with np.load(path.with_suffix(".npz")) as arrays:
      inputs = dict(arrays)
    try:
      if side.who == "tenon":
        result = run_tenon(side, tenon, path)
      elif side.who == "tensorflow":
        result = run_tensorflow(side, path, inputs)
      else:
        result = run_peer(side, path, inputs)
    except RuntimeError as error:  # a peer's refusal is one, too
      print(f"{name}: {case.name}: {' '.join(str(error).split())[:300]}", file=sys.stderr)
      continue
    np.save(folder / f"{i}.{name}.npy", result)


# ---- Figures -------------------------------------------------------------------------------------


def start(step: str, args: argparse.Namespace, folder: pathlib.Path) -> None:
  subprocess.run(
      [sys.executable, __file__, "--step", step, "--folder", folder, "--only",
       args.only, "--tenon", args.tenon], check=True,
      env=SIDES.get(step, WIDE).environment())


def error(got: Any, wanted: Any) -> float:
  import numpy as np  # pylint: disable=import-outside-toplevel
  difference = got.astype(np.float64) - wanted
  return float(np.sqrt(np.mean(difference ** 2) / np.mean(wanted ** 2)))


def measure(args: argparse.Namespace) -> dict[str, dict[str, float | None]]:
  """By case and side; None where the side cannot compute the case."""
  import accuracy_cases  # pylint: disable=import-outside-toplevel
  import numpy as np  # pylint: disable=import-outside-toplevel
  figures = {}
  with tempfile.TemporaryDirectory() as home:
    folder = pathlib.Path(home)
    for step in ("write", "wide", *args.sides):
      start(step, args, folder)
    for i, case in enumerate(accuracy_cases.cases()):
      if not (folder / f"{i}.wide.npy").exists():
        continue
      wanted = np.load(folder / f"{i}.wide.npy")
      results = {name: folder / f"{i}.{name}.npy" for name in args.sides}
      figures[case.name] = {
          name: error(np.load(path), wanted) if path.exists() else None
          for name, path in results.items()}
  return figures


def figure(value: float | None, unit: float) -> str:
  if value is None:
    return "n/a"
  return f"{value / unit:.{2 if value < 2 * unit else 1}f}"


def table(figures: dict[str, dict[str, float | None]], sides: list[str], unit: float) -> str:
  """In Markdown."""
  lines = [["case", *(SIDES[s].title for s in sides)], ["---"] * (len(sides) + 1)]
  lines += [[name, *(figure(row[s], unit) for s in sides)] for name, row in figures.items()]
  return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def write_page(figures: dict[str, dict[str, float | None]]) -> None:
  """Replaces what follows MARK, up to the end."""
  import accuracy_cases  # pylint: disable=import-outside-toplevel
  import report  # pylint: disable=import-outside-toplevel
  machine = report.machine()
  versions = ", ".join(
      f"{name} {importlib.metadata.version(package)}" for name, package in (
          ("TensorFlow", "tensorflow-cpu"), ("OpenVINO", "openvino"),
          ("ONNX Runtime", "onnxruntime"), ("tf2onnx", "tf2onnx")))
  contractions = {name: row for name, row in figures.items()
                  if accuracy_cases.IN_BFLOAT16.match(name)}
  text = PAGE.read_text(encoding="utf-8")
  PAGE.write_text(
      f"{text.partition(MARK)[0]}{MARK}\n"
      f"{machine['cpu']} ({', '.join(machine['isa'])}), one thread; {versions}.\n\n"
      f"{table(figures, IN_FLOAT, 1e-7)}\n"
      "Contractions in bfloat16, in units of 1e-3:\n\n"
      f"{table(contractions, IN_BFLOAT16, 1e-3)}", encoding="utf-8")


def main() -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=ROOT / "build" / "bin" / "tenon")
  parser.add_argument("--sides", type=lambda text: text.split(","), default=IN_FLOAT[:6],
                      help=f"of {','.join(SIDES)}; default: the first six")
  parser.add_argument("--only", default="")
  parser.add_argument("--limit", type=float, default=0)
  parser.add_argument("--json", type=pathlib.Path)
  parser.add_argument("--page", action="store_true")
  parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
  parser.add_argument("--step", help=argparse.SUPPRESS)
  args = parser.parse_args()
  if unknown := [s for s in args.sides if s not in SIDES]:
    parser.error(f"unknown sides: {', '.join(unknown)}")
  environments.reexec("peers")
  if args.step == "write":
    write_cases(args.folder, args.only)
    return 0
  if args.step:
    run_cases(args.step, args.tenon, args.folder, args.only)
    return 0
  if args.page:
    args.sides, args.only = list(SIDES), ""
  figures = measure(args)
  if args.json:
    args.json.write_text(json.dumps(figures, indent=1) + "\n")
  if args.page:
    write_page(figures)
    return 0
  print(f"{'case':52}", *args.sides, "ratio")
  above = []
  for name, row in figures.items():
    ours, theirs = (row.get(side) for side in ("tenon", "tensorflow"))
    ratio = ours / max(theirs, 1e-12) if ours and theirs else 0
    print(f"{name:52}", *(f"{figure(row[s], 1e-7):>{len(s)}}" for s in args.sides),
          f"{ratio:5.2f}")
    # Below this, results differ by their own rounding.
    if args.limit and ratio > args.limit and ours > 2 ** -24:
      above.append(name)
  if above:
    print(f"above {args.limit}: {'; '.join(above)}")
  return 1 if above else 0


if __name__ == "__main__":
  sys.exit(main())
