#!/usr/bin/env python3
"""A process that times tasks in TensorFlow, as a user runs them.

  inside_worker.py THREADS

Answers {"ready": version, "steps" and "eager": names of tasks, "eager_calls"}; then for each line on stdin, {"load": task, "files":
{"model", "inputs", "outputs"}} or {"seconds": S}, one line: {"loaded": task},
the times of a slice of runs, or {"error": why}. A loaded task's first results
are written to files["outputs"].

Tasks: "model NAME" calls the default signature of the SavedModel files["model"];
"train NAME" is one step of SGD; "eager CASE" is one call from Python.
"""

from __future__ import annotations

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import numpy as np
import peer_worker
import tensorflow as tf
from peer_backends import Backend

VERSION = f"TensorFlow {tf.__version__}"
EAGER_CALLS = 50  # that one measured run of an eager task makes
# Classifiers of tests/makers/architectures.py have as many.
CLASSES = 1000
# Name: (side of the image, batch).
STEPS = {"ResNet50": (112, 8), "MobileNetV2": (96, 16)}
# Name: shapes of image and filter, or of two matrices.
EAGER = {
    "conv 8x8x16, 3x3": ([1, 8, 8, 16], [3, 3, 16, 16]),
    "conv 14x14x64, 1x1": ([1, 14, 14, 64], [1, 1, 64, 64]),
    "conv 28x28x32, 3x3": ([1, 28, 28, 32], [3, 3, 32, 32]),
    "conv 56x56x64, 3x3": ([1, 56, 56, 64], [3, 3, 64, 64]),
    "matmul 8x8x8": ([8, 8], [8, 8]),
    "matmul 64x64x64": ([64, 64], [64, 64]),
    "matmul 1x256x1024": ([1, 256], [256, 1024]),
    "matmul 256x256x256": ([256, 256], [256, 256]),
}


def model(files: dict) -> Backend:
  loaded = tf.saved_model.load(files["model"])
  signature = loaded.signatures["serving_default"]
  with np.load(files["inputs"]) as arrays:
    feeds = {k: tf.constant(v) for k, v in arrays.items()}
  names = sorted(signature.structured_outputs)
  backend = Backend(lambda: signature(**feeds),
                    lambda: [signature(**feeds)[n].numpy() for n in names],
                    VERSION)
  backend.kept = loaded  # a function does not keep its variables
  return backend


def train(name: str) -> Backend:
  import keras  # pylint: disable=import-outside-toplevel
  keras.utils.set_random_seed(1)
  side, batch = STEPS[name]
  network = getattr(keras.applications, name)(
      weights=None, input_shape=(side, side, 3), classifier_activation=None)
  # Small: at a usual rate roundings grow from step to step.
  optimizer = keras.optimizers.SGD(1e-7)
  loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
  rng = np.random.default_rng(1)
  images = tf.constant(rng.normal(size=[batch, side, side, 3]), tf.float32)
  labels = tf.constant(rng.integers(CLASSES, size=[batch]))

  @tf.function
  def step(x, y):
    with tf.GradientTape() as tape:
      loss = loss_of(y, network(x, training=True))
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables))
    return loss

  return Backend(lambda: step(images, labels),
                 lambda: [np.array([step(images, labels) for _ in range(3)])],
                 VERSION)


def eager(case: str) -> Backend:
  rng = np.random.default_rng(1)
  a, b = (tf.constant(rng.normal(size=shape), tf.float32)
          for shape in EAGER[case])
  if len(a.shape) == 4:
    run = lambda: tf.nn.conv2d(a, b, 1, "SAME")
  else:
    run = lambda: tf.matmul(a, b)

  def many() -> None:  # reading the clock costs as much as a small call
    for _ in range(EAGER_CALLS):
      run()
  return Backend(many, lambda: [run().numpy()], VERSION)


def load(task: str, files: dict) -> Backend:
  kind, name = task.split(" ", 1)
  backend = {"model": lambda _: model(files), "train": train,
             "eager": eager}[kind](name)
  np.savez(files["outputs"], *backend.outputs())
  return backend


def main() -> int:
  threads, inter_op = map(int, sys.argv[1:])
  tf.config.threading.set_intra_op_parallelism_threads(threads)
  tf.config.threading.set_inter_op_parallelism_threads(inter_op)
  # Libraries print on stdout; keep the pipe for answers.
  answers = os.fdopen(os.dup(1), "w")
  os.dup2(2, 1)

  def answer(value: dict) -> None:
    print(json.dumps(value), file=answers, flush=True)

  answer({"ready": VERSION, "steps": list(STEPS), "eager": list(EAGER),
          "eager_calls": EAGER_CALLS})
  backend = None
  for line in sys.stdin:
    request = json.loads(line)
    try:
      if "load" in request:
        backend = None  # its memory first
        tf.keras.backend.clear_session()
        backend = load(request["load"], request["files"])
        answer({"loaded": request["load"]})
      else:
        answer(peer_worker.measure(backend, request["seconds"]))
    except Exception as error:  # pylint: disable=broad-except
      answer({"error": f"{type(error).__name__}: {error}"[:300]})
  return 0


if __name__ == "__main__":
  sys.exit(main())
