#!/usr/bin/env python3
"""Measures a graph that generates by itself: time per token against the length.

  bench/tokens.py [--lengths 64,256,1024,2048] [--rounds 3] [--no-tensorflow]

The model is a decoder with the sizes of GPT-2 small (12 layers, 768 wide, 50257
words, 163 M parameters, 32-bit floats, random) in a tf.while_loop whose loop
variables are the caches of keys and values, [1, heads, 2048, 64] for each layer,
of which each step changes one row. With `fixed` each step attends to all 2,048
rows under a mask, so only copies of the cache could make a token cost more in a
long text than in a short one; with `filled` it attends to the rows that are
filled.

A row of the table is the time of one of the 32 tokens at positions N - 40 to
N - 8, N being one of --lengths: a run of the last 40 tokens before N less a run
of the last 8, over 32. So what a run costs once, as to clear the caches, is not
in it, and a long text need not be generated to know what its tokens cost. Rows
that were not generated are zeros, which cost as much as others.

The share of bandwidth is the bytes that each token reads once, the weights and
the rows of the caches that it attends to, over the time per token and over the
bandwidth that `tenon bench --profile` measures. TensorFlow runs the same
SavedModel with oneDNN on. Prints a table and writes JSON to results/. Takes
about eight minutes.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

# pylint: disable=wrong-import-position
import environments

LAYERS, WIDE, HEADS, SIZE, WORDS, LONGEST = 12, 768, 12, 64, 50257, 2048
LONG, SHORT = 40, 8  # tokens of the two runs whose difference counts
THREADS = 2


def write(folder: pathlib.Path, filled: bool) -> int:
  """Saves the model; returns the bytes of its weights."""
  import numpy as np
  import tensorflow as tf
  from tensorflow.compiler.tf2xla.python import xla
  rng = np.random.default_rng(3)

  def variable(*shape: int) -> tf.Variable:
    return tf.Variable(0.02 * rng.standard_normal(shape, np.float32))

  module = tf.Module()
  module.embedding, module.place = variable(WORDS, WIDE), variable(LONGEST, WIDE)
  module.head = variable(WIDE, WORDS)
  module.layers = [[variable(WIDE, 3 * WIDE), variable(WIDE, WIDE),
                    variable(WIDE, 4 * WIDE), variable(4 * WIDE, WIDE)]
                   for _ in range(LAYERS)]

  def norm(x: tf.Tensor) -> tf.Tensor:
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)

  def step(at: tf.Tensor, token: tf.Tensor, keys: list[tf.Tensor],
           values: list[tf.Tensor]) -> tuple:
    x = tf.gather(module.embedding, token) + module.place[at][None]  # [1, WIDE]
    keys, values = list(keys), list(values)
    for i, (qkv, out, up, down) in enumerate(module.layers):
      q, k, v = (tf.reshape(t, (1, HEADS, 1, SIZE))
                 for t in tf.split(norm(x) @ qkv, 3, -1))
      row = tf.stack([0, 0, at, 0])
      keys[i] = xla.dynamic_update_slice(keys[i], k, row)
      values[i] = xla.dynamic_update_slice(values[i], v, row)
      past_k, past_v = keys[i], values[i]
      if filled:
        past_k, past_v = past_k[:, :, :at + 1], past_v[:, :, :at + 1]
      scores = tf.matmul(q, past_k, transpose_b=True) / SIZE ** 0.5
      if not filled:
        scores += tf.where(tf.range(LONGEST) <= at, 0.0, -1e9)
      a = tf.reshape(tf.matmul(tf.nn.softmax(scores), past_v), (1, WIDE))
      x += a @ out
      x += tf.nn.gelu(norm(x) @ up, approximate=True) @ down
    token = tf.argmax(norm(x) @ module.head, -1, tf.int32)
    return at + 1, token, keys, values

  @tf.function(input_signature=[tf.TensorSpec([], tf.int32, "start"),
                                tf.TensorSpec([], tf.int32, "length")])
  def generate(start: tf.Tensor, length: tf.Tensor) -> dict[str, tf.Tensor]:
    empty = [tf.zeros((1, HEADS, LONGEST, SIZE)) for _ in range(LAYERS)]
    _, token, _, _ = tf.while_loop(
        lambda at, *_: at < length, step,
        (start, tf.constant([11]), empty, list(empty)))
    return {"token": token}

  module.generate = generate
  tf.saved_model.save(module, str(folder),
                      signatures={"serving_default": generate})
  # Of the embeddings a token reads one row.
  read = [module.head, *(w for layer in module.layers for w in layer)]
  return int(sum(4 * np.prod(w.shape) for w in read))


def run_tenon(tenon: pathlib.Path, model: pathlib.Path, inputs: pathlib.Path
              ) -> tuple[float, float]:
  """Milliseconds of the fastest run, and the memory's bandwidth in GB/s."""
  out = subprocess.run(
      [tenon, "bench", model, "--inputs", inputs, "--threads", str(THREADS),
       "--seconds", "0.5", "--profile"], check=True, capture_output=True,
      text=True).stdout
  return (float(re.search(r"min ([0-9.]+) ms", out)[1]),
          float(re.search(r"product\), ([0-9.]+) GB/s", out)[1]))


