"""The contestants of bench/compare: Tenon's CLI, and peers in worker processes."""

from __future__ import annotations

import json
import pathlib
import select
import subprocess
import time

import differences
import numpy as np
import quantized
import report

HERE = pathlib.Path(__file__).resolve().parent
START_SECONDS = 600  # loading, and converting for the first time
FREE_BYTES = 1e9  # what the machine keeps while a contestant loads


class Failure(RuntimeError):
  """A contestant that cannot be measured; the message says why."""


def require_close(difference: float, largest: float) -> None:
  """Fails where outputs are further from TensorFlow's, or NaN."""
  if not difference <= largest:
    raise Failure(f"outputs differ from TensorFlow's by {difference:.1e}")


def repeat(value: np.ndarray, batch: int) -> np.ndarray:
  """The example `batch` times; a scalar serves all of them."""
  return np.repeat(value, batch, axis=0) if value.ndim else value


class Memory:
  """How much contestants of one model may hold together.

  The machine ends processes when its memory runs out, and not always the one
  that asked for too much: so the one that is loading is stopped before.
  """

  def __init__(self, limit: float | None = None):
    """`limit` in bytes; None: what the machine has."""
    self._limit = limit
    self._processes: list[subprocess.Popen] = []

  def watch(self, process: subprocess.Popen) -> None:
    self._processes.append(process)

  def check(self) -> None:
    """Fails if the contestants hold too much."""
    if report.memory("/proc/meminfo", "MemAvailable") < FREE_BYTES:
      raise Failure("refused: the machine's memory does not suffice for this "
                    "one, too")
    held = sum(report.memory(f"/proc/{p.pid}/status", "VmRSS")
               for p in self._processes if p.poll() is None)
    if self._limit is not None and held > self._limit:
      raise Failure(f"refused: contestants would hold {held / 1e9:.1f} GB")


class Task:
  """One model at one batch: files and reference outputs."""

  def __init__(self, name: str, home: pathlib.Path, batch: int,
               scratch: pathlib.Path):
    self.name = name
    self.model = home / name / "saved_model"
    self.scratch = scratch
    self.samples = home / name / "inputs_b2.npz"  # to calibrate on
    self.inputs = scratch / f"{name}-inputs.npz"
    with np.load(home / name / "inputs.npz") as arrays:
      np.savez(self.inputs, **{k: repeat(v, batch) for k, v in arrays.items()})
    with np.load(home / name / "outputs.npz") as arrays:
      # In the order of a signature's outputs: by name.
      self.wanted = {k: repeat(arrays[k], batch) for k in sorted(arrays)}
    self.right = scratch / f"{name}-right.npz"
    np.savez(self.right, **self.wanted)

  def difference(self, path: pathlib.Path) -> float:
    """Largest difference from TensorFlow (oneDNN off), over its scale.

    Outputs of the file are found by name, or else (those of peers) by position.
    """
    with np.load(path) as arrays:
      named = set(arrays) == set(self.wanted)
      got = [arrays[k] for k in (self.wanted if named else arrays)]
    wanted = list(self.wanted.values())
    if [g.shape for g in got] != [w.shape for w in wanted]:
      raise Failure(f"outputs have shapes {[g.shape for g in got]}, not "
                    f"{[w.shape for w in wanted]}")
    return differences.scaled(got, wanted)


