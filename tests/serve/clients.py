"""What tests of the server need: client packages, servers that start and end, models to serve, and
the case that most tests are of."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("TENON_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") /
                     "tenon")


# The server to test; serve_test.py sets it.
PROGRAM = ""

X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]
DOUBLED = [[2.0, 4.0, 6.0], [8.0, 10.0, 13.0]]


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


def free_ports() -> tuple[int, int]:
  with socket.socket() as first, socket.socket() as second:
    first.bind(("127.0.0.1", 0))
    second.bind(("127.0.0.1", 0))
    return first.getsockname()[1], second.getsockname()[1]


class Server:
  """A server process; ready when the constructor returns."""

  def __init__(self, *flags: str, wait: bool = True,
               tls: ssl.SSLContext | None = None, program: str = "",
               script: str = ""):
    self.grpc_port, self.rest_port = free_ports()
    # Not a pipe: nobody reads it while the server runs.
    self._log = tempfile.TemporaryFile("w+")
    self.tls = tls
    self.asked = 0  # answers to the requests of this object
    self.process = subprocess.Popen(
        [program or PROGRAM, *([script] if script else []),
         "--bind_address=127.0.0.1",
         f"--port={self.grpc_port}", f"--rest_api_port={self.rest_port}",
         *flags], stderr=self._log, text=True)
    if wait:
      self.wait_until(lambda: self.get("/v2/health/live")[0] == 200)

  @property
  def grpc(self) -> str:
    return f"127.0.0.1:{self.grpc_port}"

  @property
  def rest(self) -> str:
    return f"127.0.0.1:{self.rest_port}"

  def output(self) -> str:
    with open(f"/proc/self/fd/{self._log.fileno()}", encoding="utf-8") as text:
      return text.read()

  def log(self) -> list[dict]:
    """The log so far, by line; a line that is being written does not count."""
    return [json.loads(line) for line in self.output().splitlines(True)
            if line.startswith("{") and line.endswith("}\n")]

  def messages(self, message: str) -> list[dict]:
    return [line for line in self.log() if line["message"] == message]

  def memory(self) -> int:
    """Resident bytes, shared libraries included: whether their pages are the process's own
    depends on what else runs."""
    with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="utf-8") as lines:
      return 1024 * sum(int(line.split()[1]) for line in lines
                        if line.startswith(("Rss:", "Swap:")))

  def entries(self, folder: str) -> int:
    """How many "fd" or "task" entries the process has: file descriptors, threads."""
    return len(os.listdir(f"/proc/{self.process.pid}/{folder}"))

  def wait_until(self, holds, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
      with contextlib.suppress(OSError):
        if holds():
          return
      if self.process.poll() is not None:
        raise AssertionError(f"the server ended: {self.output()}")
      if time.monotonic() > end:
        raise AssertionError(f"still not so after {seconds} s")
      time.sleep(0.02)

  def request(self, path: str, body: bytes | None = None,
              headers: dict[str, str] | None = None):
    """Status, headers and body of the answer, errors too."""
    scheme = "https" if self.tls else "http"
    request = urllib.request.Request(f"{scheme}://{self.rest}{path}", body,
                                     headers or {})
    try:
      with urllib.request.urlopen(request, timeout=30,
                                  context=self.tls) as answer:
        self.asked += 1
        return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
      self.asked += 1
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
    return self.process.wait(timeout=60)

  def close(self) -> None:
    if self.process.poll() is None:
      self.process.kill()
      self.process.wait()
    self._log.close()


@functools.cache
def _toy(factor: float) -> pathlib.Path:
  import tensorflow as tf  # takes seconds, so not above

  folder = pathlib.Path(tempfile.mkdtemp(prefix="tenon-toy-"))
  atexit.register(shutil.rmtree, folder)

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

  @function(([None, None], tf.float32, "x"))
  def ragged(x):  # rows of any length
    return {"y": x * module.factor}

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
      "ragged": ragged, "classify": classify, "regress": regress})
  return folder


def save_toy(folder: pathlib.Path, factor: float = 2.0) -> None:
  """A model with a signature for everything that the protocols can do."""
  shutil.copytree(_toy(factor), folder)


class ServerTest(unittest.TestCase):
  """All tests ask one server, which has a good model, a broken one, and one with two versions."""

  FLAGS: tuple[str, ...] = ()

  @classmethod
  def setUpClass(cls):
    cls.folder = pathlib.Path(tempfile.mkdtemp())
    cls.addClassCleanup(shutil.rmtree, cls.folder)
    save_toy(cls.folder / "toy" / "1")
    shutil.copytree(cls.folder / "toy" / "1", cls.folder / "two" / "1")
    save_toy(cls.folder / "two" / "5", 3.0)
    (cls.folder / "broken" / "1").mkdir(parents=True)
    (cls.folder / "broken" / "1" / "saved_model.pb").write_bytes(b"no model")
    config = cls.folder / "models.config"
    config.write_text("model_config_list {" + "".join(
        f'config {{ name: "{name}" base_path: "{cls.folder / name}" '
        f'model_platform: "tensorflow" {more} }}' for name, more in (
            ("toy", ""), ("broken", ""),
            ("two", "model_version_policy { all {} } "
             'version_labels { key: "stable" value: 1 }'))) + "}")
    cls.server = Server(
        f"--model_config_file={config}",
        "--file_system_poll_wait_seconds=0.05", *cls.FLAGS)
    cls.addClassCleanup(cls.server.close)
