"""What tests of the server need: client packages, servers that start and end, models to serve."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("TENON_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") /
                     "tenon")


def install() -> None:
  """Puts the client packages into sys.path; installs them if they are missing."""
  requirements = HERE / "requirements.txt"
  digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
  folder = CACHE / f"serve-clients-{digest}"
  if not (folder / ".complete").exists():
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", "--no-deps", "--upgrade",
                    "--target", folder, "--requirement", requirements],
                   check=True)
    (folder / ".complete").touch()
  sys.path.insert(0, str(folder))


def free_port() -> int:
  with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    return probe.getsockname()[1]


class Server:
  """A server process; ready when the constructor returns."""

  def __init__(self, program: str, *flags: str, wait: bool = True):
    self.grpc_port, self.rest_port = free_port(), free_port()
    self.process = subprocess.Popen(
        [program, "--bind_address=127.0.0.1", f"--port={self.grpc_port}",
         f"--rest_api_port={self.rest_port}", *flags],
        stderr=subprocess.PIPE, text=True)
    self.log: list[str] = []
    if wait:
      self.wait_until(lambda: self.get("/v2/health/live")[0] == 200)

  @property
  def grpc(self) -> str:
    return f"127.0.0.1:{self.grpc_port}"

  @property
  def rest(self) -> str:
    return f"127.0.0.1:{self.rest_port}"

  def wait_until(self, holds, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
      with contextlib.suppress(OSError):
        if holds():
          return
      if self.process.poll() is not None:
        raise AssertionError(f"the server ended: {self.process.stderr.read()}")
      if time.monotonic() > end:
        raise AssertionError(f"still not so after {seconds} s")
      time.sleep(0.02)

  def request(self, path: str, body: bytes | None = None,
              headers: dict[str, str] | None = None):
    """Status, headers and body of the answer, errors too."""
    request = urllib.request.Request(f"http://{self.rest}{path}", body,
                                     headers or {})
    try:
      with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
      return error.code, error.headers, error.read()

  def get(self, path: str):
    status, _, body = self.request(path)
    return status, body.decode()

  def post(self, path: str, value) -> tuple[int, dict]:
    text = value if isinstance(value, (bytes, str)) else json.dumps(value)
    body = text.encode() if isinstance(text, str) else text
    status, _, answer = self.request(path, body)
    return status, json.loads(answer)

  def metric(self, line_start: str) -> float:
    """The sum of the metrics whose lines start so."""
    lines = self.get("/metrics")[1].splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines
               if line.startswith(line_start))

  def end(self, by: signal.Signals = signal.SIGTERM) -> int:
    self.process.send_signal(by)
    _, log = self.process.communicate(timeout=60)
    self.log = log.splitlines()
    return self.process.returncode

  def close(self) -> None:
    if self.process.poll() is None:
      self.process.kill()
      self.process.communicate()


def save_toy(folder: pathlib.Path, factor: float = 2.0) -> None:
  """A model with a signature for everything that the protocols can do."""
  import tensorflow as tf  # takes seconds, so not above

  module = tf.Module()
  module.factor = tf.Variable(factor)

  def function(*specs):
    return lambda f: tf.function(f, input_signature=[
        tf.TensorSpec(shape, dtype, name) for shape, dtype, name in specs])

  @function(([None, 3], tf.float32, "x"))
  def scale(x):
    return {"y": x * module.factor, "total": tf.reduce_sum(x, axis=1)}

  @function(([None, 3], tf.float32, "x"))
  def center(x):  # looks at several rows
    return {"y": x - tf.reduce_mean(x, axis=0, keepdims=True)}

  @function(([None], tf.string, "text"), ([None, 2], tf.int64, "number"))
  def echo(text, number):
    return {"text": tf.identity(text), "text_bytes": tf.identity(text),
            "number": number + 1}

  @function(([None], tf.string, "inputs"))
  def parse(inputs):
    return tf.io.parse_example(
        inputs, {"v": tf.io.FixedLenFeature([2], tf.float32)})["v"]

  @function(([None], tf.string, "inputs"))
  def classify(inputs):
    return {"scores": parse(inputs) * 2.0}

  @function(([None], tf.string, "inputs"))
  def regress(inputs):
    return {"outputs": tf.reduce_sum(parse(inputs), axis=1)}

  tf.saved_model.save(module, str(folder), signatures={
      "serving_default": scale, "center": center, "echo": echo,
      "classify": classify, "regress": regress})
