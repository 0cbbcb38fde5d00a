#!/usr/bin/env python3
"""The server, asked by the clients that people have: tensorflow-serving-api, tritonclient, HTTP.

  tests/serve/serve_test.py --server build/bin/tensorflow_model_server [unittest's options]

Ends with 77 (skipped) if there is no server to test.
"""

from __future__ import annotations

import argparse
import base64
import concurrent.futures
import contextlib
import gzip
import json
import math
import pathlib
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import unittest

import clients

PROGRAM = ""
X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]
DOUBLED = [[2.0, 4.0, 6.0], [8.0, 10.0, 13.0]]


class ServerTest(unittest.TestCase):
  """All tests ask one server, which has a good model, a broken one, and one with two versions."""

  FLAGS: tuple[str, ...] = ()

  @classmethod
  def setUpClass(cls):
    cls.folder = pathlib.Path(tempfile.mkdtemp())
    cls.addClassCleanup(shutil.rmtree, cls.folder)
    clients.save_toy(cls.folder / "toy" / "1")
    shutil.copytree(cls.folder / "toy" / "1", cls.folder / "two" / "1")
    clients.save_toy(cls.folder / "two" / "5", 3.0)
    (cls.folder / "broken" / "1").mkdir(parents=True)
    (cls.folder / "broken" / "1" / "saved_model.pb").write_bytes(b"no model")
    config = cls.folder / "models.config"
    config.write_text("model_config_list {" + "".join(
        f'config {{ name: "{name}" base_path: "{cls.folder / name}" '
        f'model_platform: "tensorflow" {more} }}' for name, more in (
            ("toy", ""), ("broken", ""),
            ("two", "model_version_policy { all {} } "
             'version_labels { key: "stable" value: 1 }'))) + "}")
    cls.server = clients.Server(
        PROGRAM, f"--model_config_file={config}",
        "--file_system_poll_wait_seconds=0.05", *cls.FLAGS)
    cls.addClassCleanup(cls.server.close)


