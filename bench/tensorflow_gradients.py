#!/usr/bin/env python3
"""Times the gradients of bench/shapes/conv_gradients.txt in TensorFlow.

  TF_ENABLE_ONEDNN_OPTS=1 bench/tensorflow_gradients.py [THREADS]

Best of many eager calls (which cost some 10 us beside the kernel), in ms:
elapsed, and processor time of all threads (on a busy machine, with 1 thread,
that is what to compare).
"""

from __future__ import annotations

import os
import pathlib
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import tensorflow as tf

SHAPES = pathlib.Path(__file__).parent / "shapes" / "conv_gradients.txt"
SECONDS = 1.5


def gradient(words: list[str]) -> tuple:
  """A function that computes the line's gradient and its arguments."""
  op, stride, padding = words[1], int(words[4]), words[5]
  image, window = ([int(d) for d in w.split(",")] for w in words[2:4])
  strides = [1, stride, stride, 1]
  forward = (tf.raw_ops.DepthwiseConv2dNative if op.startswith("Depthwise")
             else tf.raw_ops.Conv2D)
  x = tf.random.uniform(image, -0.1, 0.1)
  w = tf.random.uniform(window, -0.1, 0.1)
  y = tf.random.uniform(
      forward(input=x, filter=w, strides=strides, padding=padding).shape,
      -0.1, 0.1)
  common = {"strides": strides, "padding": padding}
  raw = getattr(tf.raw_ops, op)
  if op.endswith("Input"):
    return lambda a, b: raw(input_sizes=image, filter=a, out_backprop=b,
                            **common), (w, y)
  return lambda a, b: raw(input=a, filter_sizes=window, out_backprop=b,
                          **common), (x, y)


def measure(words: list[str]) -> tuple[float, float]:
  """Elapsed and processor milliseconds of one op."""
  op, arguments = gradient(words)
  op(*arguments)
  elapsed, processor = [], []
  end = time.perf_counter() + SECONDS
  while time.perf_counter() < end:
    start, start_processor = time.perf_counter(), time.process_time()
    op(*arguments)
    elapsed.append(time.perf_counter() - start)
    processor.append(time.process_time() - start_processor)
  return tuple(min(t) * 1e3 for t in (elapsed, processor))


def main() -> None:
  threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
  tf.config.threading.set_intra_op_parallelism_threads(threads)
  tf.config.threading.set_inter_op_parallelism_threads(1)
  for line in SHAPES.read_text().splitlines():
    if line and not line.startswith("#"):
      elapsed, processor = measure(line.split())
      print(f"{elapsed:9.3f} {processor:9.3f} ms  {line}", flush=True)


if __name__ == "__main__":
  main()
