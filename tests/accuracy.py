#!/usr/bin/env python3
"""How far results are from the same computation in float64, in Tenon and TensorFlow.

  tests/accuracy.py [--tenon build/bin/tenon] [--only REGEX] [--isa avx2]
                    [--limit 1.2] [--markdown] [--json FILE]

Each case is a small graph with seeded inputs, which are the same for everyone. TensorFlow computes
it in float64; then Tenon and TensorFlow, both with oneDNN on (1) and off (0),
compute it in float32. A figure is the root mean square of the differences, divided
by that of the results, in units of 1e-7. The last column is Tenon's error with oneDNN on
over TensorFlow's by default, which is with oneDNN on.

With --limit, cases above it are listed and the exit status is 1. docs/NUMERICS.md
has the table.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools")]

# pylint: disable=wrong-import-position
import environments

SEED = 16
GATES = ("1", "0")


class Case(NamedTuple):
  """`build` gets TensorFlow and the inputs; those from `constants` on are constants."""
  name: str
  shapes: list[tuple[int, ...]]
  build: Callable[..., Any]
  constants: int = 99


def attention(tf: Any, q: Any, k: Any, v: Any) -> Any:
  scores = tf.matmul(q, k, transpose_b=True) * tf.cast(q.shape[-1] ** -0.5,
                                                       q.dtype)
  return tf.matmul(tf.nn.softmax(scores), v)


def layer_norm(tf: Any, x: Any) -> Any:
  mean = tf.reduce_mean(x, -1, keepdims=True)
  variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
  return (x - mean) * tf.math.rsqrt(variance + tf.cast(1e-5, x.dtype))


def batch_norm(tf: Any, x: Any, gamma: Any, beta: Any) -> Any:
  if x.dtype == tf.float32:
    return tf.compat.v1.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3)[0]
  mean, variance = tf.nn.moments(x, [0, 1, 2])
  return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)


def lstm(tf: Any, x: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
  """Keras's cell over all steps, as a TensorFlow 2 loop."""
  units = recurrent.shape[0]
  zeros = tf.zeros([x.shape[0], units], x.dtype)
  steps = tf.transpose(x, [1, 0, 2])

  def step(state: Any, row: Any) -> Any:
    h, c = state
    z = tf.matmul(row, kernel) + tf.matmul(h, recurrent) + bias
    i, f, g, o = tf.split(z, 4, axis=1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c

  return tf.scan(step, steps, (zeros, zeros))[0]


def product(m: int, k: int, n: int, constant: bool) -> Case:
  name = f"MatMul {m}x{k}x{n}{', constant weights' if constant else ''}"
  return Case(name, [(m, k), (k, n)], lambda tf, a, b: tf.matmul(a, b),
              1 if constant else 99)


def fused(m: int, k: int, n: int) -> Case:
  return Case(f"MatMul {m}x{k}x{n} + bias, GELU", [(m, k), (k, n), (n,)],
              lambda tf, a, b, c: tf.nn.gelu(
                  tf.nn.bias_add(tf.matmul(a, b), c) / k ** 0.5), 1)


def convolution(size: int, taps: int, inputs: int, outputs: int) -> Case:
  return Case(f"Conv2D {taps}x{taps} {size}x{size}x{inputs}, {outputs} filters",
              [(1, size, size, inputs), (taps, taps, inputs, outputs)],
              lambda tf, x, w: tf.nn.conv2d(x, w, 1, "SAME"), 1)


def reduction(op: str, name: str, shape: tuple[int, ...], axis: int) -> Case:
  return Case(f"{op}, {name}", [shape],
              lambda tf, x: getattr(tf, op)(x + tf.cast(1, x.dtype), axis))


def cases() -> list[Case]:
  all_cases = [product(m, k, 256, constant) for k in (64, 256, 384, 512, 768, 1024, 3072, 12288)
               for m in (1, 8, 128) for constant in (True, False)]
  all_cases += [fused(128, 768, 3072), fused(128, 3072, 768)]
  all_cases += [
      Case(f"BatchMatMul 4x64x{k}x64", [(4, 64, k), (4, k, 64)],
           lambda tf, a, b: tf.matmul(a, b)) for k in (64, 1024, 4096)]
  all_cases += [
      Case(f"Attention, {n} queries, {m} keys", [(1, 4, n, 64), (1, 4, m, 64), (1, 4, m, 64)],
           attention) for n, m in ((128, 128), (1, 2048), (256, 2048))]
  all_cases += [convolution(14, taps, c, c if taps == 1 else 64)
                for taps in (1, 3, 5) for c in (64, 256, 1024)]
  all_cases += [convolution(7, 1, 2048, 512), convolution(3, 3, 512, 512)]
  all_cases += [
      Case("Conv2D 3x3, stride 2, 14x14x256", [(1, 14, 14, 256), (3, 3, 256, 64)],
           lambda tf, x, w: tf.nn.conv2d(x, w, 2, "SAME"), 1),
      Case("DepthwiseConv2d 7x7, 14x14x256", [(1, 14, 14, 256), (7, 7, 256, 1)],
           lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME"), 1),
      Case("Conv3D 3x3x3, 8x8x8x64", [(1, 8, 8, 8, 64), (3, 3, 3, 64, 64)],
           lambda tf, x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"), 1),
      Case("Conv2DBackpropInput 3x3, 14x14x256", [(1, 14, 14, 256), (3, 3, 64, 256)],
           lambda tf, g, w: tf.nn.conv2d_transpose(g, w, [1, 14, 14, 64], 1), 1),
      Case("Conv2DBackpropFilter 3x3, 56x56x32", [(4, 56, 56, 32), (4, 56, 56, 32)],
           lambda tf, x, g: tf.compat.v1.nn.conv2d_backprop_filter(
               x, [3, 3, 32, 32], g, [1] * 4, "SAME"))]
  for op in ("reduce_sum", "reduce_mean"):
    all_cases += [reduction(op, "inner axis of 16x1000000", (16, 1000000), 1),
                  reduction(op, "outer axis of 100000x64", (100000, 64), 0),
                  reduction(op, "middle axis of 8x20000x33", (8, 20000, 33), 1)]
  all_cases += [
      Case("LayerNorm of 16x20000", [(16, 20000)], layer_norm),
      Case("FusedBatchNorm, training, 16x112x112x8",
           [(16, 112, 112, 8), (8,), (8,)], batch_norm),
      Case("Softmax of 16x100000", [(16, 100000)], lambda tf, x: tf.nn.softmax(x)),
      Case("LogSoftmax of 16x100000", [(16, 100000)], lambda tf, x: tf.nn.log_softmax(x)),
      Case("Cumsum, inner axis of 16x20000", [(16, 20000)], lambda tf, x: tf.cumsum(x, 1)),
      Case("SegmentSum, 10 segments of 10000x16", [(10000, 16)],
           lambda tf, x: tf.math.segment_sum(x, [i // 1000 for i in range(10000)])),
      Case("UnsortedSegmentSum, 10 segments of 10000x16", [(10000, 16)],
           lambda tf, x: tf.math.unsorted_segment_sum(
               x, [i % 10 for i in range(10000)], 10)),
      Case("AvgPool 56x56", [(4, 56, 56, 64)],
           lambda tf, x: tf.nn.avg_pool2d(x + tf.cast(1, x.dtype), 56, 1, "VALID")),
      Case("Einsum abc,cd->abd, c = 2048", [(4, 32, 2048), (2048, 256)],
           lambda tf, a, b: tf.einsum("abc,cd->abd", a, b), 1),
      Case("LSTM, 32 steps, 512 units", [(4, 32, 512), (512, 2048), (512, 2048), (2048,)],
           lambda tf, x, k, r, b: lstm(tf, x, k / 23, r / 23, b), 1),
  ]
  return all_cases


def values_of(case: Case) -> list[Any]:
  import numpy as np  # pylint: disable=import-outside-toplevel
  rng = np.random.default_rng(SEED)
  return [rng.standard_normal(shape, np.float32) for shape in case.shapes]


def graph_of(case: Case, values: list[Any], wide: bool) -> Any:
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
  """Graphs and inputs; run in a process with oneDNN off."""
  import numpy as np  # pylint: disable=import-outside-toplevel
  for i, case in enumerate(cases()):
    if not re.search(only, case.name):
      continue
    values = values_of(case)
    for wide in (False, True):
      graph = graph_of(case, values, wide)
      (folder / f"{i}{'w' if wide else ''}.pb").write_bytes(graph.SerializeToString())
    np.savez(folder / f"{i}.npz", **{
        f"in{j}": v for j, v in enumerate(values[:case.constants])})


def run_tensorflow(folder: pathlib.Path, suffix: str, side: str) -> None:
  import numpy as np  # pylint: disable=import-outside-toplevel
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  tf.config.threading.set_intra_op_parallelism_threads(1)
  tf.config.threading.set_inter_op_parallelism_threads(1)
  for path in sorted(folder.glob(f"[0-9]*[0-9]{suffix}.pb")) + sorted(
      folder.glob(f"[0-9]{suffix}.pb")):
    definition = tf.compat.v1.GraphDef()
    definition.ParseFromString(path.read_bytes())
    index = path.stem.removesuffix("w")
    with tf.Graph().as_default() as graph, np.load(folder / f"{index}.npz") as inputs:
      tf.import_graph_def(definition, name="")
      wide = np.float64 if suffix else np.float32
      with tf.compat.v1.Session(graph=graph) as session:
        result = session.run("result:0", {
            f"{k}:0": v.astype(wide) for k, v in inputs.items()})
    np.save(folder / f"{index}.{side}.npy", result)


def run_tenon(tenon: pathlib.Path, folder: pathlib.Path, index: int, gate: str,
              isa: str) -> Any:
  import numpy as np  # pylint: disable=import-outside-toplevel
  environment = dict(os.environ, TF_ENABLE_ONEDNN_OPTS=gate)
  if isa:
    environment["ONEDNN_MAX_CPU_ISA"] = isa.upper()
  out = folder / "out.npz"
  done = subprocess.run(
      [tenon, "run", folder / f"{index}.pb", "--fetch", "result:0", "--threads",
       "1", "--inputs", folder / f"{index}.npz", "--outputs", out],
      env=environment, capture_output=True, text=True, check=False)
  if done.returncode != 0:
    raise RuntimeError(done.stderr.strip())
  with np.load(out) as arrays:
    return next(iter(arrays.values()))


def error(got: Any, wanted: Any) -> float:
  import numpy as np  # pylint: disable=import-outside-toplevel
  difference = got.astype(np.float64) - wanted
  return float(np.sqrt(np.mean(difference ** 2) / np.mean(wanted ** 2)))


def worker(step: str, folder: pathlib.Path, only: str, isa: str) -> None:
  gate = "1" if step == "tf1" else "0"
  environment = dict(os.environ, TF_ENABLE_ONEDNN_OPTS=gate,
                     TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
  if isa:
    environment["ONEDNN_MAX_CPU_ISA"] = isa.upper()
  subprocess.run([sys.executable, __file__, "--step", step, "--folder", folder,
                  "--only", only], check=True, env=environment)


def measure(args: argparse.Namespace, folder: pathlib.Path) -> dict[str, dict]:
  import numpy as np  # pylint: disable=import-outside-toplevel
  if args.folder is None:
    for step in ("write", "wide", "tf1", "tf0"):
      worker(step, folder, args.only, args.isa)
  figures = {}
  for i, case in enumerate(cases()):
    if not (folder / f"{i}.wide.npy").exists() or not re.search(args.only, case.name):
      continue
    wanted = np.load(folder / f"{i}.wide.npy")
    row = {f"tensorflow_{g}": error(np.load(folder / f"{i}.tf{g}.npy"), wanted)
           for g in GATES}
    for gate in GATES:
      row[f"tenon_{gate}"] = error(run_tenon(args.tenon, folder, i, gate, args.isa),
                                   wanted)
    figures[case.name] = row
  return figures


def main() -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=ROOT / "build" / "bin" / "tenon")
  parser.add_argument("--only", default="")
  parser.add_argument("--isa", default="", help="limit instruction sets: avx2")
  parser.add_argument("--limit", type=float, default=0)
  parser.add_argument("--markdown", action="store_true")
  parser.add_argument("--json", type=pathlib.Path)
  parser.add_argument("--folder", type=pathlib.Path,
                      help="where an earlier run of --step left the cases")
  parser.add_argument("--step", choices=("write", "wide", "tf1", "tf0"),
                      help="only this part of the work, in --folder")
  args = parser.parse_args()
  environments.reexec("main")
  if args.step == "write":
    write_cases(args.folder, args.only)
    return 0
  if args.step:
    run_tensorflow(args.folder, "w" if args.step == "wide" else "", args.step)
    return 0
  if args.folder is None:
    with tempfile.TemporaryDirectory() as folder:
      figures = measure(args, pathlib.Path(folder))
  else:
    figures = measure(args, args.folder)
  if args.json:
    args.json.write_text(json.dumps(figures, indent=1) + "\n")
  bar = "|" if args.markdown else " "
  sides = [f"{who}_{gate}" for who in ("tenon", "tensorflow") for gate in GATES]
  print(bar, f"{'case':52}", bar, f" {bar} ".join(sides), bar, "ratio", bar)
  if args.markdown:
    print("|---" * (len(sides) + 2) + "|")
  above = []
  for name, row in figures.items():
    ratio = row["tenon_1"] / max(row["tensorflow_1"], 1e-12)
    cells = f" {bar} ".join(f"{row[s] * 1e7:{len(s)}.2f}" for s in sides)
    print(bar, f"{name:52}", bar, cells, bar, f"{ratio:5.2f}", bar)
    # Below this, results differ by their own rounding.
    if args.limit and ratio > args.limit and row["tenon_1"] > 2 ** -24:
      above.append(name)
  if above:
    print(f"above {args.limit}: {'; '.join(above)}")
  return 1 if above else 0


if __name__ == "__main__":
  sys.exit(main())
