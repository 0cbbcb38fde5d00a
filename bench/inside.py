"""bench/compare --inside-tensorflow: stock TensorFlow against the same with Tenon's plug-in."""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import contestants
import environments
import model_cache
import numpy as np
import report

HERE = pathlib.Path(__file__).resolve().parent
# Name: oneDNN's gate, and whether the plug-in is installed.
CONTESTANTS = {"plugin": ("1", True), "tf_on": ("1", False),
               "tf_off": ("0", False)}
# Part: length of a slice over --seconds, and the largest difference from
# TensorFlow without oneDNN (of losses: after some steps).
PARTS = {"model": (1, 1e-3), "train": (2, 1e-3), "eager": (0.15, 1e-4)}
IMPORTS = 7
IMPORT = ("import time; start = time.perf_counter(); import tensorflow; "
          "print(time.perf_counter() - start)")


class Worker(contestants.Worker):
  """One contestant's process (inside_worker.py)."""

  def __init__(self, python: pathlib.Path, gate: str, args, log: pathlib.Path):
    super().__init__([python, HERE / "inside_worker.py", str(args.threads),
                      str(args.inter_op)], log,
                     {**os.environ, "TF_ENABLE_ONEDNN_OPTS": gate,
                      "CUDA_VISIBLE_DEVICES": ""})

  def send(self, request: dict) -> None:
    super().send(json.dumps(request))


def difference(got: pathlib.Path, wanted: pathlib.Path) -> float:
  """Largest difference over the scale of each output."""
  with np.load(got) as a, np.load(wanted) as b:
    return max(float(np.abs(a[k] - b[k]).max() / np.abs(b[k]).max())
               for k in b.files)


def measure(task: str, workers: dict[str, Worker], args, home: pathlib.Path,
            scratch: pathlib.Path) -> dict:
  """Results of a task by contestant."""
  part, name = task.split(" ", 1)
  longer, limit = PARTS[part]
  files = {peer: {"model": str(home / name / "saved_model"),
                  "inputs": str(home / name / "inputs.npz"),
                  "outputs": str(scratch / f"{peer}.npz")} for peer in workers}
  # The clock runs for nobody yet: all at once.
  for peer, worker in workers.items():
    worker.send({"load": task, "files": files[peer]})
  row: dict[str, dict] = {peer: w.answer() for peer, w in workers.items()}
  if "error" not in row["tf_off"]:
    for peer, entry in row.items():
      if "error" in entry:
        continue
      entry["difference"] = difference(scratch / f"{peer}.npz",
                                       scratch / "tf_off.npz")
      if not entry["difference"] <= limit:
        entry["error"] = f"results differ by {entry['difference']:.1e}"
  for peer, entry in row.items():
    entry.pop("loaded", None)
    if "error" in entry:
      print(f"  {peer}: {entry['error']}", flush=True)
  slices: dict[str, list[dict]] = {p: [] for p in row if "error" not in row[p]}
  for _ in range(args.rounds):
    for peer, done in slices.items():
      contestants.pause()
      workers[peer].send({"seconds": args.seconds * longer})
      done.append(workers[peer].answer())
  for peer, done in slices.items():
    row[peer]["min_ms"] = min(s["min_ms"] for s in done)
    row[peer]["median_ms"] = statistics.median(s["median_ms"] for s in done)
  return row


def import_seconds(pythons: dict[str, pathlib.Path]) -> dict[str, dict]:
  """Seconds of `import tensorflow`, in turns."""
  times: dict[str, list[float]] = {"plugin": [], "tf_on": []}
  for turn in range(IMPORTS + 1):
    for peer, seconds in times.items():
      done = subprocess.run(
          [pythons[peer], "-c", IMPORT], check=True, capture_output=True,
          text=True, env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1",
                          "TF_CPP_MIN_LOG_LEVEL": "3"})
      if turn > 0:  # the first reads files from the disk
        seconds.append(float(done.stdout))
  return {peer: {"min_s": min(s), "median_s": statistics.median(s)}
          for peer, s in times.items()}


def table(rows: dict[str, dict], calls: int) -> str:
  """Min / median of a call by contestant, and its min over the plug-in's.

  One measured run made `calls` calls.
  """
  cells = [["ms, min / median (x plug-in)", *CONTESTANTS]]
  for task, row in rows.items():
    line = [task.split(" ", 1)[1]]
    for peer in CONTESTANTS:
      entry = row.get(peer, {})
      if "min_ms" not in entry:
        line.append("failed")
        continue
      text = (f"{entry['min_ms'] / calls:.3g} / "
              f"{entry['median_ms'] / calls:.3g}")
      if peer != "plugin" and "min_ms" in row["plugin"]:
        text += f" ({entry['min_ms'] / row['plugin']['min_ms']:.2f})"
      line.append(text)
    cells.append(line)
  for key in ("min_ms", "median_ms"):
    line = [f"geometric mean of {key.removesuffix('_ms')}, x plug-in"]
    for peer in CONTESTANTS:
      found = list(report.ratios(rows, peer, key, "plugin").values())
      line.append(f"{report.geometric_mean(found):.2f}" if found else "-")
    cells.append(line)
  return report.table(cells)


def run(args) -> int:
  """Measures, prints and writes; 1 where the plug-in failed."""
  main_python = environments.ensure("main")
  home = args.family.ensure(args.models)
  machine = report.machine()
  results: dict[str, dict] = {}
  imports = {}
  with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    # Both borrow TensorFlow, so that an import finds it the same way.
    pythons = {
        peer: environments.borrow(scratch / peer, main_python,
                                  args.site_packages if plugin else None)
        for peer, (_, plugin) in CONTESTANTS.items()}
    workers = {peer: Worker(pythons[peer], gate, args,
                            scratch / f"{peer}.log")
               for peer, (gate, _) in CONTESTANTS.items()}
    try:
      ready = [w.answer() for w in workers.values()][0]
      for task in (f"{part} {name}" for part, names in
                   (("model", args.models), ("train", ready["steps"]),
                    ("eager", ready["eager"]))
                   for name in names if part in args.parts):
        print(f"{task} …", flush=True)
        results[task] = measure(task, workers, args, home, scratch)
    finally:
      for worker in workers.values():
        worker.close()
    if "import" in args.parts:
      print("import …", flush=True)
      imports = import_seconds(pythons)
  print(f"\n{machine['cpu']} ({', '.join(machine['isa'])}), {args.threads} "
        f"threads; load before {machine['load_before']:.1f}; {ready['ready']}; "
        f"revision {report.revision()}")
  for part in PARTS:
    rows = {t: r for t, r in results.items() if t.startswith(part)}
    if rows:
      calls = ready["eager_calls"] if part == "eager" else 1
      print(f"\n{part}\n{table(rows, calls)}")
  if imports:
    print("\nimport tensorflow, s, min / median\n" + "\n".join(
        f"{peer}: {e['min_s']:.3f} / {e['median_s']:.3f}"
        for peer, e in imports.items()))
  own = f"i{args.inter_op}" if args.inter_op != 1 else ""
  table_name = "" if args.family is model_cache.NETWORKS else f"{args.table}-"
  path = report.write_json(f"inside-{table_name}t{args.threads}{own}", {
      "machine": machine, "versions": [ready["ready"]],
      "eager_calls": ready["eager_calls"], "threads": args.threads,
      "inter_op": args.inter_op, "seconds": args.seconds, "rounds": args.rounds,
      "revision": report.revision(), "tasks": results, "import": imports})
  print(f"\nwritten to {path}")
  return 1 if any("error" in r["plugin"] for r in results.values()) else 0
