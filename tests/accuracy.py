#!/usr/bin/env python3
"""How far results are from the same computation in float64, in Tenon, TensorFlow and its peers.

  tests/accuracy.py [--sides NAME,…] [--only REGEX] [--limit 1.2] [--json FILE]
  tests/accuracy.py --random 4  random shapes and values of every accelerated family, so many per op
  tests/accuracy.py --page      writes the tables of docs/NUMERICS.md (some minutes)

Each case is a small graph with seeded inputs, which are the same for everyone. TensorFlow computes
it in float64; then each side computes it in float32, or its contractions in bfloat16. A figure
is the root mean square of the differences, divided by that of the results, in units of 1e-7. The
last column is Tenon's error over TensorFlow's. n/a: that side cannot load the graph;
the reason is printed.

With --limit, cases above it are listed and the exit status is 1. --random also puts NaN, infinities,
a denormal, minus zero and a huge number into each case's inputs, and lists where results deviate
from TensorFlow's; --seed draws other problems.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
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
import accuracy_page
import environments


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
OF_FAMILIES = ["tenon", "tenon_off", "tensorflow", "tensorflow_off", "tenon_avx2",
               "tensorflow_avx2"]
SPECIAL_SIDES = ["tenon", "tensorflow", "tensorflow_off"]
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


def chosen(args: argparse.Namespace) -> list[tuple[int, Any]]:
  """The cases with their numbers, which name files."""
  if args.random:
    import accuracy_families  # pylint: disable=import-outside-toplevel
    every = accuracy_families.cases(args.seed, args.random)
  else:
    import accuracy_cases  # pylint: disable=import-outside-toplevel
    every = accuracy_cases.cases()
  return [(i, case) for i, case in enumerate(every)
          if re.search(args.only, f"{case.family}: {case.name}" if case.family else case.name)]


def write_cases(args: argparse.Namespace) -> None:
  """NUMBER.pb, NUMBERw.pb in float64, and the inputs as NUMBER.npz, with special values as
  NUMBER.special.npz."""
  import accuracy_cases  # pylint: disable=import-outside-toplevel
  import numpy as np  # pylint: disable=import-outside-toplevel
  folder = args.folder
  for i, case in chosen(args):
    values = accuracy_cases.values_of(case)
    for wide in (False, True):
      graph = graph_of(case, values, wide)
      (folder / f"{i}{'w' if wide else ''}.pb").write_bytes(graph.SerializeToString())
    inputs = {f"in{j}": v for j, v in enumerate(values[:case.constants])}
    np.savez(folder / f"{i}.npz", **inputs)
    if case.family:
      import accuracy_families  # pylint: disable=import-outside-toplevel
      np.savez(folder / f"{i}.special.npz", **accuracy_families.with_special(case, inputs))


def run_tenon(side: Side, tenon: pathlib.Path, path: pathlib.Path, special: bool = False) -> Any:
  import numpy as np  # pylint: disable=import-outside-toplevel
  out = path.with_suffix(".out.npz")
  steps = []
  if special:
    import accuracy_families  # pylint: disable=import-outside-toplevel
    steps = ["--stacked", "--steps", str(len(accuracy_families.SPECIAL))]
  done = subprocess.run(
      [tenon, "run", path, "--fetch", "result:0", "--threads", "1",
       "--precision", "bf16" if side.bf16 else "fp32", "--inputs",
       path.with_suffix(".special.npz" if special else ".npz"), "--outputs", out, *steps],
      capture_output=True, text=True, check=False)
  if done.returncode != 0:
    raise RuntimeError(done.stderr.strip())
  with np.load(out) as arrays:
    return next(iter(arrays.values()))


def run_tensorflow(side: Side, path: pathlib.Path, *feeds: dict[str, Any]) -> list[Any]:
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
      return [session.run("result:0", {
          f"{k}:0": v.astype(dtype) if v.dtype.kind == "f" else v for k, v in inputs.items()})
              for inputs in feeds]


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


def run_cases(name: str, args: argparse.Namespace) -> None:
  """Writes NUMBER.NAME.npy for each case that the side can compute, and NUMBER.NAME.special.npy."""
  import accuracy_cases  # pylint: disable=import-outside-toplevel
  import numpy as np  # pylint: disable=import-outside-toplevel
  side = SIDES.get(name, WIDE)
  for i, case in chosen(args):
    if side.bf16 and not accuracy_cases.IN_BFLOAT16.match(case.name):
      continue
    path = args.folder / f"{i}.pb"
    feeds = [dict(np.load(path.with_suffix(".npz")))]
    compute(name, side, args, case, path, feeds)
    if case.family and name in SPECIAL_SIDES:
      stacked = dict(np.load(path.with_suffix(".special.npz")))
      steps = len(next(iter(stacked.values())))
      feeds = [{k: v[step] for k, v in stacked.items()} for step in range(steps)]
      compute(name, side, args, case, path, feeds, special=True)


def compute(name: str, side: Side, args: argparse.Namespace, case: Any, path: pathlib.Path,
            feeds: list[dict[str, Any]], special: bool = False) -> None:
  import numpy as np  # pylint: disable=import-outside-toplevel
  try:
    if side.who == "tenon":
      results = run_tenon(side, args.tenon, path, special)
    elif side.who == "tensorflow":
      results = np.stack(run_tensorflow(side, path, *feeds))
      results = results if special else results[0]
    else:
      results = run_peer(side, path, feeds[0])
  except Exception as error:  # pylint: disable=broad-exception-caught
    # A refusal; each side has its own exceptions.
    with_ = " with special values" if special else ""
    print(f"{name}: {case.name}{with_}: {' '.join(str(error).split())[:200]}", file=sys.stderr)
    return
  np.save(path.with_name(f"{path.stem}.{name}{'.special' if special else ''}.npy"), results)


# ---- Figures -------------------------------------------------------------------------------------


def start(step: str, args: argparse.Namespace, folder: pathlib.Path) -> None:
  subprocess.run(
      [sys.executable, __file__, "--step", step, "--folder", folder, "--only", args.only, "--random",
       str(args.random), "--seed", str(args.seed), "--tenon", args.tenon], check=True,
      env=SIDES.get(step, WIDE).environment())


def error(got: Any, wanted: Any) -> float:
  """Infinities and NaN are not compared; a family of cases does so on its own."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  finite = np.isfinite(wanted)
  got, wanted = got[finite], wanted[finite]
  rms = np.sqrt(np.mean(np.abs(wanted) ** 2))
  difference = np.abs(got.astype(wanted.dtype) - wanted)
  if not rms:
    return math.inf if np.any(difference) else 0.0
  return float(np.sqrt(np.mean(difference ** 2)) / rms)


