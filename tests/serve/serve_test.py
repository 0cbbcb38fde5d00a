#!/usr/bin/env python3
"""The server, asked by the clients that people have: tensorflow-serving-api, tritonclient, HTTP.

  tests/serve/serve_test.py --server build/bin/tensorflow_model_server [unittest's options]

Ends with 77 (skipped) if there is no server to test.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import math
import pathlib
import subprocess
import sys
import unittest

import clients
from access_test import *  # noqa: F403  cases
from batching_test import *  # noqa: F403  cases
from clients import DOUBLED
from clients import ServerTest
from clients import X
from grpc_test import *  # noqa: F403  cases
from hostile_test import *  # noqa: F403  cases
from lifecycle_test import *  # noqa: F403  cases


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

  def test_curl(self):
    url = f"http://{self.server.rest}/v1/models/toy:predict"
    body = json.dumps({"instances": X * 50})
    # Chunks, a packed answer, "100 Continue", and a second request on the same connection.
    done = subprocess.run(
        ["curl", "-sS", "--fail", "--compressed", "-H",
         "Transfer-Encoding: chunked", "-H", "Expect: 100-continue", "-d", "@-",
         "-w", "\n%{num_connects}\n", url, url], input=body, text=True,
        capture_output=True, check=True, timeout=30)
    first, connects, rest = done.stdout.split("\n", 2)
    self.assertEqual((len(json.loads(first)["predictions"]), connects),
                     (100, "1"))
    self.assertTrue(rest.rstrip().endswith("\n0"), rest[-50:])

  def test_metrics(self):
    name = ':tensorflow:serving:request_count{model_name="toy",status="OK"}'
    before = self.server.metric(name)
    self.predict({"instances": X})
    self.assertEqual(self.server.metric(name), before + 1)
    self.assertIn('tenon_model_available{model_name="broken",version="1"} 0',
                  self.server.get("/monitoring/prometheus/metrics")[1])


class Flags(unittest.TestCase):

  def run_server(self, *flags):
    return subprocess.run([clients.PROGRAM, *flags], capture_output=True, text=True,
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
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--server", required=True)
  args, rest = parser.parse_known_args()
  if not pathlib.Path(args.server).exists():
    print(f"{args.server} is not built", file=sys.stderr)
    return 77
  clients.PROGRAM = args.server
  clients.install()
  program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
  return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
  sys.exit(main())
