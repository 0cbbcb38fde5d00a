#!/usr/bin/env python3
"""Measures text in the graph: tokenizers and BERT with its preprocessor, beside TensorFlow Text.

  bench/text.py [--models NAME,…] [--batches 1,32,1024] [--rounds 4]
      [--seconds 0.5] [--threads 2] [--tenon build/bin/tenon]

The models are bench/text_models.py's, made once: BERT's tokenizer and its fast form,
SentencePiece (unigram, byte pairs), case folding with normalization, splitting by a
regular expression, at white space, where the script changes; and the whole of a BERT
of 2 layers, texts in, logits out, 64 tokens each. Texts are in 16 languages, 80 to 140
bytes or so each. Both programs run the same SavedModel with the same threads, in
turns; what they give must be equal (logits: nearly). Prints a table and writes JSON
to results/. Takes about seven minutes.
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
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

# pylint: disable=wrong-import-position
import environments

NAMES = ["bert_tokenizer", "fast_bert_tokenizer", "unigram", "bpe", "normalize",
         "regex_split", "whitespace", "unicode_script", "bert"]
MAKERS = [HERE / "text_models.py",
          HERE.parent / "tests" / "makers" / "text_models.py"]


def ensure() -> pathlib.Path:
  """The folder with the models, which are made once."""
  digest = hashlib.sha256(b"".join(p.read_bytes() for p in MAKERS))
  home = environments.CACHE / "text" / digest.hexdigest()[:12]
  if not home.exists():
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
      made = pathlib.Path(folder) / "models"
      subprocess.run([sys.executable, MAKERS[0], made], check=True)
      made.rename(home)
  return home


class Task:
  """What contestants.Tenon asks of one: a model and its inputs."""

  def __init__(self, name: str, home: pathlib.Path, batch: int,
               scratch: pathlib.Path):
    import numpy as np  # pylint: disable=import-outside-toplevel
    self.name, self.scratch = name, scratch
    self.model = home / name
    self.inputs = scratch / "inputs.npz"
    self.right = scratch / "outputs.npz"
    with np.load(home / "texts.npz") as arrays:
      np.savez(self.inputs, texts=arrays["texts"][:batch])

  def difference(self, path: pathlib.Path) -> float:
    """From TensorFlow's outputs; anything but floats must be equal."""
    import contestants  # pylint: disable=import-outside-toplevel
    import differences  # pylint: disable=import-outside-toplevel
    import numpy as np  # pylint: disable=import-outside-toplevel
    largest = 0.0
    with np.load(path) as got, np.load(self.right) as wanted:
      for key in wanted:
        if wanted[key].dtype.kind == "f":
          difference = differences.scaled([got[key]], [wanted[key]])
          contestants.require_close(difference,
                                    differences.LARGEST["fp32"])
          largest = max(largest, difference)
        elif not np.array_equal(got[key], wanted[key]):
          raise contestants.Failure(f"{key} differs from TensorFlow's")
    return largest


def measure(task: Task, args: argparse.Namespace) -> dict[str, dict]:
  import contestants  # pylint: disable=import-outside-toplevel
  other = contestants.Worker(
      [sys.executable, HERE / "text_worker.py", task.model, "--inputs",
       task.inputs, "--outputs", task.right, "--threads", str(args.threads)],
      task.scratch / "tensorflow.log")
  try:
    row = {"tenon": {}, "tf_on": {"version": other.answer()["ready"]}}
    tenon = contestants.Tenon(args.tenon, task, args.threads, 1, "fp32",
                              environments.CACHE)
    row["tenon"] = {"version": tenon.version, "difference": tenon.difference}
    slices: dict[str, list[dict]] = {"tenon": [], "tf_on": []}
    for _ in range(args.rounds):
      slices["tenon"].append(tenon.slice(args.seconds))
      contestants.pause()
      other.send(str(args.seconds))
      slices["tf_on"].append(other.answer())
      contestants.pause()
  finally:
    other.close()
  for name, found in slices.items():
    row[name]["min_ms"] = min(s["min_ms"] for s in found)
    row[name]["median_ms"] = statistics.median(s["median_ms"] for s in found)
    row[name]["slices"] = found
  return row


def main() -> int:
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--models", default=",".join(NAMES))
  parser.add_argument("--batches", default="1,32,1024")
  parser.add_argument("--rounds", type=int, default=4)
  parser.add_argument("--seconds", type=float, default=0.5)
  parser.add_argument("--threads", type=int, default=2)
  parser.add_argument("--tenon", type=pathlib.Path,
                      default=HERE.parent / "build" / "bin" / "tenon")
  args = parser.parse_args()
  environments.reexec("packages")
  # pylint: disable=import-outside-toplevel
  import contestants
  import report
  home = ensure()
  machine = report.machine()
  batches = [int(b) for b in args.batches.split(",")]
  rows = [["ms, Tenon / TensorFlow Text (ratio)", *map(str, batches)]]
  results: dict[str, dict] = {}
  failed = False
  with tempfile.TemporaryDirectory() as scratch:
    for name in args.models.split(","):
      results[name], cells = {}, [name]
      for batch in batches:
        task = Task(name, home, batch, pathlib.Path(scratch))
        try:
          row = measure(task, args)
          own, other = row["tenon"]["min_ms"], row["tf_on"]["min_ms"]
          cells.append(f"{own:.3g} / {other:.3g} ({other / own:.2f})")
        except contestants.Failure as error:
          row, failed = {"tenon": {"error": str(error)}}, True
          cells.append("failed")
          print(f"{name}: {error}")
        results[name][str(batch)] = row
      rows.append(cells)
      print(*cells, flush=True)
  print(report.table(rows))
  path = report.write_json(f"text-t{args.threads}", {
      "machine": machine, "threads": args.threads, "seconds": args.seconds,
      "rounds": args.rounds, "revision": report.revision(),
      "versions": sorted({e["version"] for by_batch in results.values()
                          for r in by_batch.values() for e in r.values()
                          if "version" in e}),
      "models": results})
  print(f"\nwritten to {path}")
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