def measure(args: argparse.Namespace) -> list[accuracy_page.Row]:
  import numpy as np  # pylint: disable=import-outside-toplevel
  rows = []
  with tempfile.TemporaryDirectory() as home:
    folder = pathlib.Path(home)
    for step in ("write", "wide", *args.sides):
      start(step, args, folder)
    for i, case in chosen(args):
      if not (folder / f"{i}.wide.npy").exists():
        continue
      wanted = np.load(folder / f"{i}.wide.npy")
      results = {name: folder / f"{i}.{name}.npy" for name in args.sides}
      figures = {name: error(np.load(path), wanted) if path.exists() else None
                 for name, path in results.items()}
      special = {name: np.load(path) for name in args.sides
                 if (path := folder / f"{i}.{name}.special.npy").exists()}
      rows.append(accuracy_page.Row(case.family, case.name, figures,
                                    accuracy_page.deviations(case.family, special)))
  return rows


def on_page(args: argparse.Namespace) -> None:
  """The tables: of the fixed cases, and of random ones."""
  args.sides, args.only = list(SIDES), ""
  if not args.random:
    fixed = measure(args)
    accuracy_page.write_cases(fixed, [(n, SIDES[n].title) for n in IN_FLOAT],
                              [(n, SIDES[n].title) for n in IN_BFLOAT16])
  args.sides, args.random = OF_FAMILIES, args.random or 2
  accuracy_page.write_families(measure(args), args.random)


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
  parser.add_argument("--random", type=int, default=0)
  parser.add_argument("--seed", type=int, default=16)
  parser.add_argument("--page", action="store_true")
  parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
  parser.add_argument("--step", help=argparse.SUPPRESS)
  args = parser.parse_args()
  if unknown := [s for s in args.sides if s not in SIDES]:
    parser.error(f"unknown sides: {', '.join(unknown)}")
  environments.reexec("peers")
  if args.step == "write":
    write_cases(args)
    return 0
  if args.step:
    run_cases(args.step, args)
    return 0
  if args.page:
    on_page(args)
    return 0
  rows = measure(args)
  if args.json:
    args.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
  print(f"{'case':52}", *args.sides, "ratio")
  for row in rows:
    print(f"{row.name:52}", *(f"{accuracy_page.figure(row.figures[s], 1e-7):>{len(s)}}"
                              for s in args.sides), f"{row.ratio():5.2f}")
  for row in rows:
    for kind, what in (row.special or {}).items():
      print(f"{row.family}: {row.name}: {kind}: {what}")
  above = [row.name for row in rows if args.limit and row.ratio() > args.limit]
  if above:
    print(f"above {args.limit}: {'; '.join(above)}")
  return 1 if above else 0


if __name__ == "__main__":
  sys.exit(main())