class TensorFlowServingClient(ServerTest):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    import grpc
    from tensorflow_serving.apis import model_service_pb2_grpc
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    cls.channel = grpc.insecure_channel(cls.server.grpc)
    cls.addClassCleanup(cls.channel.close)
    cls.predictions = prediction_service_pb2_grpc.PredictionServiceStub(
        cls.channel)
    cls.models = model_service_pb2_grpc.ModelServiceStub(cls.channel)

  def request(self, model="toy", signature="", **inputs):
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2
    request = predict_pb2.PredictRequest()
    request.model_spec.name = model
    request.model_spec.signature_name = signature
    for name, value in inputs.items():
      request.inputs[name].CopyFrom(tf.make_tensor_proto(value))
    return request

  def error(self, call, request):
    import grpc
    with self.assertRaises(grpc.RpcError) as caught:
      call(request, 10)
    return caught.exception.code().name, caught.exception.details()

  def test_predict(self):
    import numpy as np
    import tensorflow as tf
    request = self.request(x=np.float32(X))
    answer = self.predictions.Predict(request, 10)
    self.assertEqual(tf.make_ndarray(answer.outputs["y"]).tolist(), DOUBLED)
    self.assertEqual(list(answer.outputs["total"].float_val), [6.0, 15.5])
    self.assertEqual(answer.model_spec.version.value, 1)
    self.assertEqual(answer.model_spec.signature_name, "serving_default")
    # The other form of a tensor, and a value that stands for all.
    tensor = request.inputs["x"]
    tensor.ClearField("tensor_content")
    tensor.float_val.append(7.0)
    request.output_filter.append("y")
    answer = self.predictions.Predict(request, 10)
    self.assertEqual(list(answer.outputs), ["y"])
    self.assertEqual(list(answer.outputs["y"].float_val), [14.0] * 6)

  def test_strings_and_signatures(self):
    import numpy as np
    import tensorflow as tf
    answer = self.predictions.Predict(
        self.request(signature="echo", text=[b"a\xff", b""],
                     number=np.int64([[1, 2], [3, 2**60]])), 10)
    self.assertEqual(list(answer.outputs["text"].string_val), [b"a\xff", b""])
    self.assertEqual(tf.make_ndarray(answer.outputs["number"]).tolist(),
                     [[2, 3], [4, 2**60 + 1]])

  def test_versions_and_labels(self):
    import numpy as np
    for choose, version, first in (
        (lambda spec: None, 5, 3.0),
        (lambda spec: setattr(spec.version, "value", 1), 1, 2.0),
        (lambda spec: setattr(spec, "version_label", "stable"), 1, 2.0)):
      request = self.request("two", x=np.float32(X))
      choose(request.model_spec)
      answer = self.predictions.Predict(request, 10)
      self.assertEqual(answer.model_spec.version.value, version)
      self.assertEqual(answer.outputs["y"].float_val[0], first)

  def test_errors_are_tensorflow_servings(self):
    import numpy as np
    from tensorflow_serving.apis import predict_pb2
    predict, x = self.predictions.Predict, np.float32(X)
    cases = [
        (predict_pb2.PredictRequest(), "INVALID_ARGUMENT", "Missing ModelSpec"),
        (self.request("", signature="s"), "INVALID_ARGUMENT",
         "ModelSpec has no name specified."),
        (self.request("none"), "NOT_FOUND",
         "Servable not found for request: Latest(none)"),
        (self.request("broken"), "NOT_FOUND",
         "Servable not found for request: Latest(broken)"),
        (self.request(signature="none"), "FAILED_PRECONDITION",
         'Serving signature key "none" not found.'),
        (self.request(), "INVALID_ARGUMENT",
         "input size does not match signature: 0!=1 len({}) != len({x}). "
         "Sent extra: {}. Missing but required: {x}."),
        (self.request(z=x), "INVALID_ARGUMENT",
         "input tensor alias not found in signature: z. "
         "Inputs expected to be in the set {x}."),
    ]
    version = self.request(x=x)
    version.model_spec.version.value = 9
    cases.append((version, "NOT_FOUND",
                  "Servable not found for request: Specific(toy, 9)"))
    label = self.request(x=x)
    label.model_spec.version_label = "new"
    cases.append((label, "INVALID_ARGUMENT",
                  "Unrecognized servable version label: new"))
    outputs = self.request(x=x)
    outputs.output_filter.append("q")
    cases.append((outputs, "INVALID_ARGUMENT",
                  "output tensor alias not found in signature: q "
                  "Outputs expected to be in the set {total,y}."))
    twice = self.request(x=x)
    twice.output_filter.extend(["y", "y"])
    cases.append((twice, "INVALID_ARGUMENT",
                  "duplicate output tensor alias: y"))
    broken = self.request(x=x)
    broken.inputs["x"].ClearField("tensor_content")
    cases.append((broken, "INVALID_ARGUMENT", "tensor parsing error: x"))
    for request, code, text in cases:
      with self.subTest(text):
        self.assertEqual(self.error(predict, request), (code, text))
    # Wrong in the model's eyes: it names the input.
    code, text = self.error(predict, self.request(x=np.float32([[1, 2]])))
    self.assertEqual(code, "INVALID_ARGUMENT")
    self.assertIn("'x'", text)
    huge = self.request(x=x)
    huge.inputs["x"].tensor_shape.dim[0].size = 2**62
    self.assertEqual(self.error(predict, huge)[0], "INVALID_ARGUMENT")

  def test_classify_and_regress(self):
    from tensorflow_serving.apis import classification_pb2
    from tensorflow_serving.apis import regression_pb2
    rows = [[0.5, 1.0], [2.0, 3.0]]
    for request, call in (
        (classification_pb2.ClassificationRequest(), self.predictions.Classify),
        (regression_pb2.RegressionRequest(), self.predictions.Regress)):
      request.model_spec.name = "toy"
      request.model_spec.signature_name = call._method.decode().rsplit(
          "/")[-1].lower()
      self.assertEqual(self.error(call, request),
                       ("INVALID_ARGUMENT", "Input is empty."))
      for row in rows:
        request.input.example_list.examples.add(
        ).features.feature["v"].float_list.value.extend(row)
      result = call(request, 10).result
      if isinstance(request, classification_pb2.ClassificationRequest):
        self.assertEqual([[c.score for c in r.classes]
                          for r in result.classifications], [[1, 2], [4, 6]])
      else:
        self.assertEqual([r.value for r in result.regressions], [1.5, 5])

  def test_metadata_and_status(self):
    from tensorflow_serving.apis import get_model_metadata_pb2
    from tensorflow_serving.apis import get_model_status_pb2
    request = get_model_metadata_pb2.GetModelMetadataRequest()
    request.model_spec.name = "toy"
    request.metadata_field.append("signature_def")
    signatures = get_model_metadata_pb2.SignatureDefMap()
    answer = self.predictions.GetModelMetadata(request, 10)
    self.assertTrue(answer.metadata["signature_def"].Unpack(signatures))
    default = signatures.signature_def["serving_default"]
    self.assertEqual([d.size for d in default.inputs["x"].tensor_shape.dim],
                     [-1, 3])
    status = get_model_status_pb2.GetModelStatusRequest()
    status.model_spec.name = "broken"
    (version,) = self.models.GetModelStatus(status, 10).model_version_status
    self.assertEqual(version.state, version.END)
    self.assertIn("saved_model.pb", version.status.error_message)
    status.model_spec.name = "none"
    self.assertEqual(
        self.error(self.models.GetModelStatus, status),
        ("NOT_FOUND", "Could not find any versions of model none"))


