"""Models and servers that come and go."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import tempfile
import threading
import time
import unittest

import clients
from clients import X

__all__ = ["Lifecycle"]


class Lifecycle(unittest.TestCase):

  def setUp(self):
    self.folder = pathlib.Path(tempfile.mkdtemp())
    self.addCleanup(shutil.rmtree, self.folder)

  def start(self, *flags):
    server = clients.Server(
        "--model_name=m", f"--model_base_path={self.folder / 'm'}",
        "--file_system_poll_wait_seconds=0.05", *flags)
    self.addCleanup(server.close)
    return server

  def start_with(self, model):
    (self.folder / "m").mkdir()
    (self.folder / "m" / "1").symlink_to(model)
    return self.start()

  def factor(self, server):
    status, answer = server.post("/v1/models/m:predict",
                                 {"instances": [[1, 1, 1]]})
    return answer["predictions"][0]["y"][0] if status == 200 else None

  def test_versions_come_and_go(self):
    clients.save_toy(self.folder / "m" / "1", 2.0)
    clients.save_toy(self.folder / "new", 3.0)
    server = self.start()
    self.assertEqual(self.factor(server), 2)
    # A copy that is not complete yet: the old version serves, then the new one, without a gap.
    (self.folder / "m" / "2").mkdir()
    shutil.copy(self.folder / "new" / "saved_model.pb", self.folder / "m" / "2")
    server.wait_until(lambda: '"version": "2"' in server.get("/v1/models/m")[1]
                      and '"END"' in server.get("/v1/models/m")[1])
    self.assertEqual(self.factor(server), 2)
    answers, stop = [], threading.Event()

    def ask():
      while not stop.is_set():
        answers.append(self.factor(server))

    asking = threading.Thread(target=ask)
    asking.start()
    shutil.copytree(self.folder / "new", self.folder / "m" / "2",
                    dirs_exist_ok=True)
    try:
      server.wait_until(lambda: answers[-1:] == [3.0])
      # The old one is unloaded: by default the newest is served alone.
      server.wait_until(
          lambda: server.get("/v1/models/m/versions/1")[1].count('"END"') == 1)
    finally:
      stop.set()
      asking.join()
    self.assertEqual(set(answers), {2.0, 3.0})
    shutil.rmtree(self.folder / "m" / "2")
    server.wait_until(lambda: self.factor(server) == 2)

  def test_reload_by_rpc(self):
    import grpc
    from tensorflow_serving.apis import model_management_pb2
    from tensorflow_serving.apis import model_service_pb2_grpc
    clients.save_toy(self.folder / "m" / "1", 2.0)
    server = self.start()
    request = model_management_pb2.ReloadConfigRequest()
    model = request.config.model_config_list.config.add()
    model.name, model.base_path = "other", str(self.folder / "m")
    model.model_platform = "tensorflow"
    with grpc.insecure_channel(server.grpc) as channel:
      stub = model_service_pb2_grpc.ModelServiceStub(channel)
      stub.HandleReloadConfigRequest(request, 30)
      self.assertEqual(server.get("/v2/models/other/ready")[0], 200)
      self.assertEqual(server.get("/v1/models/m")[0], 404)
      model.base_path = "relative"
      with self.assertRaises(grpc.RpcError) as caught:
        stub.HandleReloadConfigRequest(request, 30)
    self.assertEqual(
        caught.exception.details(),
        "Expected model other to have an absolute path or URI; "
        "got base_path()=relative")
    self.assertEqual(server.get("/v2/models/other/ready")[0], 200)

  def test_health_and_reflection(self):
    import grpc
    clients.save_toy(self.folder / "m" / "1")
    server = self.start()
    with grpc.insecure_channel(server.grpc) as channel:
      check = channel.unary_unary("/grpc.health.v1.Health/Check")
      self.assertEqual(check(b"", timeout=10), b"\x08\x01")  # SERVING
      reflect = channel.stream_stream(
          "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
      services = next(iter(reflect(iter([b"\x3a\x00"]), timeout=10)))
    for name in (b"tensorflow.serving.PredictionService",
                 b"tensorflow.serving.ModelService",
                 b"inference.GRPCInferenceService", b"grpc.health.v1.Health"):
      self.assertIn(name, services)

  def test_sigterm_loses_no_http_request(self):
    import http.client
    clients.save_toy(self.folder / "m" / "1")
    server = self.start()
    wrong, answered = [], []

    def ask():
      connection = http.client.HTTPConnection("127.0.0.1", server.rest_port)
      body = json.dumps({"instances": X})
      while True:
        # A connection that ends here was closed before the server read the request, or else the
        # server's own count of requests is above that of the answers that arrived.
        with contextlib.suppress(OSError, http.client.HTTPException):
          connection.request("POST", "/v1/models/m:predict", body)
          answer = connection.getresponse()
          text = answer.read()
          good = answer.status == 200 and b"predictions" in text
          (answered if good else wrong).append((answer.status, text))
          continue
        return

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
      thread.start()
    while len(answered) < 200:
      time.sleep(0.01)
    started = time.monotonic()
    code = server.end()
    for thread in threads:
      thread.join()
    self.assertEqual((code, wrong), (0, []))
    self.assertLess(time.monotonic() - started, 10)
    (end,) = server.messages("ended")
    self.assertEqual(end["http_requests"], end["http_answers"])
    self.assertEqual(int(end["http_answers"]), len(answered) + server.asked)

  def test_sigterm_loses_no_grpc_request(self):
    import grpc
    import numpy as np
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    clients.save_toy(self.folder / "m" / "1")
    server = self.start()
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "m"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.float32(X)))
    answered, codes = [], []

    def ask():
      with grpc.insecure_channel(server.grpc) as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        while True:
          try:
            stub.Predict(request, 10)
            answered.append(1)
          except grpc.RpcError as error:
            codes.append(error.code().name)
            return

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
      thread.start()
    while len(answered) < 200:
      time.sleep(0.01)
    code = server.end()
    for thread in threads:
      thread.join()
    # What comes while gRPC closes is refused, and has not begun.
    self.assertEqual((code, set(codes) - {"UNAVAILABLE", "CANCELLED"}), (0, set()))
    (end,) = server.messages("ended")
    self.assertEqual((int(end["grpc_calls"]), int(end["grpc_answers"])),
                     (len(answered), len(answered)))

  def test_kill_in_a_reload(self):
    clients.save_toy(self.folder / "m" / "1", 2.0)
    clients.save_toy(self.folder / "new", 3.0)
    cache = f"--cache_dir={self.folder / 'cache'}"
    for moment in (0.0, 0.06, 0.1):  # the second and third time it is loading
      server = self.start(cache)
      (self.folder / "new").rename(self.folder / "m" / "2")
      time.sleep(moment)
      server.process.kill()
      server.process.wait()
      server = self.start(cache)
      self.assertEqual(self.factor(server), 3)
      self.assertEqual(server.end(), 0)
      (self.folder / "m" / "2").rename(self.folder / "new")

  def test_a_disk_full_of_half_copied_versions(self):
    clients.save_toy(self.folder / "m" / "1", 2.0)
    clients.save_toy(self.folder / "new", 3.0)
    server = self.start()
    graph = (self.folder / "new" / "saved_model.pb").read_bytes()
    for version in range(2, 42):
      folder = self.folder / "m" / str(version)
      folder.mkdir()
      size = len(graph) * (version % 4) // 4
      if version % 5:
        (folder / "saved_model.pb").write_bytes(graph[:size or len(graph)])
    status = lambda version: server.get(f"/v1/models/m/versions/{version}")[1]
    server.wait_until(lambda: '"END"' in status(41))
    self.assertEqual(self.factor(server), 2)
    self.assertTrue(server.get("/v2/health/ready")[0] == 200)
    # The newest becomes complete.
    shutil.copytree(self.folder / "new", self.folder / "m" / "41",
                    dirs_exist_ok=True)
    server.wait_until(lambda: self.factor(server) == 3)

  def test_fifty_reloads_leave_no_memory(self):
    model = pathlib.Path(__file__).resolve().parent.parent / "models" / "mlp"
    server = self.start_with(model / "saved_model")
    stop, codes = threading.Event(), set()

    def ask():
      while not stop.is_set():
        codes.add(server.post("/v1/models/m:predict",
                              {"instances": [[0.5] * 64]})[0])

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
      thread.start()
    try:
      memory = []
      for version in range(2, 52):
        (self.folder / "m" / str(version)).symlink_to(model / "saved_model")
        (self.folder / "m" / str(version - 1)).unlink()
        server.wait_until(lambda: len(server.messages("unloaded")) == version - 1)
        memory.append(server.memory())
    finally:
      stop.set()
      for thread in asking:
        thread.join()
    self.assertLess(memory[49], 1.05 * memory[4], memory)
    series = [line for line in server.get("/monitoring/prometheus/metrics")[1].splitlines()
              if "/10" in line or 'version="10"' in line]
    self.assertEqual(series, [])  # of a version unloaded long ago

  def test_warm_up_requests(self):
    import tensorflow as tf
    from tensorflow_serving.apis import prediction_log_pb2
    clients.save_toy(self.folder / "m" / "1")
    extra = self.folder / "m" / "1" / "assets.extra"
    extra.mkdir()

    def record(shape):
      log = prediction_log_pb2.PredictionLog()
      request = log.predict_log.request
      request.model_spec.name = "m"
      request.inputs["x"].CopyFrom(tf.make_tensor_proto(tf.zeros(shape)))
      return log.SerializeToString()

    path = extra / "tf_serving_warmup_requests"
    with tf.io.TFRecordWriter(str(path)) as writer:
      writer.write(record([4, 3]))
    server = self.start("--num_request_iterations_for_warmup=3")
    stats = json.loads(server.get("/v2/models/m/stats")[1])["model_stats"][0]
    self.assertEqual((stats["execution_count"], stats["inference_count"]),
                     (3, 12))
    # A new version whose warm-up fails is not served.
    shutil.copytree(self.folder / "m" / "1", self.folder / "2")
    with tf.io.TFRecordWriter(
        str(self.folder / "2" / "assets.extra" / path.name)) as writer:
      writer.write(record([4, 7]))
    (self.folder / "2").rename(self.folder / "m" / "2")
    server.wait_until(lambda: "warmup record 0" in server.get(
        "/v1/models/m/versions/2")[1])
    self.assertEqual(self.factor(server), 2)
