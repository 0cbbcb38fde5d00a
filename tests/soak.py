#!/usr/bin/env python3
"""Mixed work in one process for a long time: memory, descriptors, threads and speed must stay as they were.

  tests/soak.py [--seconds 86400] [--workers 4] [--plot FILE.svg]      (PYTHONPATH: the package tenon)

Workers load models of tests/models with random options, run them with random numbers of rows, compare the results, and drop them; share
sessions that stay; call single ops; damage models; let runs fail, time out and exceed their memory limit; start and end threads. Every
second the process's memory, descriptors, threads, CPU time and finished rounds are noted; bench/results/DATE-soak.json has the notes.

Exits with 1 if a result was wrong or an error unexpected, or if from the second fifth of the time to the last one the least memory grew
by more than 5 %, the most descriptors or the most threads grew at all, or rounds per second of CPU time fell by more than 10 %.
(CPU time, because other programs may share the machine. Least memory, because malloc keeps for a while what was freed.)
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
from typing import Any, Callable

import numpy as np
import tenon

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "tests" / "models"
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
import report  # noqa: E402  the path is set above
import svg  # noqa: E402

# Small enough that a round takes well under a second: the shapes, and loops, branches, text and variables.
NAMES = ("mlp", "digits", "bert4", "mobilenetv2", "control/branches", "control/loops", "control/lstm", "control/tf1_loop",
         "control/lists")


def named(path: pathlib.Path) -> dict[str, np.ndarray]:
  """Arrays by name; x:0 is x."""
  with np.load(path) as arrays:
    return {name.removesuffix(":0"): value for name, value in arrays.items()}


class Example:
  """A model with inputs whose results TensorFlow computed."""

  def __init__(self, name: str):
    folder = MODELS / name
    note = json.loads((folder / "model.json").read_text())
    self.name = name
    self.path = folder / note.get("model", "saved_model")
    self.options = {"signature": note["signature"]} if "signature" in note else {}
    suffixes = [p.stem.removeprefix("inputs") for p in sorted(folder.glob("inputs*.npz"))]
    self.pairs = [(named(folder / f"inputs{s}.npz"), named(folder / f"outputs{s}.npz"))
                  for s in suffixes if (folder / f"outputs{s}.npz").exists()]

  def load(self, **options: Any) -> tenon.Model:
    return tenon.load(self.path, **self.options, **options)

  def check(self, model: tenon.Model, choose: random.Random, tolerance: float = 1e-3) -> None:
    feed, expected = choose.choice(self.pairs)
    got = {name.removesuffix(":0"): value for name, value in model.run(feed).items()}
    for name, value in expected.items():
      if value.dtype.kind not in "fiub":
        continue
      scale = max(1e-6, float(np.max(np.abs(value), initial=0)))
      np.testing.assert_allclose(got[name].astype(np.float64), value.astype(np.float64), rtol=0,
                                 atol=tolerance * scale, err_msg=self.name)


class Soak:

  def __init__(self, workers: int, scratch: pathlib.Path):
    self.examples = [Example(name) for name in NAMES if (MODELS / name / "model.json").exists()]
    self.shared = {e.name: e.load(threads=1) for e in self.examples}
    self.scratch = scratch
    self.stop = threading.Event()
    self.lock = threading.Lock()
    self.rounds = 0
    self.kinds: dict[str, int] = {}
    self.errors: list[str] = []
    self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(workers)]

  def work(self, seed: int) -> None:
    choose = random.Random(seed)
    kinds: list[Callable[[random.Random], None]] = [
        self.fresh, self.fresh, self.again, self.again, self.again, self.rows, self.eager, self.damaged, self.failing, self.limited,
        self.thread, self.cached]
    while not self.stop.is_set():
      kind = choose.choice(kinds)
      try:
        kind(choose)
      except Exception as error:  # pylint: disable=broad-except  every kind is to be reported
        with self.lock:
          self.errors.append(f"{kind.__name__}: {type(error).__name__}: {error}"[:500])
      with self.lock:
        self.rounds += 1
        self.kinds[kind.__name__] = self.kinds.get(kind.__name__, 0) + 1

  # Kinds of rounds.

  def fresh(self, choose: random.Random) -> None:
    example = choose.choice(self.examples)
    options: dict[str, Any] = {"threads": choose.choice((1, 1, 2))}
    if choose.random() < 0.2 and example.name != "mobilenetv2":  # its reference kernels take seconds
      options["onednn"] = False
    with example.load(**options) as model:
      for _ in range(choose.randint(1, 3)):
        example.check(model, choose)

  def again(self, choose: random.Random) -> None:
    example = choose.choice(self.examples)
    example.check(self.shared[example.name], choose)

  def rows(self, choose: random.Random) -> None:
    """Shapes that change: plans come and go."""
    x = np.full((choose.randint(1, 300), 16), 0.5, np.float32)
    y = self.shared["mlp"](x)["output_0"]
    if y.shape != (len(x), 1) or np.ptp(y) > 1e-4 * (1 + abs(float(y[0, 0]))):
      raise AssertionError(f"{len(x)} equal rows give {np.ptp(y)}")

  def eager(self, choose: random.Random) -> None:
    x = np.arange(choose.randint(1, 5000), dtype=np.float32)
    np.testing.assert_allclose(np.asarray(tenon.ops.Tanh(tenon.ops.Neg(x))), np.tanh(-x), atol=1e-6)

  def damaged(self, choose: random.Random) -> None:
    example = choose.choice(self.examples)
    content = bytearray((example.path / "saved_model.pb").read_bytes() if example.path.is_dir() else example.path.read_bytes())
    for _ in range(8):
      content[choose.randrange(len(content))] = choose.randrange(256)
    try:
      tenon.load(bytes(content)).close()
    except (tenon.Error, ValueError):
      pass

  def failing(self, choose: random.Random) -> None:
    model = self.shared["mlp"]
    x = np.zeros((4, 16), np.float32)
    for call in (lambda: model(np.zeros((4, 17), np.float32)), lambda: model.run({"no": x}),
                 lambda: model.run({"features": x}, timeout=1e-9), lambda: tenon.load(self.scratch / "none")):
      try:
        call()
      except (tenon.Error, ValueError, TypeError, OSError):
        continue
      raise AssertionError("what must fail did not")

  def limited(self, choose: random.Random) -> None:
    try:
      with self.examples[0].load(memory_limit=choose.randint(1000, 200000)) as model:
        model(np.zeros((choose.randint(1, 200), 16), np.float32))
    except tenon.ResourceExhaustedError:
      pass

  def thread(self, choose: random.Random) -> None:
    """Threads that come and go, with OpenMP's helpers."""
    example = choose.choice(self.examples)
    failed: list[BaseException] = []

    def run() -> None:
      try:
        with example.load(threads=2) as model:
          example.check(model, random.Random(1))
      except Exception as error:  # pylint: disable=broad-except
        failed.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
      raise failed[0]

  def cached(self, choose: random.Random) -> None:
    """Through the disk cache: mapped files come and go."""
    example = choose.choice(self.examples)
    with example.load(threads=1, cache_dir=self.scratch / "cache") as model:
      example.check(model, choose)

  # The watch.

  def run(self, seconds: float) -> list[dict[str, float]]:
    for thread in self.threads:
      thread.start()
    begin, notes = time.monotonic(), []
    while (passed := time.monotonic() - begin) < seconds:
      time.sleep(min(1.0, seconds - passed))
      status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
      notes.append({"seconds": time.monotonic() - begin, "bytes": int(status["VmRSS"].split()[0]) * 1024,
                    "descriptors": len(os.listdir("/proc/self/fd")), "threads": int(status["Threads"]),
                    "cpu": time.process_time(), "rounds": self.rounds})
      if len(notes) % 60 == 0:
        gc.collect()
        print(json.dumps(notes[-1]), flush=True)
    self.stop.set()
    for thread in self.threads:
      thread.join()
    return notes