class KServeClient(ServerTest):

  def inputs(self, module, value, datatype="FP32", name="x", **options):
    tensor = module.InferInput(name, value.shape, datatype)
    tensor.set_data_from_numpy(value, **options)
    return tensor

  def test_grpc(self):
    import numpy as np
    import tritonclient.grpc as triton
    client = triton.InferenceServerClient(self.server.grpc)
    self.assertTrue(client.is_server_live())
    self.assertTrue(client.is_server_ready())
    self.assertTrue(client.is_model_ready("toy"))
    self.assertTrue(client.is_model_ready("two", "1"))
    self.assertFalse(client.is_model_ready("broken"))
    self.assertEqual(client.get_server_metadata().name, "tenon")
    metadata = client.get_model_metadata("two")
    self.assertEqual(list(metadata.versions), ["1", "5"])
    self.assertEqual(list(metadata.inputs[0].shape), [-1, 3])
    self.assertEqual(client.get_model_config("toy").config.input[0].name, "x")
    states = {(m.name, m.version): m.state
              for m in client.get_model_repository_index().models}
    self.assertEqual(states[("toy", "1")], "READY")
    self.assertEqual(states[("broken", "1")], "UNAVAILABLE")
    result = client.infer("toy", [self.inputs(triton, np.float32(X))],
                          request_id="42")
    self.assertEqual(result.as_numpy("y").tolist(), DOUBLED)
    self.assertEqual(result.get_response().id, "42")
    text = np.array(["a", "déjà vu"], dtype=object)
    result = client.infer(
        "toy", [self.inputs(triton, text, "BYTES", "text"),
                self.inputs(triton, np.int64([[1, 2], [3, 4]]), "INT64",
                            "number")],
        outputs=[triton.InferRequestedOutput("text")],
        parameters={"signature_name": "echo"})
    self.assertEqual([t.decode() for t in result.as_numpy("text")],
                     ["a", "déjà vu"])
    self.assertGreater(
        client.get_inference_statistics("toy").model_stats[0].inference_count,
        0)
    for call, text in (
        (lambda: client.infer("none", [self.inputs(triton, np.float32(X))]),
         "unknown model"),
        (lambda: client.infer("toy", [self.inputs(triton, np.int32([[1]]),
                                                  "INT32")]),
         "data-type is 'INT32', model expects 'FP32'"),
        (lambda: client.infer("toy", []), "expected 1 inputs but got 0")):
      with self.assertRaisesRegex(triton.InferenceServerException, text):
        call()

  def test_http(self):
    import numpy as np
    import tritonclient.http as triton
    client = triton.InferenceServerClient(self.server.rest)
    self.assertTrue(client.is_server_ready())
    self.assertTrue(client.is_model_ready("toy"))
    self.assertFalse(client.is_model_ready("none"))
    self.assertEqual(client.get_model_metadata("toy")["inputs"][0]["name"], "x")
    self.assertEqual(client.get_model_config("toy")["input"][0]["data_type"],
                     "TYPE_FP32")
    for binary_in in (True, False):
      for binary_out in (True, False):
        for compression in (None, "gzip"):
          result = client.infer(
              "toy", [self.inputs(triton, np.float32(X),
                                  binary_data=binary_in)],
              outputs=[triton.InferRequestedOutput("y", binary_out)],
              request_compression_algorithm=compression)
          self.assertEqual(result.as_numpy("y").tolist(), DOUBLED)
    text = np.array([b"a", b"bc"], dtype=object)
    result = client.infer(
        "toy", [self.inputs(triton, text, "BYTES", "text"),
                self.inputs(triton, np.int64([[1, 2], [3, 4]]), "INT64",
                            "number", binary_data=False)],
        parameters={"signature_name": "echo"})
    self.assertEqual(result.as_numpy("text").tolist(), [b"a", b"bc"])
    with self.assertRaisesRegex(triton.InferenceServerException,
                                "shape needs"):
      bad = self.inputs(triton, np.float32(X))
      bad.set_shape([2, 4])
      client.infer("toy", [bad])


