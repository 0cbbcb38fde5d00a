"""One model in one peer: TensorFlow, ONNX Runtime, OpenVINO or LiteRT, ready to run.

Each backend gets what is best for it: shapes fixed, weights constant (as
`tenon bench` compiles a plan per shape), inputs in place before the clock runs,
fp32 unless the name says otherwise; the int8 models of ONNX Runtime and OpenVINO
are the same file.
"""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import peer_tensorflow
from conversions import (Arrays, Refused, input_name, int8_file, litert_file,
                         onnx_file)


class Backend:
  """A loaded model: `run` once (timed by the caller), then `outputs`.

  `run_many(seconds)`, where there is one, keeps all streams busy for that long
  and gives the number of runs and the seconds they took.
  """

  def __init__(self, run: Callable[[], Any],
               outputs: Callable[[], list[np.ndarray]], version: str,
               run_many: Callable[[float], tuple[int, float]] | None = None):
    self.run = run
    self.outputs = outputs
    self.version = version
    self.run_many = run_many


def tensorflow(model: pathlib.Path, inputs: Arrays, threads: int, gate: str,
               wanted: list[np.ndarray], xla: bool = False) -> Backend:
  """TensorFlow, see peer_tensorflow."""
  run = peer_tensorflow.load(model, inputs, threads, gate, xla, wanted)
  peer_tensorflow.release()
  import tensorflow as tf
  return Backend(run, lambda: peer_tensorflow.outputs(run),
                 f"TensorFlow {tf.__version__}")


def onnxruntime(path: pathlib.Path, inputs: Arrays, threads: int) -> Backend:
  """ONNX Runtime on an ONNX file."""
  import onnxruntime as ort
  options = ort.SessionOptions()
  options.intra_op_num_threads = threads
  options.inter_op_num_threads = 1
  options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
  options.log_severity_level = 3
  try:
    session = ort.InferenceSession(str(path), options,
                                   providers=["CPUExecutionProvider"])
  except Exception as error:
    raise Refused(f"onnxruntime: {error}") from error
  binding = session.io_binding()
  for value in session.get_inputs():
    binding.bind_cpu_input(value.name, inputs[input_name(value.name)])
  for value in session.get_outputs():
    binding.bind_output(value.name)
  return Backend(lambda: session.run_with_iobinding(binding),
                 binding.copy_outputs_to_cpu,
                 f"ONNX Runtime {ort.__version__}")


def openvino(model: pathlib.Path, inputs: Arrays, threads: int,
             precision: str = "f32", streams: int = 1) -> Backend:
  """OpenVINO, on a SavedModel or an ONNX file; streams share the threads."""
  import openvino as ov
  core = ov.Core()
  try:
    network = core.read_model(str(model))
    names = {}
    for port in network.inputs:
      known = [n for n in inputs if n in
               {input_name(name).removeprefix("serving_default_")
                for name in port.get_names()}]
      if not known:
        raise Refused(f"openvino: input {port.get_names()} is unknown")
      names[known[0]] = port
    network.reshape({port: ov.PartialShape(list(inputs[name].shape))
                     for name, port in names.items()})
    compiled = core.compile_model(network, "CPU", {
        "INFERENCE_PRECISION_HINT": precision,
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": streams,
        "PERFORMANCE_HINT": "LATENCY" if streams == 1 else "THROUGHPUT"})
  except RuntimeError as error:
    raise Refused(f"openvino: {error}") from error
  queue = ov.AsyncInferQueue(compiled, streams)
  for each in queue:
    for i, port in enumerate(network.inputs):
      name = next(n for n, p in names.items() if p == port)
      each.set_input_tensor(i, ov.Tensor(inputs[name], shared_memory=False))
  request = queue[0]
  count = len(compiled.outputs)

  def run_many(seconds: float) -> tuple[int, float]:
    start, runs = time.perf_counter(), 0
    while time.perf_counter() < start + seconds:
      queue.start_async()
      runs += 1
    queue.wait_all()
    return runs, time.perf_counter() - start

  return Backend(
      request.infer,
      lambda: [request.get_output_tensor(i).data.copy() for i in range(count)],
      f"OpenVINO {ov.__version__.split('-')[0]}",
      run_many if streams > 1 else None)


def litert(path: pathlib.Path, inputs: Arrays, threads: int) -> Backend:
  """LiteRT, whose default delegate is XNNPACK, on a .tflite file."""
  import importlib.metadata
  from ai_edge_litert import interpreter as litert_interpreter
  try:
    runner = litert_interpreter.Interpreter(model_path=str(path),
                                            num_threads=threads)
    runner.allocate_tensors()
  except (RuntimeError, ValueError) as error:
    raise Refused(f"LiteRT: {error}") from error
  for detail in runner.get_input_details():
    name = input_name(detail["name"]).removeprefix("serving_default_")
    runner.set_tensor(detail["index"], inputs[name])
  results = [d["index"] for d in runner.get_output_details()]
  return Backend(runner.invoke, lambda: [runner.get_tensor(i) for i in results],
                 "LiteRT " + importlib.metadata.version("ai-edge-litert"))


def load(peer: str, model: pathlib.Path, inputs: Arrays, threads: int,
         streams: int, cache: pathlib.Path, samples: pathlib.Path | None,
         wanted: list[np.ndarray]) -> Backend:
  """The backend of a peer's name, see PEERS; `wanted` are the right outputs."""
  if streams > 1 and not peer.startswith("openvino"):
    raise Refused(f"{peer}: streams are not measured")
  if peer == "tf_on":
    return tensorflow(model, inputs, threads, "1", wanted)
  if peer == "tf_off":
    return tensorflow(model, inputs, threads, "0", wanted)
  if peer == "tf_xla":
    return tensorflow(model, inputs, threads, "1", wanted, xla=True)
  if peer == "litert":
    return litert(litert_file(model, inputs, cache), inputs, threads)
  if peer == "litert_int8":
    return litert(litert_file(model, inputs, cache, samples), inputs, threads)
  if peer == "onnxruntime":
    return onnxruntime(onnx_file(model, inputs, cache), inputs, threads)
  if peer == "onnxruntime_int8":
    return onnxruntime(int8_file(model, inputs, cache, samples), inputs, threads)
  if peer == "openvino_int8":
    return openvino(int8_file(model, inputs, cache, samples), inputs, threads,
                    streams=streams)
  if peer == "openvino":
    return openvino(model, inputs, threads, streams=streams)
  if peer == "openvino_bf16":
    return openvino(model, inputs, threads, "bf16", streams)
  raise ValueError(f"unknown peer {peer}")


PEERS = ["tf_on", "tf_off", "tf_xla", "onnxruntime", "openvino", "litert",
         "openvino_bf16", "onnxruntime_int8", "openvino_int8", "litert_int8"]
