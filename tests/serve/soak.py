#!/usr/bin/env python3
"""A mixed load with faults, for an hour: no error that a client did not cause, and flat memory.

  tests/serve/soak.py --server build/bin/tensorflow_model_server [--seconds 3600] [--rate N] [--plot FILE.svg]

Clients of all APIs ask two models; one gets a new version every few seconds. Meanwhile others send
what is wrong, hang up in the middle, copy half a version, and open connections that say nothing. Every
second, what happened is noted, with the server's memory, file descriptors and threads;
bench/results/DATE-serve-soak.json has the notes. Exits with 1 if a correct request got an error, if the
server ended, if the least memory of the last fifth of the time is more than 5 % above that of the
second fifth, if the least number of descriptors is larger, or that of threads by more than gRPC's own
pool may grow. (Between two unloadings, malloc keeps what requests have freed, so memory goes up and
down; the least is what is needed.)
"""

from __future__ import annotations

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time

import clients

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
import report  # noqa: E402  the path is set above
import svg  # noqa: E402

ANSWERED = ("REST", "Predict", "ModelInfer")  # counts of correct requests
MLP = ROOT / "tests" / "models" / "mlp" / "saved_model"


class Soak:

  def __init__(self, server: clients.Server, folder: pathlib.Path,
               features: int, rate: float):
    """rate: most correct requests per second of all clients; 0: no limit."""
    self.server = server
    self.folder = folder
    self.features = features
    self.correct = [self.rest] * 2 + [self.predict] * 2 + [self.infer]
    # What each client waits between two requests. A tenth of a limited rate is hostile, and as much
    # impatient.
    self.pause = len(self.correct) / rate if rate else 0.0
    self.fault_pause = 10 / rate if rate else 0.02
    self.stop = threading.Event()
    self.lock = threading.Lock()
    self.counts: collections.Counter[str] = collections.Counter()
    self.errors: list[str] = []

  def count(self, what: str) -> None:
    with self.lock:
      self.counts[what] += 1

  def error(self, who: str, what: object) -> None:
    with self.lock:
      self.counts["errors"] += 1
      if len(self.errors) < 100:
        self.errors.append(f"{who}: {what}")

  # Correct clients.

  def rest(self) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", self.server.rest_port,
                                            timeout=30)
    while not self.stop.wait(self.pause):
      rows = random.choice((1, 1, 1, 7))
      body = json.dumps({"instances": [[0.5] * self.features] * rows})
      connection.request("POST", "/v1/models/mlp:predict", body)
      answer = connection.getresponse()
      text = answer.read()
      if answer.status != 200 or len(json.loads(text)["predictions"]) != rows:
        self.error("REST", (answer.status, text[:200]))
      self.count("REST")

  def predict(self) -> None:
    import grpc
    import numpy as np
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    with grpc.insecure_channel(self.server.grpc) as channel:
      stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
      while not self.stop.wait(self.pause):
        rows = random.choice((1, 3, 50))
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "mlp"
        request.inputs["features"].CopyFrom(tf.make_tensor_proto(
            np.full((rows, self.features), 0.5, np.float32)))
        answer = stub.Predict(request, 30)
        (output,) = answer.outputs.values()
        if output.tensor_shape.dim[0].size != rows:
          self.error("Predict", output.tensor_shape)
        self.count("Predict")

  def infer(self) -> None:
    import numpy as np
    import tritonclient.grpc as triton
    client = triton.InferenceServerClient(self.server.grpc)
    value = np.full((2, 3), 2, np.float32)
    tensor = triton.InferInput("x", value.shape, "FP32")
    tensor.set_data_from_numpy(value)
    while not self.stop.wait(self.pause):
      y = client.infer("toy", [tensor]).as_numpy("y")
      if y.tolist() not in ([[4.0] * 3] * 2, [[6.0] * 3] * 2):
        self.error("ModelInfer", y)
      self.count("ModelInfer")

  # Faults.

  def hostile(self) -> None:
    texts = (b"\x00\xff" * 500, b"POST /v1/models/mlp:predict HTTP/1.1\r\n",
             b"POST /v1/models/mlp:predict HTTP/1.1\r\nContent-Length: 99\r\n\r\n{",
             b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n",
             b"POST /v1/models/mlp:predict HTTP/1.1\r\nContent-Length: 20\r\n\r\n"
             b'{"instances": [[1]]}', b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
             b"\xff" * 300)
    while not self.stop.wait(self.fault_pause):
      port = random.choice((self.server.rest_port, self.server.grpc_port))
      client = socket.create_connection(("127.0.0.1", port), timeout=30)
      try:
        client.sendall(random.choice(texts))
        if random.random() < 0.5:
          client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack("ii", 1, 0))
      except OSError:
        pass
      client.close()
      self.count("hostile")

  def impatient(self) -> None:
    import grpc
    import numpy as np
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "mlp"
    request.inputs["features"].CopyFrom(tf.make_tensor_proto(
        np.full((200, self.features), 0.5, np.float32)))
    with grpc.insecure_channel(self.server.grpc) as channel:
      stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
      while not self.stop.wait(self.fault_pause):
        call = stub.Predict.future(request, random.choice((0.0005, 0.002, 5)))
        if random.random() < 0.5:
          call.cancel()
        call.exception() if not call.cancelled() else None
        self.count("impatient")

  def versions(self) -> None:
    """A new version of the toy every other time, half a version in between."""
    version = 2
    while not self.stop.wait(3):
      folder = self.folder / "toy" / str(version)
      if version % 2:
        folder.mkdir()
        (folder / "saved_model.pb").write_bytes(b"half")
      else:
        half = self.folder / "half"
        clients.save_toy(half, 2.0 if version % 4 else 3.0)
        half.rename(folder)
        self.count("reloads")
      if version > 4:
        shutil.rmtree(self.folder / "toy" / str(version - 3))
      version += 1

  def run(self, seconds: float, minute) -> list[dict]:
    """minute: called with the notes so far, once a minute."""
    threads = []
    for work in [*self.correct, self.hostile, self.impatient, self.versions]:
      def guarded(work=work):
        try:
          work()
        except Exception as error:  # noqa: BLE001  whatever it is, it is an error of the server
          self.error(work.__name__, repr(error))
      threads.append(threading.Thread(target=guarded, name=work.__name__))
    for thread in threads:
      thread.start()
    notes, start = [], time.monotonic()
    while time.monotonic() - start < seconds and (
        self.server.process.poll() is None):
      time.sleep(1)
      with self.lock:
        counts = dict(self.counts)
      notes.append({"seconds": round(time.monotonic() - start, 1),
                    "bytes": self.server.memory(),
                    "descriptors": self.server.entries("fd"),
                    "threads": self.server.entries("task"), **counts})
      if len(notes) % 60 == 0:
        minute(notes)
    self.stop.set()
    for thread in threads:
      thread.join()
    return notes