class Rest(ServerTest):

  def predict(self, value, model="toy"):
    return self.server.post(f"/v1/models/{model}:predict", value)

  def test_rows_and_columns(self):
    totals = [6.0, 15.5]
    self.assertEqual(self.predict({"instances": X}), (200, {
        "predictions": [{"total": t, "y": y}
                        for t, y in zip(totals, DOUBLED)]}))
    named = {"instances": [{"x": row} for row in X]}
    self.assertEqual(self.predict(named)[1]["predictions"][1]["total"], 15.5)
    self.assertEqual(self.predict({"inputs": X}),
                     (200, {"outputs": {"total": totals, "y": DOUBLED}}))
    self.assertEqual(self.predict({"inputs": {"x": X}})[0], 200)
    self.assertEqual(self.predict({"signature_name": "center", "inputs": X}), (
        200, {"outputs": [[-1.5, -1.5, -1.75], [1.5, 1.5, 1.75]]}))
    for path, first in (("two", 3), ("two/versions/1", 2),
                        ("two/labels/stable", 2)):
      row = self.predict({"instances": [[1, 1, 1]]}, path)[1]["predictions"][0]
      self.assertEqual(row["y"][0], first)

  def test_base64_nan_and_infinity(self):
    raw = bytes(range(256))
    b64 = base64.b64encode(raw).decode()
    status, answer = self.predict({"signature_name": "echo", "instances": [
        {"text": {"b64": b64}, "number": [1, 2]}]})
    self.assertEqual(status, 200)
    row = answer["predictions"][0]
    self.assertEqual(row["text_bytes"], {"b64": b64})
    self.assertEqual(row["number"], [2, 3])
    status, answer = self.predict('{"inputs": [[NaN, Infinity, -Infinity]]}')
    self.assertEqual(status, 200)
    nan, plus, minus = answer["outputs"]["y"][0]
    self.assertTrue(math.isnan(nan))
    self.assertEqual((plus, minus), (math.inf, -math.inf))

  def test_errors(self):
    for path, body, status, text in (
        ("toy:predict", "", 400, "The document is empty"),
        ("toy:predict", "{", 400, "JSON Parse error: "),
        ("toy:predict", "[]", 400, "Is not object"),
        ("toy:predict", "{}", 400, "Missing 'inputs' or 'instances' key"),
        ("toy:predict", '{"instances": []}', 400, "No values in 'instances'"),
        ("toy:predict", '{"instances": 1, "inputs": 1}', 400, "only one of"),
        ("toy:predict", '{"instances": ["a"]}', 400,
         "is not of expected type: float"),
        ("toy:predict", '{"instances": [[1, 2, 3], [1, 2]]}', 400,
         "Expecting tensor size: 3 but got: 2"),
        ("toy:predict", '{"inputs": [[1, 2], [3]]}', 400, "unexpected size"),
        ("toy:predict", '{"instances": [{"z": 1}]}', 400,
         "does not have named input: z"),
        ("toy:predict", '{"signature_name": "s", "instances": [1]}', 400,
         'Serving signature name: "s" not found in signature def'),
        ("none:predict", '{"instances": [1]}', 404, "Servable not found"),
        ("toy:guess", "{}", 400, "Malformed request: POST"),
        ("two/versions/9:predict", '{"instances": [1]}', 404, "Specific(two"),
        ("two/labels/x:predict", '{"instances": [1]}', 400,
         "Unrecognized servable version label: x"),
        ("%zz:predict", "{}", 400, "Failed to decode model name")):
      with self.subTest(path=path, body=body):
        got, answer = self.server.post(f"/v1/models/{path}", body)
        self.assertEqual(got, status)
        self.assertIn(text, answer["error"])

  def test_classify_and_regress(self):
    examples = [{"v": [0.5, 1.0]}, {"v": [2.0, 3.0]}]
    self.assertEqual(
        self.server.post("/v1/models/toy:classify",
                         {"signature_name": "classify", "examples": examples}),
        (200, {"results": [[["", 1.0], ["", 2.0]], [["", 4.0], ["", 6.0]]]}))
    self.assertEqual(
        self.server.post("/v1/models/toy:regress", {
            "signature_name": "regress", "context": {"v": [1.0, 1.5]},
            "examples": [{"other": 1}]}), (200, {"results": [2.5]}))

  def test_status_and_metadata(self):
    status = json.loads(self.server.get("/v1/models/toy")[1])
    self.assertEqual(status["model_version_status"], [{
        "version": "1", "state": "AVAILABLE",
        "status": {"error_code": "OK", "error_message": ""}}])
    metadata = json.loads(self.server.get("/v1/models/toy/metadata")[1])
    self.assertIn("echo",
                  metadata["metadata"]["signature_def"]["signature_def"])
    self.assertEqual(self.server.get("/v1/models/none")[0], 404)
    self.assertEqual(self.server.get("/elsewhere")[0], 404)

  def test_gzip_both_ways(self):
    body = gzip.compress(json.dumps({"instances": X * 100}).encode())
    status, headers, answer = self.server.request(
        "/v1/models/toy:predict", body,
        {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"})
    self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
    self.assertEqual(len(json.loads(gzip.decompress(answer))["predictions"]),
                     200)
    status, _, _ = self.server.request("/v1/models/toy:predict", b"no gzip",
                                       {"Content-Encoding": "gzip"})
    self.assertEqual(status, 400)

  def test_metrics(self):
    name = ':tensorflow:serving:request_count{model_name="toy",status="OK"}'
    before = self.server.metric(name)
    self.predict({"instances": X})
    self.assertEqual(self.server.metric(name), before + 1)
    self.assertIn('tenon_model_available{model_name="broken",version="1"} 0',
                  self.server.get("/monitoring/prometheus/metrics")[1])


class HostileClients(ServerTest):
  """After each, the server must answer as before."""

  FLAGS = ("--max_request_bytes=1000000",)

  def tearDown(self):
    status, answer = self.server.post("/v1/models/toy:predict",
                                      {"instances": X})
    self.assertEqual((status, answer["predictions"][0]["y"]), (200, DOUBLED[0]))
    self.assertIsNone(self.server.process.poll())

  def send(self, *parts: bytes, port: int | None = None) -> bytes:
    with socket.create_connection(
        ("127.0.0.1", port or self.server.rest_port), timeout=10) as client:
      # The server may close as soon as it has seen enough.
      with contextlib.suppress(ConnectionError, OSError):
        for part in parts:
          client.sendall(part)
        client.shutdown(socket.SHUT_WR)
      answer = b""
      with contextlib.suppress(ConnectionError):
        while chunk := client.recv(1 << 16):
          answer += chunk
      return answer

  def test_garbage(self):
    self.assertNotIn(b"200 OK", self.send(b"\x00\xff" * 5000))
    self.send(b"\x00\xff" * 5000, port=self.server.grpc_port)
    self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 9000,
              port=self.server.grpc_port)

  def test_half_closed_and_cut_off(self):
    self.send(b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\n"
              b"Content-Length: 100\r\n\r\n{")
    self.send(b"POST /v1/mod")

  def test_absurd_lengths(self):
    for length in (b"2147483648", b"99999999999999999999", b"-1"):
      answer = self.send(b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\n"
                         b"Content-Length: " + length + b"\r\n\r\n{}")
      self.assertRegex(answer, rb"^HTTP/1.1 4(00|13)")
    answer = self.send(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 200000 +
                       b"\r\n\r\n")
    self.assertNotIn(b"200 OK", answer)

  def test_deep_and_long_json(self):
    for body in ("[" * 10000, '{"a":' * 10000, '{"inputs":' + "[" * 10000 +
                 "]" * 10000 + "}",
                 '{"inputs": ' + "1" * 900000 + "}",
                 '{"inputs": [[1e400, 1, 1]]}'):
      status, answer = self.server.post("/v1/models/toy:predict", body)
      self.assertEqual(status, 400)
      self.assertLess(len(answer["error"]), 2000)

  def test_too_large(self):
    status, _, _ = self.server.request(
        "/v1/models/toy:predict", gzip.compress(b" " * 50_000_000),
        {"Content-Encoding": "gzip"})
    self.assertEqual(status, 400)
    import grpc
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    request = predict_pb2.PredictRequest()
    request.inputs["x"].tensor_content = b"x" * 2_000_000
    with grpc.insecure_channel(self.server.grpc) as channel:
      with self.assertRaises(grpc.RpcError) as caught:
        prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict(
            request, 10)
    self.assertEqual(caught.exception.code().name, "RESOURCE_EXHAUSTED")

  def test_binary_sizes_that_lie(self):
    for header, size in ((10**9, 24), (-1, 24), ("x", 24), (None, 10**12)):
      text = json.dumps({"inputs": [{
          "name": "x", "datatype": "FP32", "shape": [2, 3],
          "parameters": {"binary_data_size": size}}]}).encode()
      header = len(text) if header is None else header
      status, _, _ = self.server.request(
          "/v2/models/toy/infer", text + b"\0" * 24,
          {"Inference-Header-Content-Length": str(header)})
      self.assertEqual(status, 400)
    text = {"name": "text", "datatype": "BYTES", "shape": [2**40], "data": []}
    self.assertEqual(self.server.post("/v2/models/toy/infer",
                                      {"inputs": [text]})[0], 400)
    raw = struct.pack("<I", 0xffffffff)
    head = json.dumps({
        "parameters": {"signature_name": "echo"}, "inputs": [
            {"name": "text", "datatype": "BYTES", "shape": [1],
             "parameters": {"binary_data_size": 4}},
            {"name": "number", "datatype": "INT64", "shape": [1, 2],
             "data": [1, 2]}]}).encode()
    status, _, _ = self.server.request(
        "/v2/models/toy/infer", head + raw,
        {"Inference-Header-Content-Length": str(len(head))})
    self.assertEqual(status, 400)

  def test_no_way_into_the_file_system(self):
    for path in ("/v1/models/..%2f..%2fetc%2fpasswd",
                 "/v2/models/../../etc/passwd", "/../../../etc/passwd"):
      answer = self.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n"
                         "Connection: close\r\n\r\n".encode())
      self.assertRegex(answer, rb"^HTTP/1.1 4")

  def test_slow_clients_block_nobody(self):
    slow = [socket.create_connection(("127.0.0.1", self.server.rest_port))
            for _ in range(50)]
    for client in slow:
      client.sendall(b"POST /v1/models/toy:predict HTTP/1.1\r\n")
    self.tearDown()
    for client in slow:
      client.close()


