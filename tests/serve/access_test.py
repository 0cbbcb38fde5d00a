"""Who may ask, over what, and what people see: TLS, tokens, traces, the page of the models; calls
that only some clients have."""

from __future__ import annotations

import http.client
import json
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import unittest
import urllib.error

import clients
from clients import DOUBLED
from clients import ServerTest
from clients import X

__all__ = ["Encrypted", "MoreCalls", "Traces", "WithTokens"]

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def predict_request(model="toy", signature=""):
  import numpy as np
  import tensorflow as tf
  from tensorflow_serving.apis import predict_pb2
  request = predict_pb2.PredictRequest()
  request.model_spec.name = model
  request.model_spec.signature_name = signature
  request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.float32(X)))
  return request


def predictions(channel):
  from tensorflow_serving.apis import prediction_service_pb2_grpc
  return prediction_service_pb2_grpc.PredictionServiceStub(channel)


class WithTokens(ServerTest):

  @classmethod
  def setUpClass(cls):
    folder = pathlib.Path(tempfile.mkdtemp())
    cls.addClassCleanup(shutil.rmtree, folder)
    cls.file = folder / "tokens"
    cls.file.write_text("# who asks\nalpha-token\n\nbeta-token\n")
    cls.FLAGS = (f"--bearer_token_file={cls.file}",)
    super().setUpClass()

  def code(self, path, token=None, body=None):
    headers = {"Authorization": token} if token else {}
    return self.server.request(path, body, headers)[0]

  def test_rest(self):
    body = json.dumps({"instances": X}).encode()
    for path, content in (("/v1/models/toy", None), ("/v2", None), ("/", None),
                          ("/metrics", None), ("/v1/models/toy:predict", body)):
      with self.subTest(path):
        for wrong in (None, "alpha-token", "Bearer", "Bearer alpha-toke",
                      "Bearer alpha-tokenx", "Basic alpha-token",
                      "Bearer # who asks"):
          self.assertEqual(self.code(path, wrong, content), 401)
        for right in ("Bearer alpha-token", "bearer beta-token"):
          self.assertEqual(self.code(path, right, content), 200)
    # Whoever restarts containers has no token.
    self.assertEqual(self.code("/v2/health/ready"), 200)

  def test_grpc(self):
    import grpc
    import tritonclient.grpc as triton
    with grpc.insecure_channel(self.server.grpc) as channel:
      stub = predictions(channel)
      for metadata in ((), (("authorization", "Bearer wrong"),)):
        with self.assertRaises(grpc.RpcError) as caught:
          stub.Predict(predict_request(), 10, metadata=metadata)
        self.assertEqual(caught.exception.code().name, "UNAUTHENTICATED")
      answer = stub.Predict(predict_request(), 10,
                            metadata=(("authorization", "Bearer beta-token"),))
      self.assertEqual(list(answer.outputs["total"].float_val), [6.0, 15.5])
      check = channel.unary_unary("/grpc.health.v1.Health/Check")
      self.assertEqual(check(b"", timeout=10), b"\x08\x01")
    client = triton.InferenceServerClient(self.server.grpc)
    self.assertTrue(client.is_server_ready())
    with self.assertRaisesRegex(triton.InferenceServerException, "token"):
      client.get_model_metadata("toy")
    client.get_model_metadata("toy",
                              headers={"authorization": "Bearer alpha-token"})

  def test_the_file_changes(self):
    self.file.write_text("alpha-token\nbeta-token\ngamma-token\n")
    self.server.wait_until(
        lambda: self.code("/v2", "Bearer gamma-token") == 200)
    self.file.write_text("")  # as if it were half written: the tokens stay
    self.server.wait_until(
        lambda: self.server.messages("tokens stay as they are"))
    self.assertEqual(self.code("/v2", "Bearer gamma-token"), 200)


