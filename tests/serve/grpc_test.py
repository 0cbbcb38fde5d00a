"""The gRPC port itself: health and its streams, reflection, calls that are no calls of a method,
what waiting costs."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import queue
import shutil
import tempfile
import threading
import time
import unittest

import clients
from clients import ServerTest
from clients import X

__all__ = ["GrpcPort", "Waiting"]

# HealthCheckResponse, serialized.
SERVING, NOT_SERVING, SERVICE_UNKNOWN = b"\x08\x01", b"\x08\x02", b"\x08\x03"
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
STREAM_INFER = "/inference.GRPCInferenceService/ModelStreamInfer"


def text_field(number: int, text: str) -> bytes:
  return bytes([number << 3 | 2, len(text)]) + text.encode()


class GrpcPort(ServerTest):

  def channel(self):
    import grpc
    channel = grpc.insecure_channel(self.server.grpc)
    self.addCleanup(channel.close)
    return channel

  def code(self, call):
    import grpc
    with self.assertRaises(grpc.RpcError) as caught:
      call()
    return caught.exception.code().name

  def test_health(self):
    channel = self.channel()
    check = channel.unary_unary(CHECK)
    for service in ("", "inference.GRPCInferenceService",
                    "tensorflow.serving.PredictionService"):
      request = text_field(1, service) if service else b""
      self.assertEqual(check(request, timeout=10), SERVING)
    unknown = text_field(1, "no.such.Service")
    self.assertEqual(self.code(lambda: check(unknown, timeout=10)), "NOT_FOUND")
    watch = channel.unary_stream(WATCH)
    for request, status in ((b"", SERVING), (unknown, SERVICE_UNKNOWN)):
      call = watch(request, timeout=30)
      self.assertEqual(next(call), status)
      call.cancel()

  def reflect(self, version: str, *requests: bytes) -> list[bytes]:
    call = self.channel().stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo")
    return list(call(iter(requests), timeout=10))

  def test_reflection(self):
    for version in ("v1", "v1alpha"):
      services, file, method, unknown, nothing = self.reflect(
          version, b"\x3a\x00", text_field(3, "serving.proto"),
          text_field(4, "inference.GRPCInferenceService.ModelInfer"),
          text_field(4, "no.such.Name"), b"")
      for name in ("tensorflow.serving.PredictionService",
                   "tensorflow.serving.ModelService",
                   "inference.GRPCInferenceService", "grpc.health.v1.Health",
                   f"grpc.reflection.{version}.ServerReflection"):
        self.assertIn(text_field(1, name), services)
      self.assertIn(b"PredictionService", file)
      self.assertIn(b"TensorProto", file)  # of a file that it imports
      self.assertIn(b"ModelInferRequest", method)
      self.assertIn(b"no.such.Name is not known", unknown)
      self.assertIn(b"asks for nothing", nothing)

  def test_calls_that_are_none(self):
    channel = self.channel()
    self.assertEqual(self.code(lambda: channel.unary_unary("/no.such/Method")(
        b"", timeout=10)), "UNIMPLEMENTED")
    for method in ("/tensorflow.serving.PredictionService/Predict", CHECK):
      self.assertEqual(self.code(lambda: channel.stream_unary(method)(
          iter([]), timeout=10)), "UNIMPLEMENTED")
      self.assertEqual(self.code(lambda: channel.unary_unary(method)(
          b"\xff\xff", timeout=10)), "INTERNAL")
    for method in (WATCH, STREAM_INFER,
                   "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"):
      self.assertEqual(self.code(lambda: list(channel.stream_stream(method)(
          iter([b"\xff\xff"]), timeout=10))), "INTERNAL")
    self.assertEqual(channel.unary_unary(CHECK)(b"", timeout=10), SERVING)

  def test_many_calls_at_once(self):
    import grpc
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    import numpy as np
    import tensorflow as tf

    def ask(n):
      with grpc.insecure_channel(self.server.grpc,
                                 (("serve.client", n),)) as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        calls = []
        for i in range(50):
          request = predict_pb2.PredictRequest()
          request.model_spec.name = "toy"
          request.inputs["x"].CopyFrom(
              tf.make_tensor_proto(np.full((1, 3), n * 50 + i, np.float32)))
          calls.append(stub.Predict.future(request, 60))
        return [call.result().outputs["total"].float_val[0] for call in calls]

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
      for n, answers in enumerate(pool.map(ask, range(16))):
        self.assertEqual(answers, [3.0 * (n * 50 + i) for i in range(50)])

  def test_large_requests_do_not_hold_up_others(self):
    import grpc
    import numpy as np
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "toy"
    rows = 2_000_000
    request.inputs["x"].CopyFrom(
        tf.make_tensor_proto(np.full((rows, 3), 0.5, np.float32)))
    unlimited = (("grpc.max_receive_message_length", -1),)
    stop, waits = threading.Event(), []

    def check():
      call = self.channel().unary_unary(CHECK)
      while not stop.is_set():
        start = time.monotonic()
        self.assertEqual(call(b"", timeout=30), SERVING)
        waits.append(time.monotonic() - start)

    checking = threading.Thread(target=check)
    checking.start()
    try:
      with grpc.insecure_channel(self.server.grpc, unlimited) as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        start = time.monotonic()
        for _ in range(3):
          answer = stub.Predict(request, 60)
          self.assertEqual(answer.outputs["y"].tensor_shape.dim[0].size, rows)
        took = time.monotonic() - start
    finally:
      stop.set()
      checking.join()
    self.assertLess(max(waits), took)
    self.assertGreater(len(waits), 10)


class Waiting(unittest.TestCase):

  def setUp(self):
    self.folder = pathlib.Path(tempfile.mkdtemp())
    self.addCleanup(shutil.rmtree, self.folder)
    clients.save_toy(self.folder / "toy" / "1")

  def start(self, *flags):
    server = clients.Server("--model_name=toy",
                            f"--model_base_path={self.folder / 'toy'}", *flags)
    self.addCleanup(server.close)
    return server

  def cpu_seconds(self, server):
    text = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text()
    fields = text.rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

  def test_an_idle_server_sleeps(self):
    import tritonclient.grpc as triton
    server = self.start()
    with triton.InferenceServerClient(server.grpc) as client:
      self.assertTrue(client.is_server_ready())
      before = self.cpu_seconds(server)
      time.sleep(2)
      self.assertLess(self.cpu_seconds(server) - before, 0.1)

  def test_streams_end_with_the_server(self):
    import grpc
    server = self.start()
    told, codes = queue.Queue(), {}
    with grpc.insecure_channel(server.grpc) as channel:
      never = threading.Event()  # requests that do not come

      def requests():
        never.wait()
        yield from ()

      def read(name, call):
        try:
          for message in call:
            told.put(message)
        except grpc.RpcError as error:
          codes[name] = error.code().name

      calls = {
          "watch": channel.unary_stream(WATCH)(b""),
          "infer": channel.stream_stream(STREAM_INFER)(requests()),
          "reflection": channel.stream_stream(
              "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")(
                  requests())}
      reading = [threading.Thread(target=read, args=item)
                 for item in calls.items()]
      for thread in reading:
        thread.start()
      self.assertEqual(told.get(timeout=10), SERVING)
      time.sleep(0.2)  # until the other streams are there
      start = time.monotonic()
      self.assertEqual(server.end(), 0)
      self.assertLess(time.monotonic() - start, 10)
      for thread in reading:
        thread.join(timeout=10)
      never.set()
    self.assertEqual(told.get(timeout=10), NOT_SERVING)
    self.assertEqual(codes, dict.fromkeys(calls, "UNAVAILABLE"))

  def test_memory_limit(self):
    (self.folder / "mlp").mkdir()
    (self.folder / "mlp" / "1").symlink_to(
        clients.HERE.parent / "models" / "mlp" / "saved_model")
    config = self.folder / "models.config"
    config.write_text("model_config_list {" + "".join(
        f'config {{ name: "{name}" base_path: "{self.folder / name}" '
        f'model_platform: "tensorflow" }}' for name in ("toy", "mlp")) + "}")
    server = clients.Server(f"--model_config_file={config}", "--memory_limit=4K")
    self.addCleanup(server.close)
    status, text = server.get("/v1/models/mlp")
    version, = json.loads(text)["model_version_status"]
    self.assertEqual((status, version["state"], version["status"]["error_code"]),
                     (200, "END", "RESOURCE_EXHAUSTED"))
    self.assertIn("memory limit", version["status"]["error_message"])
    self.assertIn("node", version["status"]["error_message"])
    self.assertEqual(server.metric(
        'tenon_model_available{model_name="mlp",version="1"}'), 0)
    # The other serves, but not what does not fit.
    self.assertEqual(server.post("/v1/models/toy:predict",
                                 {"instances": X})[0], 200)
    status, answer = server.post("/v1/models/toy:predict",
                                 {"instances": X * 500})
    self.assertEqual(status, 429)
    self.assertIn("memory limit", answer["error"])
    self.assertEqual(server.post("/v1/models/toy:predict",
                                 {"instances": X})[0], 200)
