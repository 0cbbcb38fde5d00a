#!/usr/bin/env python3
"""Loads a model, runs it once, and says so: what bench/cold measures.

  cold_worker.py PEER MODEL INPUTS.npz THREADS

MODEL is a SavedModel, for onnxruntime an .onnx file. Only what the peer needs
is imported. Prints `done` when the first result is there.
"""

from __future__ import annotations

import os
import sys

import numpy as np


def tensorflow(path: str, inputs: dict, threads: int) -> list:
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
  import tensorflow as tf
  tf.config.threading.set_intra_op_parallelism_threads(threads)
  tf.config.threading.set_inter_op_parallelism_threads(threads)
  signature = tf.saved_model.load(path).signatures["serving_default"]
  outputs = signature(**{k: tf.constant(v) for k, v in inputs.items()})
  return [v.numpy() for v in outputs.values()]


def onnxruntime(path: str, inputs: dict, threads: int) -> list:
  import onnxruntime as ort
  options = ort.SessionOptions()
  options.intra_op_num_threads = threads
  session = ort.InferenceSession(path, options,
                                 providers=["CPUExecutionProvider"])
  names = [x.name for x in session.get_inputs()]
  return session.run(None, {n: inputs[n.split(":")[0]] for n in names})


def openvino(path: str, inputs: dict, threads: int) -> list:
  import openvino as ov
  core = ov.Core()
  network = core.read_model(path)
  feeds = {}
  for i, port in enumerate(network.inputs):
    names = {n.split(":")[0].removeprefix("serving_default_")
             for n in port.get_names()}
    feeds[i] = next(v for k, v in inputs.items() if k in names)
  network.reshape({port: list(feeds[i].shape)
                   for i, port in enumerate(network.inputs)})
  compiled = core.compile_model(network, "CPU", {
      "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
      "NUM_STREAMS": 1})
  return list(compiled(feeds).values())


def main() -> None:
  peer, path, inputs_path, threads = sys.argv[1:]
  with np.load(inputs_path) as arrays:
    inputs = dict(arrays)
  run = {"tf_on": tensorflow, "tf_off": tensorflow,
         "onnxruntime": onnxruntime, "openvino": openvino}[peer]
  outputs = run(path, inputs, int(threads))
  if not all(np.isfinite(np.asarray(o)).all() for o in outputs):
    raise SystemExit("an output is not finite")
  os.write(1, b"done\n")


if __name__ == "__main__":
  main()
