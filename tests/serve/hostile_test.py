"""Clients that mean harm, or are broken."""

from __future__ import annotations

import concurrent.futures
import contextlib
import gzip
import json
import socket
import ssl
import struct
import threading
import time

import clients
from clients import DOUBLED
from clients import ServerTest
from clients import X

__all__ = ["HostileClients"]


class HostileClients(ServerTest):
  """After each, the server must answer as before."""

  FLAGS = ("--max_request_bytes=20000000", "--rest_api_read_timeout_in_ms=1000")

  def tearDown(self):
    status, answer = self.server.post("/v1/models/toy:predict",
                                      {"instances": X})
    self.assertEqual((status, answer["predictions"][0]["y"]), (200, DOUBLED[0]))
    self.assertIsNone(self.server.process.poll())

  def send(self, *parts: bytes, port: int | None = None,
           patience: float = 10) -> bytes:
    with socket.create_connection(
        ("127.0.0.1", port or self.server.rest_port),
        timeout=patience) as client:
      # The server may close as soon as it has seen enough.
      with contextlib.suppress(ConnectionError, OSError):
        for part in parts:
          client.sendall(part)
        client.shutdown(socket.SHUT_WR)
      answer = b""
      with contextlib.suppress(ConnectionError, TimeoutError):
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
                 '{"inputs": ' + "1" * 10_000_000 + "}",
                 '{"inputs": [[' + "0.1" * 10 + ", 1, 1]]}",
                 '{"inputs": [[1e400, 1, 1]]}'):
      self.expect_refused("/v1/models/toy:predict", body)

  def test_lists_deeper_than_a_stack(self):
    """CVE-2025-0649: wherever a value may stand, and in what errors quote."""
    deep = "[" * 250_000 + "0.5" + "]" * 250_000
    for body in ("DEEP", '{"instances": DEEP}', '{"instances": [1, DEEP]}',
                 '{"instances": [{"x": DEEP}]}', '{"inputs": {"x": DEEP}}',
                 '{"instances": [[1, 1, {"b64": DEEP}]]}',
                 '{"instances": [1], "signature_name": DEEP}'):
      self.expect_refused("/v1/models/toy:predict", body.replace("DEEP", deep))
    self.expect_refused("/v2/models/toy/infer", json.dumps({"inputs": [{
        "name": "x", "datatype": "FP32", "shape": [2, 3], "data": "DEEP"}]})
                        .replace('"DEEP"', deep))

  def expect_refused(self, path, body):
    status, answer = self.server.post(path, body)
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
    request.inputs["x"].tensor_content = b"x" * 25_000_000
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

  def test_slow_loris(self):
    # A byte now and then does not keep a connection: the whole request has one second.
    for begin in (b"GET /v2 HTTP/1.1\r\nX: ",
                  b"POST /v2 HTTP/1.1\r\nHost: a\r\nContent-Length: 999\r\n\r\n"):
      with socket.create_connection(
          ("127.0.0.1", self.server.rest_port), timeout=0.05) as client:
        client.sendall(begin)
        start = time.monotonic()
        with contextlib.suppress(ConnectionError):
          while time.monotonic() - start < 10:
            try:
              if not client.recv(1 << 16):
                break
            except TimeoutError:
              client.sendall(b"x")
        self.assertLess(time.monotonic() - start, 5)

  def test_requests_that_contradict_themselves(self):
    head = b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\n"
    for rest in (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                 b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
                 b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n",
                 b"Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n",
                 b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
                 b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                 b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}"):
      with self.subTest(rest):
        self.assertNotIn(b"200 OK", self.send(head + rest))

  def test_many_headers_and_strange_targets(self):
    for text in (b"GET /v2 HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
                 b"GET /v1/models/\x00\x01\xff HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"GET /v1/models/" + b"%00" * 5000 + b" HTTP/1.1\r\n\r\n",
                 b"GET /v2/models/" + b"m" * 60000 + b" HTTP/1.1\r\n\r\n",
                 b"BREW /v2 HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"GET /v2 HTTP/9.9\r\n\r\n"):
      self.assertNotIn(b"200 OK", self.send(text))

  def test_the_wrong_protocol(self):
    self.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", port=self.server.grpc_port)
    self.assertNotIn(b"200 OK", self.send(PREFACE + frame(SETTINGS)))
    for port in (self.server.grpc_port, self.server.rest_port):
      with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        with self.assertRaises((ssl.SSLError, OSError)):
          ssl.create_default_context().wrap_socket(plain, server_hostname="a")

  def test_http2_frames(self):
    request = frame(HEADERS, headers("/tensorflow.serving.PredictionService/"
                                     "Predict"), END_HEADERS, 1)
    for frames in (
        # A message of 2 GB is announced, and 4 GB.
        request + frame(DATA, struct.pack(">BI", 0, 0x7fffffff) + b"x", 0, 1),
        request + frame(DATA, struct.pack(">BI", 0, 0xffffffff) + b"x", 0, 1),
        # A packed message that is none, and a flag that does not exist.
        request + frame(DATA, struct.pack(">BI", 1, 5) + b"hello", 1, 1),
        request + frame(DATA, struct.pack(">BI", 77, 5) + b"hello", 1, 1),
        # Frames on no stream, of no known type, of the wrong size, too large.
        frame(DATA, b"x" * 100, 0, 0), frame(0xee, b"x" * 100, 0xff, 7),
        frame(WINDOW_UPDATE, b"\0" * 4), frame(WINDOW_UPDATE, b"\0"),
        frame(SETTINGS, b"\xff" * 7), b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
        # Header compression that refers to nothing, and grows without end.
        frame(HEADERS, b"\xff" * 500, END_HEADERS, 1),
        frame(HEADERS, b"\x3f\xff\xff\xff\xff\xff\xff\xff", END_HEADERS, 1),
        # Floods: settings, pings, streams that are reset at once.
        frame(SETTINGS, b"") * 5000, frame(PING, b"12345678") * 5000,
        b"".join(frame(HEADERS, headers("/x"), END_HEADERS, 2 * i + 1) +
                 frame(RST_STREAM, b"\0\0\0\x08", 0, 2 * i + 1)
                 for i in range(2000))):
      self.send(PREFACE + frame(SETTINGS) + frames,
                port=self.server.grpc_port, patience=0.5)
      self.assertIsNone(self.server.process.poll())

  def test_messages_that_are_none(self):
    import grpc
    with grpc.insecure_channel(self.server.grpc) as channel:
      for service in ("tensorflow.serving.PredictionService/Predict",
                      "tensorflow.serving.PredictionService/MultiInference",
                      "tensorflow.serving.ModelService/HandleReloadConfigRequest",
                      "inference.GRPCInferenceService/ModelInfer", "no/such"):
        for message in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x07",
                        b"\x0b" * 5000, b"\x0a\x03\x0a\x01\xff"):
          with self.assertRaises(grpc.RpcError):
            channel.unary_unary(f"/{service}")(message, timeout=10)
      with self.assertRaises(grpc.RpcError):
        channel.unary_unary("/inference.GRPCInferenceService/ServerLive")(
            b"", timeout=10, metadata=(("x", "y" * 200_000),))
    # Nobody writes into the log but the server.
    for line in self.server.output().splitlines():
      self.assertTrue(line.startswith("{"), line)

  def test_tensors_that_lie(self):
    import grpc
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    with grpc.insecure_channel(self.server.grpc) as channel:
      stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
      for dtype, dims, content in ((1, [-1, 3], b""), (1, [2**40, 3], b"1234"),
                                   (1, [2**31, 2**31, 2**31], b"1234"),
                                   (99, [1, 3], b"x" * 12), (0, [1], b"1234"),
                                   (7, [1, 3], b"abc"), (1, [1] * 300, b"1234"),
                                   (21, [1, 3], b"x" * 12)):
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "toy"
        tensor = request.inputs["x"]
        tensor.dtype = dtype
        tensor.tensor_content = content
        for dim in dims:
          tensor.tensor_shape.dim.add(size=dim)
        with self.assertRaises(grpc.RpcError) as caught:
          stub.Predict(request, 10)
        self.assertEqual(caught.exception.code().name, "INVALID_ARGUMENT")

  def test_connections_that_come_and_go(self):
    reset = struct.pack("ii", 1, 0)
    for port in (self.server.rest_port, self.server.grpc_port):
      for i in range(500):
        client = socket.create_connection(("127.0.0.1", port), timeout=10)
        if i % 2:
          client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        client.close()

  def test_hanging_up_while_the_model_runs(self):
    body = json.dumps({"instances": X * 2000}).encode()
    request = (b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\n"
               b"Content-Length: %d\r\n\r\n" % len(body)) + body
    for _ in range(50):
      client = socket.create_connection(
          ("127.0.0.1", self.server.rest_port), timeout=10)
      client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
      client.sendall(request)
      client.close()

  def test_twenty_thousand_tiny_requests(self):
    count = 5000
    request = b"GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n"
    last = request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")

    def ask(_):
      with socket.create_connection(
          ("127.0.0.1", self.server.rest_port), timeout=60) as client:
        sending = threading.Thread(
            target=client.sendall, args=(request * (count - 1) + last,))
        sending.start()
        answer = b""
        while chunk := client.recv(1 << 16):
          answer += chunk
        sending.join()
        return answer.count(b"HTTP/1.1 200 OK")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
      self.assertEqual(list(pool.map(ask, range(4))), [count] * 4)

  def test_a_stream_that_never_reads(self):
    import grpc
    from tritonclient.grpc import service_pb2
    request = service_pb2.ModelInferRequest(model_name="toy")
    tensor = request.inputs.add(name="x", datatype="FP32", shape=[1000, 3])
    del tensor
    request.raw_input_contents.append(b"\0" * 12000)
    with grpc.insecure_channel(self.server.grpc) as channel:
      call = channel.stream_stream(
          "/inference.GRPCInferenceService/ModelStreamInfer",
          request_serializer=service_pb2.ModelInferRequest.SerializeToString)(
              iter([request] * 2000))
      time.sleep(0.5)
      call.cancel()


# HTTP/2 by hand.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_HEADERS = 4


def frame(kind: int, body: bytes = b"", flags: int = 0, stream: int = 0):
  return struct.pack(">I", len(body))[1:] + struct.pack(
      ">BBI", kind, flags, stream) + body


def headers(path: str) -> bytes:
  """Literal fields, without indexing or Huffman coding."""
  fields = {":method": "POST", ":scheme": "http", ":path": path,
            ":authority": "a", "te": "trailers",
            "content-type": "application/grpc"}
  return b"".join(b"\0" + bytes([len(k)]) + k.encode() + bytes([len(v)]) +
                  v.encode() for k, v in fields.items())