def speed(notes: list[dict[str, float]]) -> float:
  """Rounds per second of CPU time."""
  return (notes[-1]["rounds"] - notes[0]["rounds"]) / max(1e-9, notes[-1]["cpu"] - notes[0]["cpu"])


def judge(notes: list[dict[str, float]]) -> dict[str, list[float]]:
  """What must not change: in the second fifth, in the last one."""
  fifth = len(notes) // 5
  spans = notes[fifth:2 * fifth], notes[-fifth:]
  return {"least_bytes": [min(n["bytes"] for n in s) for s in spans],
          "most_descriptors": [max(n["descriptors"] for n in s) for s in spans],
          "most_threads": [max(n["threads"] for n in s) for s in spans],
          "rounds_per_cpu_second": [speed(s) for s in spans]}


def plot(notes: list[dict[str, float]], path: pathlib.Path) -> None:
  width, height, left, top = 720, 560, 70, 34
  picture = svg.Svg(width, height, "Memory, threads and descriptors, and speed over time")
  seconds = notes[-1]["seconds"]
  step = max(1, len(notes) // 120)
  shown = notes[::step]
  rates = [(b["seconds"], (b["rounds"] - a["rounds"]) / max(1e-9, b["cpu"] - a["cpu"])) for a, b in zip(shown, shown[1:])]
  charts: list[tuple[str, list[tuple[str, str, list[tuple[float, float]]]]]] = [
      ("MB of memory", [("", "#1f6f8b", [(n["seconds"], n["bytes"] / 1e6) for n in shown])]),
      ("", [("threads", "#b0413e", [(n["seconds"], n["threads"]) for n in shown]),
            ("open files", "#7a7a2e", [(n["seconds"], n["descriptors"]) for n in shown])]),
      ("rounds per second of CPU time", [("", "#4f7a4c", rates)])]
  chart = (height - 4 * top) / 3
  for row, (title, lines) in enumerate(charts):
    low = top + row * (chart + top)
    most = max(v for _, _, series in lines for _, v in series) * 1.15
    picture.text(left, low - 8, title)
    for i, (label, color, _) in enumerate(lines):
      picture.text(left + 90 * i, low - 8, label, fill=color)
    for part in (0, 0.5, 1):
      y = low + chart * (1 - part)
      picture.line([(left, y), (width - 10, y)], "#dddddd")
      picture.text(left - 6, y + 4, f"{most * part:.0f}", "end")
    for _, color, series in lines:
      picture.line([(left + (width - left - 10) * t / seconds, low + chart * (1 - v / most)) for t, v in series], color, 1.5)
  picture.text(width - 10, height - 8, f"{seconds / 60:.0f} minutes", "end")
  path.write_text(picture.finish())


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
  parser.add_argument("--seconds", type=float, default=86400)
  parser.add_argument("--workers", type=int, default=4)
  parser.add_argument("--plot", type=pathlib.Path)
  args = parser.parse_args()
  machine = report.machine()
  with tempfile.TemporaryDirectory() as scratch:
    soak = Soak(args.workers, pathlib.Path(scratch))
    notes = soak.run(args.seconds)
  compared = judge(notes)
  (memory, files, threads, rate) = compared.values()
  grown = [name for name, bad in (("memory", memory[1] > 1.05 * memory[0]), ("descriptors", files[1] > files[0]),
                                  ("threads", threads[1] > threads[0]), ("speed", rate[1] < 0.9 * rate[0])) if bad]
  record = {"revision": report.revision(), "machine": machine, "load_after": os.getloadavg()[0], "seconds": args.seconds,
            "workers": args.workers, "rounds": soak.kinds, "errors": soak.errors[:100], "compared": compared, "changed": grown,
            "notes": notes[::max(1, len(notes) // 200)]}
  print(report.write_json("soak", record))
  print(json.dumps({k: v for k, v in record.items() if k != "notes"}, indent=2))
  if args.plot:
    plot(notes, args.plot)
  return 1 if soak.errors or grown else 0


if __name__ == "__main__":
  sys.exit(main())
