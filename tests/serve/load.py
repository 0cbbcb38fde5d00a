#!/usr/bin/env python3
"""Load from the tools that people measure servers with: h2load, and ghz and perf_analyzer where there are.

  tests/serve/load.py --server build/bin/tensorflow_model_server [--requests 20000]

h2load (Debian's nghttp2-client) asks by gRPC and by REST over HTTP/1.1. Each tool's requests and the
server's own count of successful ones must agree; a gRPC error hides in a trailer that h2load does not
read. Prints requests per second and the tool's mean latency. Exits with 1 if anything failed.

ghz: go install github.com/bojand/ghz/cmd/ghz@latest. perf_analyzer: in the wheel of tritonclient 2.48, and
needs Debian's libb64-0d and libcudart.so.12 (the wheel nvidia-cuda-runtime-cu12).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import clients

MLP = clients.HERE.parent / "models" / "mlp" / "saved_model"
FEATURES = 16  # of the MLP
CONNECTIONS = 8


def run(*command: str) -> str:
  done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                        stdin=subprocess.DEVNULL, check=False)
  if done.returncode:
    raise SystemExit(f"{command[0]}: {done.stdout}{done.stderr}")
  return done.stdout


class Load:

  def __init__(self, server: clients.Server, requests: int,
               scratch: pathlib.Path):
    self.server = server
    self.requests = requests
    self.scratch = scratch
    self.failed = False

  def report(self, tool: str, answered: int, rate: float, mean: str,
             before: float) -> None:
    """before: the server's count of successful requests before the tool ran."""
    counted = int(self.succeeded() - before)
    ok = answered == counted == self.requests
    self.failed |= not ok
    print(f"{tool}: {answered} of {self.requests} answered, {counted} counted, "
          f"{rate:.0f} requests/s, mean {mean}{'' if ok else ' FAILED'}",
          flush=True)

  def succeeded(self) -> float:
    return self.server.metric(
        ':tensorflow:serving:request_count{model_name="m",status="OK"}')

  def h2load(self, name: str, body: bytes, path: str, port: int,
             *options: str) -> None:
    file = self.scratch / "body"
    file.write_bytes(body)
    before = self.succeeded()
    text = run("h2load", "-n", str(self.requests), "-c", str(CONNECTIONS), "-d",
               str(file), *options, f"http://127.0.0.1:{port}{path}")
    rate = re.search(r", ([\d.]+) req/s", text)
    mean = re.search(r"time for request: +\S+ +\S+ +(\S+)", text)
    codes = re.search(r"status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx", text)
    if rate is None or mean is None or codes is None:
      raise SystemExit(text)
    self.report(name, int(codes[1]), float(rate[1]), mean[1], before)

  def ghz(self, request: dict, proto: pathlib.Path) -> None:
    before = self.succeeded()
    done = json.loads(run(
        "ghz", "--insecure", "--proto", str(proto), "--import-paths",
        str(proto.parent), "--call",
        "tensorflow.serving.PredictionService/Predict", "-n",
        str(self.requests), "-c", "64", "--connections", str(CONNECTIONS),
        "-d", json.dumps(request), "-O", "json", self.server.grpc))
    self.report("ghz, gRPC Predict", done["statusCodeDistribution"].get("OK", 0),
                done["rps"], f"{done['average'] / 1e3:.0f}us", before)

  def perf_analyzer(self, protocol: str, address: str) -> None:
    before = self.succeeded()
    text = run("perf_analyzer", "-m", "m", "-i", protocol, "-u", address,
               "--shape", f"features:1,{FEATURES}", "--concurrency-range", "16",
               "--measurement-interval", "2000", "--max-trials", "4",
               "--stability-percentage", "50")
    rate = re.search(r"throughput: ([\d.]+) infer/sec", text)
    mean = re.search(r"Avg latency: (\d+) usec", text)
    answered = re.search(r"Request count: (\d+)", text)
    if rate is None or mean is None or answered is None:
      raise SystemExit(text)
    # It does not count the requests with which it begins and ends.
    counted = int(self.succeeded() - before)
    self.failed |= counted < int(answered[1])
    print(f"perf_analyzer, {protocol}: {answered[1]} answered, {counted} "
          f"counted, {float(rate[1]):.0f} requests/s, mean {mean[1]}us",
          flush=True)


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
  parser.add_argument("--server", required=True)
  parser.add_argument("--requests", type=int, default=20000)
  args = parser.parse_args()
  clients.PROGRAM = args.server
  clients.install()
  from tensorflow_serving.apis import predict_pb2
  request = predict_pb2.PredictRequest()
  request.model_spec.name = "m"
  tensor = request.inputs["features"]
  tensor.dtype = 1  # DT_FLOAT
  for size in (1, FEATURES):
    tensor.tensor_shape.dim.add().size = size
  tensor.float_val.extend([0.5] * FEATURES)
  message = request.SerializeToString()
  with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    (scratch / "m").mkdir()
    (scratch / "m" / "1").symlink_to(MLP)
    server = clients.Server("--model_name=m",
                            f"--model_base_path={scratch / 'm'}")
    load = Load(server, args.requests, scratch)
    load.h2load("h2load, gRPC Predict",
                struct.pack(">BI", 0, len(message)) + message,
                "/tensorflow.serving.PredictionService/Predict",
                server.grpc_port, "-m", "8", "-H",
                "content-type: application/grpc", "-H", "te: trailers")
    load.h2load("h2load, REST predict",
                json.dumps({"instances": [[0.5] * FEATURES]}).encode(),
                "/v1/models/m:predict", server.rest_port, "--h1", "-m", "1")
    if shutil.which("ghz"):
      proto = clients.HERE.parent.parent / "tools/serve/proto/serving.proto"
      load.ghz({"model_spec": {"name": "m"}, "inputs": {"features": {
          "dtype": "DT_FLOAT", "tensor_shape": {"dim": [
              {"size": 1}, {"size": FEATURES}]},
          "float_val": [0.5] * FEATURES}}}, proto)
    if shutil.which("perf_analyzer"):
      load.perf_analyzer("grpc", server.grpc)
      load.perf_analyzer("http", server.rest)
    code = server.end()
  return 1 if load.failed or code else 0


if __name__ == "__main__":
  sys.exit(main())