class Encrypted(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    cls.folder = pathlib.Path(tempfile.mkdtemp())
    cls.addClassCleanup(shutil.rmtree, cls.folder)
    clients.save_toy(cls.folder / "m" / "1")
    # An authority, and what it signed: a server and a client.
    cls.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=ca",
                "-keyout", "ca.key", "-out", "ca.pem", "-days", "2")
    names = cls.folder / "names"
    names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for name in ("server", "client"):
      cls.openssl("req", "-newkey", "ec", "-pkeyopt",
                  "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                  f"/CN={name}", "-keyout", f"{name}.key", "-out",
                  f"{name}.csr")
      cls.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem",
                  "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem",
                  "-days", "2", "-extfile", str(names))

  @classmethod
  def openssl(cls, *arguments):
    subprocess.run(["openssl", *arguments], cwd=cls.folder, check=True,
                   capture_output=True)

  def start(self, verify: bool, context: ssl.SSLContext):
    text = lambda name: json.dumps((self.folder / name).read_text())
    config = self.folder / f"ssl-{verify}"
    config.write_text(
        f"server_key: {text('server.key')} server_cert: {text('server.pem')} "
        f"custom_ca: {text('ca.pem')} client_verify: {str(verify).lower()}")
    server = clients.Server(
        "--model_name=m", f"--model_base_path={self.folder / 'm'}",
        f"--ssl_config_file={config}", f"--rest_api_ssl_config_file={config}",
        tls=context)
    self.addCleanup(server.close)
    return server

  def context(self):
    return ssl.create_default_context(cafile=str(self.folder / "ca.pem"))

  def test_tls(self):
    server = self.start(False, self.context())
    status, answer = server.post("/v1/models/m:predict", {"inputs": X})
    self.assertEqual((status, answer["outputs"]["y"]), (200, DOUBLED))
    # Large, on one connection, and who does not trust it leaves.
    status, answer = server.post("/v1/models/m:predict", {"inputs": X * 20000})
    self.assertEqual((status, len(answer["outputs"]["y"])), (200, 40000))
    server.tls = ssl.create_default_context()
    with self.assertRaises(urllib.error.URLError):
      server.get("/v2")
    server.tls = None  # no TLS at all
    with self.assertRaises((OSError, http.client.HTTPException)):
      server.get("/v2")
    server.tls = self.context()
    self.assertEqual(server.get("/v2")[0], 200)
    self.assertEqual(server.end(), 0)

  def test_mutual_tls(self):
    import grpc
    context = self.context()
    context.load_cert_chain(self.folder / "client.pem",
                            self.folder / "client.key")
    server = self.start(True, context)
    self.assertEqual(server.get("/v2/health/ready")[0], 200)
    server.tls = self.context()  # no certificate
    with self.assertRaises(OSError):
      server.get("/v2")
    read = lambda name: (self.folder / name).read_bytes()
    for own, code in (((read("client.key"), read("client.pem")), None),
                      ((None, None), "UNAVAILABLE")):
      credentials = grpc.ssl_channel_credentials(read("ca.pem"), *own)
      with grpc.secure_channel(f"localhost:{server.grpc_port}",
                               credentials) as channel:
        if code is None:
          predictions(channel).Predict(predict_request("m"), 10)
          continue
        with self.assertRaises(grpc.RpcError) as caught:
          predictions(channel).Predict(predict_request("m"), 10)
        self.assertEqual(caught.exception.code().name, code)


class Traces(ServerTest):

  def lines(self, trace_id):
    return [line for line in self.server.messages("request")
            if line["trace_id"] == trace_id]

  def test_rest(self):
    body = json.dumps({"instances": X}).encode()
    trace = TRACE.replace("0af7", "1111")
    _, headers, _ = self.server.request("/v1/models/toy:predict", body,
                                        {"traceparent": trace})
    self.assertEqual(headers["traceparent"], trace)
    self.server.wait_until(lambda: self.lines(trace[3:35]))
    (line,) = self.lines(trace[3:35])
    self.assertEqual((line["call"], line["status"], line["parent_id"]),
                     ("POST /v1/models/toy:predict", "200", trace[36:52]))
    # Not sampled: only errors are logged.
    quiet = TRACE.replace("0af7", "2222")[:-2] + "00"
    for path in ("toy", "none"):
      self.server.request(f"/v1/models/{path}:predict", body,
                          {"traceparent": quiet})
    self.assertEqual([line["status"] for line in self.lines(quiet[3:35])],
                     ["404"])
    for wrong in ("", "00", TRACE.upper(), TRACE + "-x", "ff" + TRACE[2:],
                  TRACE.replace("-b7ad6b7169203331-", "-0000000000000000-")):
      _, headers, _ = self.server.request("/v2", None, {"traceparent": wrong})
      self.assertNotIn("traceparent", headers)

  def test_grpc(self):
    import grpc
    trace = TRACE.replace("0af7", "3333")
    with grpc.insecure_channel(self.server.grpc) as channel:
      _, call = predictions(channel).Predict.with_call(
          predict_request(), 10, metadata=(("traceparent", trace),))
    self.assertIn(("traceparent", trace), call.initial_metadata())
    self.server.wait_until(lambda: self.lines(trace[3:35]))
    (line,) = self.lines(trace[3:35])
    self.assertEqual((line["call"], line["model"], line["status"]),
                     ("Predict", "toy", "OK"))