class Batching(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    cls.folder = pathlib.Path(tempfile.mkdtemp())
    cls.addClassCleanup(shutil.rmtree, cls.folder)
    clients.save_toy(cls.folder / "toy" / "1")
    parameters = cls.folder / "batching.config"
    # A quarter of a second for others to come, so that the tests need no luck.
    parameters.write_text("max_batch_size { value: 8 } "
                          "batch_timeout_micros { value: 250000 } "
                          "allowed_batch_sizes: 4 allowed_batch_sizes: 8")
    cls.server = clients.Server(
        PROGRAM, "--model_name=toy", f"--model_base_path={cls.folder / 'toy'}",
        "--enable_batching", f"--batching_parameters_file={parameters}")
    cls.addClassCleanup(cls.server.close)

  def ask_together(self, bodies):
    with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
      return list(pool.map(lambda body: self.server.post(
          "/v1/models/toy:predict", body), bodies))

  def stats(self):
    return json.loads(self.server.get("/v2/models/toy/stats")[1])[
        "model_stats"][0]

  def test_each_gets_its_rows(self):
    runs = self.stats()["execution_count"]
    rows = [[[float(i), 1.0, 2.0]] * (1 + i % 2) for i in range(16)]
    answers = self.ask_together([{"inputs": r} for r in rows])
    for row, (status, answer) in zip(rows, answers):
      self.assertEqual(status, 200)
      self.assertEqual(answer["outputs"]["y"],
                       [[2 * v for v in r] for r in row])
      self.assertEqual(answer["outputs"]["total"], [sum(r) for r in row])
    # 24 rows, 8 at most in a run.
    self.assertLess(self.stats()["execution_count"] - runs, 9)

  def test_only_the_wrong_one_fails(self):
    good, bad = {"instances": X}, {"instances": [[1, 2, 3, 4]]}
    answers = self.ask_together([good, bad, good, good])
    self.assertEqual([status for status, _ in answers], [200, 400, 200, 200])
    for i in (0, 2, 3):
      self.assertEqual(answers[i][1]["predictions"][1]["y"], DOUBLED[1])

  def test_rows_that_depend_on_each_other_stay_apart(self):
    request = {"signature_name": "center", "inputs": X}
    self.server.post("/v1/models/toy:predict", request)  # loads the signature
    for status, answer in self.ask_together([request] * 3 + [
        {"signature_name": "center", "inputs": [[7, 8, 9]]}] * 3):
      self.assertEqual(status, 200)
      self.assertIn(answer["outputs"],
                    ([[-1.5, -1.5, -1.75], [1.5, 1.5, 1.75]], [[0, 0, 0]]))

  def test_expired_requests_are_not_run(self):
    import grpc
    import numpy as np
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "toy"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.float32(X)))
    stats = self.stats()
    runs = stats["execution_count"]
    failed = stats["inference_stats"]["fail"]["count"]
    with grpc.insecure_channel(self.server.grpc) as channel:
      stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
      with self.assertRaises(grpc.RpcError) as caught:
        stub.Predict(request, 0.1)
    self.assertEqual(caught.exception.code().name, "DEADLINE_EXCEEDED")
    self.server.wait_until(
        lambda: self.stats()["inference_stats"]["fail"]["count"] > failed)
    self.assertEqual(self.stats()["execution_count"], runs)

  def test_a_full_queue_refuses(self):
    # Strings are not put into batches, so nothing takes them from the queue while others wait.
    server = clients.Server(
        PROGRAM, "--model_name=toy", f"--model_base_path={self.folder / 'toy'}",
        "--max_queued_requests=1", "--enable_batching",
        f"--batching_parameters_file={self.folder / 'batching.config'}")
    self.addCleanup(server.close)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      codes = list(pool.map(lambda n: server.post(
          "/v1/models/toy:predict", {"signature_name": "echo", "instances": [
              {"text": "a", "number": [1, 2]}]} if n % 2 else
          {"instances": X})[0], range(8)))
    self.assertEqual(set(codes), {200, 429})