class Tenon:
  """`tenon bench`, one process per slice. `streams` concurrent calls share threads."""

  def __init__(self, tenon: pathlib.Path, task: Task, threads: int,
               streams: int, precision: str, cache: pathlib.Path):
    self._tenon = tenon
    self._task = task
    self._model = task.model
    if precision == "int8":
      try:
        self._model = quantized.by_tenon(tenon, task.model, task.samples, cache)
      except RuntimeError as error:
        raise Failure(str(error)) from error
      precision = "fp32"  # of the float parts of the quantized model
    self._options = ["--threads", threads, "--precision", precision]
    self._streams = streams
    outputs = task.scratch / f"{task.name}-tenon-{precision}.npz"
    self._call("run", "--outputs", outputs)
    self.difference = task.difference(outputs)
    self.version = "Tenon"

  def _call(self, command: str, *more: object) -> str:
    done = subprocess.run(
        [self._tenon, command, self._model, "--inputs", self._task.inputs,
         *map(str, [*self._options, *more])],
        capture_output=True, text=True, check=False, timeout=START_SECONDS)
    if done.returncode != 0:
      lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
      raise Failure(f"tenon {command}: {lines[-1]}")
    return done.stdout

  def peak(self) -> float:
    """Multiplications and additions per second of a large matrix product."""
    output = self._call("bench", "--seconds", 0.1, "--profile", "--json")
    return json.loads(output.splitlines()[-1])["peak_flops_per_s"]

  def slice(self, seconds: float) -> dict:
    output = self._call("bench", "--seconds", seconds, "--json", "--streams",
                        self._streams)
    try:
      result = json.loads(output.strip().splitlines()[-1])
      if self._streams > 1:
        result["min_ms"] = result["median_ms"] = 1e3 / result["runs_per_s"]
      return result
    except (IndexError, json.JSONDecodeError) as error:
      raise Failure(f"tenon bench printed no JSON: {output[-200:]!r}") from error

  def close(self) -> None:
    """Nothing is running."""


class Worker:
  """A process that reads requests, one per line, and answers with lines of JSON."""

  def __init__(self, command: list, log: pathlib.Path,
               env: dict[str, str] | None = None):
    self._log = log
    with open(log, "w", encoding="utf-8") as text:
      self._process = subprocess.Popen(
          command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=text,
          text=True, env=env)

  def send(self, line: str) -> None:
    try:
      self._process.stdin.write(line + "\n")
      self._process.stdin.flush()
    except BrokenPipeError as error:
      raise Failure("worker ended") from error

  def answer(self, seconds: float = START_SECONDS,
             memory: Memory | None = None) -> dict:
    """The next one; with `memory`, checks it while waiting."""
    end = time.monotonic() + seconds
    ready: list = []
    while not ready and time.monotonic() < end:
      left = end - time.monotonic()
      wait = min(left, 0.2) if memory is not None else left
      ready, _, _ = select.select([self._process.stdout], [], [], max(wait, 0))
      if not ready and memory is not None:
        memory.check()
    line = self._process.stdout.readline() if ready else ""
    if not line:
      text = self._log.read_text(encoding="utf-8", errors="replace")
      lines = text.strip().splitlines() or ["no message"]
      raise Failure(("worker ended: " if ready else
                     f"no answer within {seconds:.0f} s: ") +
                    lines[-1][-200:])
    return json.loads(line)

  def close(self, seconds: float = 10) -> None:
    """Ends the process, by force if it is still there after `seconds`."""
    try:
      self._process.stdin.close()
    except BrokenPipeError:
      pass  # it ended before, as when memory ran out
    try:
      self._process.wait(seconds)
    except subprocess.TimeoutExpired:
      self._process.kill()
      self._process.wait()
    self._process.stdout.close()


class Peer(Worker):
  """A peer in a separate process, which keeps the model warm."""

  def __init__(self, peer: str, python: pathlib.Path, task: Task, threads: int,
               streams: int, cache: pathlib.Path, patience: float,
               memory: Memory):
    """Loads it; at most `patience` seconds, conversion included."""
    outputs = task.scratch / f"{task.name}-{peer}.npz"
    super().__init__(
        [python, HERE / "peer_worker.py", peer, task.model, "--inputs",
         task.inputs, "--wanted", task.right, "--samples", task.samples, "--outputs", outputs,
         "--threads", str(threads), "--streams", str(streams), "--cache",
         cache], task.scratch / f"{task.name}-{peer}.log")
    memory.watch(self._process)
    try:
      first = self.answer(patience, memory)
      if "refused" in first:
        raise Failure("refused: " + first["refused"])
      self.version = first["ready"]
      self.difference = task.difference(outputs)
    except Failure:
      self.close(seconds=0)
      raise

  def slice(self, seconds: float) -> dict:
    self.send(str(seconds))
    return self.answer(60 + 20 * seconds)


def pause(seconds: float = 0.05) -> None:
  """Waits until the last contestant's spinning threads sleep."""
  time.sleep(seconds)