def main() -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--lengths", default="64,256,1024,2048")
  parser.add_argument("--rounds", type=int, default=3)
  parser.add_argument("--no-tensorflow", action="store_true")
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=HERE.parent / "build" / "bin" / "tenon")
  args = parser.parse_args()
  os.environ.update(TF_ENABLE_ONEDNN_OPTS="1", TF_CPP_MIN_LOG_LEVEL="3")
  environments.reexec("main")
  import numpy as np
  import report
  import tensorflow as tf
  tf.config.threading.set_intra_op_parallelism_threads(THREADS)
  tf.config.threading.set_inter_op_parallelism_threads(1)
  machine = report.machine()
  rows, record = [["at token", "attention", "Tenon, ms per token", "share of "
                   "bandwidth", "TensorFlow, ms per token"]], []
  with tempfile.TemporaryDirectory() as scratch:
    for form in ("fixed", "filled"):
      model = pathlib.Path(scratch) / form
      weights = write(model, form == "filled")
      signature = tf.saved_model.load(str(model)).signatures["serving_default"]
      for length in map(int, args.lengths.split(",")):
        own, other, speeds = [], [], []
        for _ in range(args.rounds):
          taken = {}
          for count in (LONG, SHORT):
            inputs = pathlib.Path(scratch) / "inputs.npz"
            np.savez(inputs, start=np.int32(length - count),
                     length=np.int32(length))
            taken[count], speed = run_tenon(args.tenon, model, inputs)
            speeds.append(speed)
          own.append((taken[LONG] - taken[SHORT]) / (LONG - SHORT))
          if not args.no_tensorflow:
            for count in (SHORT, LONG):  # a run of each is not measured
              for _ in range(2):
                start = time.perf_counter()
                signature(start=tf.constant(length - count),
                          length=tf.constant(length))
                taken[count] = 1e3 * (time.perf_counter() - start)
            other.append((taken[LONG] - taken[SHORT]) / (LONG - SHORT))
        attended = length - (LONG + SHORT) // 2 if form == "filled" else LONGEST
        read = weights + 2 * 4 * LAYERS * WIDE * attended
        share = read / min(own) / 1e6 / max(speeds)
        record.append({"form": form, "length": length, "tenon_ms": min(own),
                       "tenon_median_ms": statistics.median(own),
                       "bytes_read": read,
                       "gb_per_s": read / min(own) / 1e6,
                       "bandwidth_gb_per_s": max(speeds),
                       "tensorflow_ms": min(other, default=None)})
        rows.append([str(length), form, f"{min(own):.2f}", f"{100 * share:.0f} %",
                     f"{min(other):.1f}" if other else ""])
        print(rows[-1], flush=True)
  print(report.table(rows))
  path = report.write_json("tokens", {
      "machine": machine, "threads": THREADS, "weights_bytes": weights,
      "revision": report.revision(),
      "versions": ["Tenon", f"TensorFlow {tf.__version__}"],
      "rows": record})
  print(f"\nwritten to {path}")
  return 0


if __name__ == "__main__":
  sys.exit(main())