class MoreCalls(ServerTest):

  def test_multi_inference(self):
    import grpc
    from tensorflow_serving.apis import inference_pb2
    request = inference_pb2.MultiInferenceRequest()
    for row in ([0.5, 1.0], [2.0, 3.0]):
      request.input.example_list.examples.add(
      ).features.feature["v"].float_list.value.extend(row)

    def add(signature, method, model="toy"):
      task = request.tasks.add(method_name=f"tensorflow/serving/{method}")
      task.model_spec.name = model
      task.model_spec.signature_name = signature

    with grpc.insecure_channel(self.server.grpc) as channel:
      call = predictions(channel).MultiInference

      def error():
        with self.assertRaises(grpc.RpcError) as caught:
          call(request, 10)
        return caught.exception.code().name, caught.exception.details()

      self.assertEqual(error(), ("INVALID_ARGUMENT",
                                 "ModelSpec has no name specified."))
      add("regress", "regress")
      add("classify", "classify")
      first, second = call(request, 10).results
      self.assertEqual([r.value for r in first.regression_result.regressions],
                       [1.5, 5])
      self.assertEqual(
          [[c.score for c in r.classes]
           for r in second.classification_result.classifications],
          [[1, 2], [4, 6]])
      self.assertEqual((second.model_spec.version.value,
                        second.model_spec.signature_name), (1, "classify"))
      for signature, method, model, code, text in (
          ("regress", "regress", "toy", "INVALID_ARGUMENT",
           "Duplicate evaluation of signature: regress"),
          ("none", "regress", "toy", "INVALID_ARGUMENT",
           "Requested signature not found in model graph: none"),
          ("echo", "predict", "toy", "UNIMPLEMENTED",
           "Unsupported signature method_name: tensorflow/serving/predict"),
          ("echo", "regress", "two", "INVALID_ARGUMENT",
           "All ModelSpecs in a MultiInferenceRequest must access the same "
           "model name."),
          ("echo", "classify", "toy", "INVALID_ARGUMENT",
           "Expected one input Tensor.")):
        with self.subTest(text):
          add(signature, method, model)
          self.assertEqual(error(), (code, text))
          del request.tasks[-1]

  def test_stream(self):
    import queue
    import numpy as np
    import tritonclient.grpc as triton
    answers = queue.Queue()
    with triton.InferenceServerClient(self.server.grpc) as client:
      client.start_stream(lambda result, error: answers.put((result, error)))
      for i in range(200):
        value = np.float32([[i, 1, 2]] if i != 77 else [[1, 2]])
        tensor = triton.InferInput("x", value.shape, "FP32")
        tensor.set_data_from_numpy(value)
        client.async_stream_infer("toy", [tensor], request_id=str(i))
      # In order; only the wrong one fails.
      for i in range(200):
        result, error = answers.get(timeout=30)
        if i == 77:
          self.assertIn("'x'", str(error))
        else:
          self.assertIsNone(error)
          self.assertEqual(result.get_response().id, str(i))
          self.assertEqual(result.as_numpy("y")[0, 0], 2 * i)
      client.stop_stream()

  def test_page_and_graphs(self):
    status, page = self.server.get("/")
    self.assertEqual(status, 200)
    for text in ("toy", "serving_default", "[-1, 3]", "broken", "ended: "):
      self.assertIn(text, page)
    self.assertNotIn("http://", page)
    link = "/graphs/toy/1/serving_default"
    self.assertIn(f'href="{link}"', page)
    status, graph = self.server.get(link)
    self.assertEqual((status, json.loads(graph)["schema"]),
                     (200, "tenon.explore"))
    for path in ("/graphs/toy/1", "/graphs/toy/9/serving_default",
                 "/graphs/toy/1/none", "/graphs/../1/x", "/graphs/"):
      self.assertEqual(self.server.get(path)[0], 404)

  def test_threads_are_measured(self):
    (start,) = self.server.messages("starting")
    self.assertEqual((start["streams"], start["threads"]),
                     ("measured", "measured"))
    chosen = {line["model"]: line["threads"]
              for line in self.server.messages("threads")}
    if int(start["cpus"]) > 1:
      self.assertEqual(chosen.get("toy"), "1")  # a small model