class Lifecycle(unittest.TestCase):

  def setUp(self):
    self.folder = pathlib.Path(tempfile.mkdtemp())
    self.addCleanup(shutil.rmtree, self.folder)

  def start(self, *flags):
    server = clients.Server(
        PROGRAM, "--model_name=m", f"--model_base_path={self.folder / 'm'}",
        "--file_system_poll_wait_seconds=0.05", *flags)
    self.addCleanup(server.close)
    return server

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

  def test_sigterm_loses_no_request(self):
    clients.save_toy(self.folder / "m" / "1")
    server = self.start()
    import http.client
    refused, wrong, answered = [], [], []

    def ask():
      connection = http.client.HTTPConnection("127.0.0.1", server.rest_port)
      body = json.dumps({"instances": X})
      while True:
        try:
          connection.request("POST", "/v1/models/m:predict", body)
        except OSError:
          refused.append(1)  # not accepted: the server has closed
          return
        try:
          answer = connection.getresponse()
          text = answer.read()
        except (http.client.HTTPException, OSError):
          refused.append(1)  # closed between two requests
          return
        (answered if answer.status == 200 and b"predictions" in text else
         wrong).append((answer.status, text))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
      thread.start()
    server.wait_until(lambda: len(answered) > 50)
    started = time.monotonic()
    code = server.end()
    for thread in threads:
      thread.join()
    self.assertEqual((code, wrong), (0, []))
    self.assertLess(time.monotonic() - started, 10)

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


class Flags(unittest.TestCase):

  def run_server(self, *flags):
    import subprocess
    return subprocess.run([PROGRAM, *flags], capture_output=True, text=True,
                          timeout=60)

  def test_flags_that_are_not_there(self):
    for flags, text in (
        (["--platform_config_file=x", "--model_base_path=/x"],
         "--platform_config_file is not supported"),
        (["--no_such_flag"], "no_such_flag"), ([], "--model_base_path"),
        (["--model_base_path=/x", "--batching_parameters_file=/x"],
         "--enable_batching is not")):
      done = self.run_server(*flags)
      self.assertNotEqual(done.returncode, 0)
      self.assertIn(text, done.stderr)
    self.assertIn("Tenon", self.run_server("--version").stdout)


def main() -> int:
  global PROGRAM
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--server", required=True)
  args, rest = parser.parse_known_args()
  if not pathlib.Path(args.server).exists():
    print(f"{args.server} is not built", file=sys.stderr)
    return 77
  PROGRAM = args.server
  clients.install()
  program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
  return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
  sys.exit(main())
