"""Tables and JSON for bench/compare and bench/cold."""

from __future__ import annotations

import datetime
import json
import math
import os
import pathlib
import platform
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def _cpuinfo(key: str) -> str | None:
  """A line of /proc/cpuinfo; CPUs are alike in what is asked here."""
  for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
    name, _, value = line.partition(":")
    if name.strip() == key:
      return value.strip()
  return None


def cpu_flags() -> list[str]:
  """What the CPU has, by Linux's names."""
  return (_cpuinfo("flags") or "").split()


def memory(path: str, key: str) -> float:
  """Bytes of a line of a file in /proc, which counts in kB; 0 if it is not there."""
  try:
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
      name, _, value = line.partition(":")
      if name == key:
        return 1024 * float(value.split()[0])
  except OSError:
    pass  # the process has ended
  return 0


def machine() -> dict:
  """CPU name, its vector extensions, and how many CPUs may be used."""
  flags = cpu_flags()
  wanted = ["avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16"]
  return {"cpu": _cpuinfo("model name") or platform.machine(),
          "isa": [f for f in wanted if f in flags],
          "cpus": len(os.sched_getaffinity(0)),
          "load_before": os.getloadavg()[0]}


def revision() -> str:
  """The commit measured, `+` if the tree has changes."""
  def git(*words: str) -> str:
    return subprocess.run(["git", "-C", HERE, *words], capture_output=True,
                          text=True, check=False).stdout.strip()
  return git("rev-parse", "--short", "HEAD") + (
      "+" if git("status", "--porcelain", "--untracked-files=no") else "")


def geometric_mean(values: list[float]) -> float:
  return math.exp(sum(map(math.log, values)) / len(values))


def table(rows: list[list[str]]) -> str:
  """Left column flush left, others flush right."""
  widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
  return "\n".join(
      "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths)))
      for row in rows)


def _milliseconds(value: float) -> str:
  return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def precision_of(contestant: str) -> str:
  """Of a contestant's name: bf16 and int8 stand at its end."""
  last = contestant.rpartition("_")[2]
  return last if last in ("bf16", "int8") else "fp32"


def ratios(results: dict, peer: str, key: str,
           base: str = "tenon") -> dict[str, float]:
  """Time of `peer` over that of `base`, for the models where both were measured."""
  return {model: row[peer][key] / row[base][key]
          for model, row in results.items()
          if key in row.get(peer, {}) and key in row.get(base, {})}


def compare_table(results: dict, peers: list[str]) -> str:
  """Per model and peer `min / median` in ms, and min's ratio to Tenon's."""
  rows = [["ms, min / median (x Tenon)", *peers]]
  for model, row in results.items():
    cells = [model]
    for peer in peers:
      entry = row.get(peer, {})
      if "min_ms" not in entry:
        cells.append("refused" if "refused" in entry.get("error", "")
                     else "failed")
        continue
      text = (f"{_milliseconds(entry['min_ms'])} / "
              f"{_milliseconds(entry['median_ms'])}")
      if peer != "tenon" and "min_ms" in row.get("tenon", {}):
        text += f" ({entry['min_ms'] / row['tenon']['min_ms']:.2f})"
      cells.append(text)
    rows.append(cells)
  for key, label in (("min_ms", "geometric mean of min, x Tenon"),
                     ("median_ms", "geometric mean of median, x Tenon")):
    cells = [label]
    for peer in peers:
      found = ratios(results, peer, key)
      cells.append(f"{geometric_mean(list(found.values())):.2f} "
                   f"over {len(found)}" if found else "-")
    rows.append(cells)
  return table(rows) + "\n\n" + difference_table(results, peers)


def difference_table(results: dict, peers: list[str]) -> str:
  """Largest difference from TensorFlow's fp32 outputs, in % of their scale."""
  rows = [["difference, % of scale", *peers]]
  for model, row in results.items():
    rows.append([model, *(
        f"{100 * row[p]['difference']:.2g}" if "difference" in row.get(p, {})
        else "-" for p in peers)])
  return table(rows)


def write_json(kind: str, record: dict) -> pathlib.Path:
  """Writes bench/results/DATE-KIND.json; gives its path."""
  folder = HERE / "results"
  folder.mkdir(exist_ok=True)
  stamp = datetime.datetime.now(datetime.timezone.utc)
  path = folder / f"{stamp:%Y%m%d-%H%M%S}-{kind}.json"
  path.write_text(json.dumps(record, indent=2) + "\n")
  return path