def plot(notes: list[dict], path: pathlib.Path) -> None:
  """What the server held and did, over the time."""
  width, left, top, chart = 720, 60, 30, 90
  seconds = notes[-1]["seconds"]
  totals = [sum(n.get(k, 0) for k in ANSWERED) for n in notes]
  step = max(1, len(notes) // 120)
  rates = [(notes[i]["seconds"], (totals[i] - totals[i - step]) /
            (notes[i]["seconds"] - notes[i - step]["seconds"]))
           for i in range(step, len(notes), step)]
  rows = [([(n["seconds"], n["bytes"] / 1e6) for n in notes[::step]],
           "MB of memory", "#1f6f8b"),
          ([(n["seconds"], n["descriptors"]) for n in notes[::step]],
           "file descriptors", "#6b8e23"),
          ([(n["seconds"], n["threads"]) for n in notes[::step]],
           "threads", "#8a5a9e"),
          (rates, "correct answers/s", "#b0413e")]
  height = len(rows) * (chart + top) + top
  picture = svg.Svg(width, height, "memory, file descriptors, threads and "
                    "answers over the time of a mixed load")
  for row, (series, label, color) in enumerate(rows):
    low = top + row * (chart + top)
    most = max(v for _, v in series) * 1.1
    picture.text(left, low - 8, label, fill=color)
    for part in (0, 0.5, 1):
      y = low + chart * (1 - part)
      picture.line([(left, y), (width - 10, y)], "#dddddd")
      picture.text(left - 6, y + 4, f"{most * part:.0f}", "end")
    picture.line([(left + (width - left - 10) * t / seconds,
                   low + chart * (1 - v / most)) for t, v in series], color, 1.5)
  picture.text(width - 10, height - 8, f"{seconds / 60:.0f} minutes", "end")
  path.write_text(picture.finish())


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
  parser.add_argument("--server", required=True)
  parser.add_argument("--seconds", type=float, default=3600)
  parser.add_argument("--rate", type=float, default=0,
                      help="most correct requests per second; 0: no limit")
  parser.add_argument("--plot", type=pathlib.Path)
  args = parser.parse_args()
  clients.PROGRAM = args.server
  clients.install()
  machine = report.machine()
  with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    clients.save_toy(folder / "toy" / "1")
    (folder / "mlp").mkdir()
    (folder / "mlp" / "1").symlink_to(MLP)
    config = folder / "models.config"
    config.write_text("model_config_list {" + "".join(
        f'config {{ name: "{name}" base_path: "{folder / name}" '
        f'model_platform: "tensorflow" }}' for name in ("toy", "mlp")) + "}")
    server = clients.Server(f"--model_config_file={config}", "--enable_batching",
                            "--file_system_poll_wait_seconds=0.2",
                            "--rest_api_read_timeout_in_ms=2000")
    (spec,) = json.loads(server.get("/v2/models/mlp")[1])["inputs"]
    soak = Soak(server, folder, spec["shape"][1], args.rate)

    def minute(notes: list[dict]) -> None:
      print(json.dumps(notes[-1]), flush=True)
      if args.plot:
        plot(notes, args.plot)

    notes = soak.run(args.seconds, minute)
    code = server.end()
  fifth = len(notes) // 5
  least = {what: {"early": min(n[what] for n in notes[fifth:2 * fifth]),
                  "late": min(n[what] for n in notes[-fifth:])}
           for what in ("bytes", "descriptors", "threads")}
  grown = {what: l["late"] - l["early"] for what, l in least.items()}
  # gRPC's executor grows to twice the CPUs. A thread left behind by each reload would be hundreds.
  flat = (grown["bytes"] <= 0.05 * least["bytes"]["early"] and
          grown["descriptors"] <= 0 and grown["threads"] <= 2 * os.cpu_count())
  record = {"revision": report.revision(), "machine": machine,
            "load_after": os.getloadavg()[0], "seconds": args.seconds,
            "rate": args.rate, "counts": notes[-1], "errors": soak.errors,
            "exit": code, "least": least,
            "notes": notes[::max(1, len(notes) // 600)]}
  print(report.write_json("serve-soak", record))
  print(json.dumps({k: v for k, v in record.items() if k != "notes"}, indent=2))
  if args.plot:
    plot(notes, args.plot)
  return 1 if soak.errors or code or not flat else 0


if __name__ == "__main__":
  sys.exit(main())
