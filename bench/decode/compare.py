#!/usr/bin/env python3
"""Measures tokens per second of decoders: weights in fewer bits, and beside other programs.

  bench/decode/compare.py [--models gpt2,llama] [--formats fp32,bf16,int8,int4]
      [--peers tf_on,ctranslate2] [--rounds 4] [--seconds 1.5] [--threads 2]

Of models.py's steps: one token after 128 cached ones. Tenon with fp32 weights and
with what `tenon quantize --weights FORMAT` makes of them; TensorFlow with oneDNN on;
CTranslate2, a runtime for generation, with the same weights (gpt2 only), whose time
is that of a token of a text it generates. All fp32 in activations, the same threads,
in turns. `difference` is the logits' from TensorFlow's over their scale. Prints a
table and writes JSON to results/. Takes about four minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tools")]

# pylint: disable=wrong-import-position
import environments

MODELS = HERE / "models.py"


def ensure() -> pathlib.Path:
  """The folder with the models, which are made once."""
  digest = hashlib.sha256(MODELS.read_bytes()).hexdigest()[:12]
  home = environments.CACHE / "decode" / digest
  if not home.exists():
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
      made = pathlib.Path(folder) / "models"
      subprocess.run([environments.ensure("main"), MODELS, made], check=True)
      made.rename(home)
  return home


def contestant(name: str, task, args: argparse.Namespace, python: pathlib.Path,
               home: pathlib.Path, memory):
  """A contestant of bench/compare's kind, and its logits."""
  # pylint: disable=import-outside-toplevel
  import contestants
  import numpy as np
  if name.startswith("tenon_"):
    form = name.removeprefix("tenon_")
    original = task.model
    if form != "fp32":
      task.model = task.scratch / f"{task.name}-{form}"
      done = subprocess.run(
          [args.tenon, "quantize", original, "--weights", form, "--output",
           task.model], capture_output=True, text=True, check=False)
      if done.returncode:
        raise contestants.Failure("tenon quantize: " + done.stderr.strip()[-200:])
    try:
      runner = contestants.Tenon(args.tenon, task, args.threads, 1, "fp32",
                                 environments.CACHE)
    finally:
      task.model = original
    return runner, runner.difference
  if name == "ctranslate2":
    if task.name != "gpt2":
      raise contestants.Failure("refused: converted for gpt2 only")
    outputs = task.scratch / "ctranslate2.npz"
    runner = contestants.Worker(
        [python, HERE / "ctranslate2_worker.py", home / task.name, "--converted",
         home / "gpt2-ctranslate2", "--outputs", outputs, "--threads",
         str(args.threads)], task.scratch / "ctranslate2.log")
    runner.version = runner.answer()["ready"]
    wanted = task.wanted["logits"]
    got = np.load(outputs)["logits"]
    runner.slice = lambda seconds: (runner.send(str(seconds)),
                                    runner.answer())[1]
    return runner, float(np.abs(got - wanted).max() / np.abs(wanted).max())
  runner = contestants.Peer(name, python, task, args.threads, 1,
                            environments.CACHE / "onnx", 300, memory)
  return runner, runner.difference


def main() -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--models", default="gpt2,llama")
  parser.add_argument("--formats", default="fp32,bf16,int8,int4")
  parser.add_argument("--peers", default="tf_on,ctranslate2")
  parser.add_argument("--rounds", type=int, default=4)
  parser.add_argument("--seconds", type=float, default=1.5)
  parser.add_argument("--threads", type=int, default=2)
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=HERE.parents[1] / "build" / "bin" / "tenon")
  args = parser.parse_args()
  environments.reexec("peers")
  # pylint: disable=import-outside-toplevel
  import contestants
  import differences
  import report
  python = environments.ensure("peers")
  home = ensure()
  machine = report.machine()
  names = [f"tenon_{f}" for f in args.formats.split(",")]
  names += [p for p in args.peers.split(",") if p]
  results: dict[str, dict] = {}
  with tempfile.TemporaryDirectory() as scratch:
    for model in args.models.split(","):
      print(f"{model} …", flush=True)
      task = contestants.Task(model, home, 1, pathlib.Path(scratch))
      row: dict[str, dict] = {}
      running, slices, memory = {}, {}, contestants.Memory()
      try:
        for name in names:
          try:
            running[name], difference = contestant(name, task, args, python,
                                                   home, memory)
            # What narrow weights cost is part of the result.
            narrow = name.startswith("tenon") and name != "tenon_fp32"
            contestants.require_close(
                difference,
                1 if narrow else differences.LARGEST["fp32"])
            slices[name] = []
            row[name] = {"version": running[name].version,
                         "difference": difference}
          except contestants.Failure as error:
            row[name] = {"error": str(error)}
            print(f"  {name}: {error}", flush=True)
        for _ in range(args.rounds):
          for name, runner in running.items():
            contestants.pause()
            slices[name].append(runner.slice(args.seconds))
      finally:
        for runner in running.values():
          runner.close()
      for name, found in slices.items():
        row[name]["min_ms"] = min(s["min_ms"] for s in found)
        row[name]["median_ms"] = statistics.median(s["median_ms"] for s in found)
        row[name]["tokens_per_s"] = 1e3 / row[name]["min_ms"]
        row[name]["slices"] = found
      results[model] = row
  rows = [["tokens per second (ms; difference)", *results]]
  for name in names:
    rows.append([name, *(
        f"{r[name]['tokens_per_s']:.1f} ({r[name]['min_ms']:.1f}; "
        f"{r[name]['difference']:.1e})" if "min_ms" in r[name] else "-"
        for r in results.values())])
  print(report.table(rows))
  path = report.write_json(f"decode-t{args.threads}", {
      "machine": machine, "threads": args.threads, "seconds": args.seconds,
      "rounds": args.rounds, "revision": report.revision(), "cached": 128,
      "versions": sorted({e["version"] for r in results.values()
                          for e in r.values() if "version" in e}),
      "models": results})
  print(f"\nwritten to {path}")
  return 0


if __name__ == "__main__":
  sys.exit(main())
