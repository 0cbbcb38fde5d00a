#!/usr/bin/env python3
r"""Searches the inputs of fuzz targets with libFuzzer and prints a table.

  tests/fuzz/search.py --fuzzer build-fuzz/bin/fuzz --fuzzer build-fuzz/bin/serve_fuzz \
      --learned ~/.cache/tenon/fuzz --output build-fuzz/fuzz --seconds 60 [TARGET …]

Each fuzzer is a program with targets of its own. Starts from their corpora (tests/fuzz/corpus,
tests/serve/fuzz/corpus), from tests/fuzz/seeds.py and from what earlier searches kept in the folder
LEARNED, whose totals.json adds up the work of all searches. A finding does not end the
search. Fails if there are findings: each is a file in OUTPUT/TARGET, and its report is in
OUTPUT/TARGET.log.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORPORA = (HERE / "corpus", ROOT / "tests" / "serve" / "fuzz" / "corpus")
TIMEOUT = 60  # seconds; a machine may have other work
STATUS = re.compile(r"^#\d+\s.*cov: (\d+) ft: (\d+)", re.MULTILINE)
EDGES = re.compile(r"^INFO: Loaded \d+ modules\s+\((\d+) inline 8-bit", re.MULTILINE)
RUNS = re.compile(r"^stat::number_of_executed_units: (\d+)", re.MULTILINE)
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:"
                    "max_allocation_size_mb=256:quarantine_size_mb=16",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "LSAN_OPTIONS": f"suppressions={ROOT}/tools/sanitizers/lsan.supp:"
                    "print_suppressions=0",
    "OMP_NUM_THREADS": "1",
}


def environment(target: str) -> dict[str, str]:
  """What the fuzzer runs with."""
  symbolizer = shutil.which("llvm-symbolizer-19") or shutil.which(
      "llvm-symbolizer")
  extra = {"ASAN_SYMBOLIZER_PATH": symbolizer} if symbolizer else {}
  return {**os.environ, **SANITIZERS, **extra, "TENON_FUZZ_TARGET": target}


def targets_of(fuzzer: pathlib.Path) -> list[str]:
  """What a fuzzer can search: it lists its targets if none is named."""
  without = {k: v for k, v in os.environ.items() if k != "TENON_FUZZ_TARGET"}
  return subprocess.run([fuzzer], check=True, capture_output=True, text=True,
                        env=without).stdout.split()


def cpu_seconds(pid: int) -> float:
  """What a running process has used."""
  stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
  user, system = stat.rpartition(")")[2].split()[11:13]
  return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def run(args: argparse.Namespace, target: str, log: pathlib.Path,
        folders: list[pathlib.Path], seconds: float) -> tuple[int, float]:
  """One process, which ends with its first finding or after that many CPU seconds.

  Returns its status, 0 if there was no finding, and the CPU seconds.
  """
  command = [args.fuzzers[target], f"-timeout={TIMEOUT}",
             "-rss_limit_mb=3000", "-malloc_limit_mb=0", f"-max_len={args.max_len}",
             "-print_final_stats=1", f"-dict={args.output}/seeds/words.dict",
             f"-artifact_prefix={args.output / target}/", *folders]
  with log.open("a", encoding="utf-8") as out:
    process = subprocess.Popen(command, stdout=out, stderr=out,
                               env=environment(target))
    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    while pid == 0:
      if cpu_seconds(process.pid) >= seconds:
        process.send_signal(signal.SIGUSR1)  # ends it after this input, with its statistics
      time.sleep(0.5)
      pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
  return status, usage.ru_utime + usage.ru_stime


class Totals:
  """CPU seconds and inputs of all searches, by target, in a file."""

  def __init__(self, path: pathlib.Path):
    self._path = path
    self._lock = threading.Lock()

  def add(self, target: str, cpu: float, runs: int) -> dict[str, float]:
    with self._lock:
      totals = json.loads(self._path.read_text()) if self._path.exists() else {}
      total = totals.setdefault(target, {"cpu": 0, "runs": 0})
      total["cpu"] += cpu
      total["runs"] += runs
      self._path.write_text(json.dumps(totals, indent=2, sort_keys=True) + "\n")
      return total


def search(args: argparse.Namespace, totals: Totals,
           target: str) -> tuple[str, int]:
  r"""Searches one target; returns its row of the table and the number of findings."""
  folders = [args.learned / target, args.output / "seeds" / target,
             *(corpus / target for corpus in CORPORA if (corpus / target).is_dir())]
  findings = args.output / target
  for folder in [*folders, findings]:
    folder.mkdir(parents=True, exist_ok=True)
  log = args.output / f"{target}.log"
  log.write_text("")
  before = set(findings.iterdir())
  left, status = float(args.seconds), 1
  total = totals.add(target, 0, 0)
  text = ""
  while status != 0 and left >= 1:
    status, cpu = run(args, target, log, folders, left)
    left -= max(cpu, 1)
    new = log.read_text(encoding="utf-8", errors="replace")[len(text):]
    text += new
    total = totals.add(target, cpu, sum(int(n) for n in RUNS.findall(new)))
  edges, features = max(
      ((int(e), int(f)) for e, f in STATUS.findall(text)), default=(0, 0))
  of = max((int(n) for n in EDGES.findall(text)), default=0)
  found = len(set(findings.iterdir()) - before)
  kept = sum(1 for _ in folders[0].iterdir())
  row = (f"| {target} | {total['cpu']:.0f} | {total['runs']:.0f} | {edges} | "
         f"{of} | {features} | {kept} | {found} |")
  print(row, flush=True)
  return row, found


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--fuzzer", type=pathlib.Path, required=True, action="append",
                      help="may be repeated")
  parser.add_argument("--seconds", type=int, default=60,
                      help="of CPU time for each target")
  parser.add_argument("--jobs", type=int, default=1,
                      help="targets at a time")
  parser.add_argument("--max-len", type=int, default=1 << 16)
  parser.add_argument("--learned", type=pathlib.Path, required=True,
                      help="folder for inputs that reach new code")
  parser.add_argument("--output", type=pathlib.Path, required=True)
  parser.add_argument("targets", nargs="*", help="default: all")
  args = parser.parse_args()
  args.fuzzers = {target: fuzzer for fuzzer in args.fuzzer for target in targets_of(fuzzer)}
  unknown = set(args.targets) - set(args.fuzzers)
  if unknown:
    parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(args.fuzzers)}")
  targets = args.targets or list(args.fuzzers)
  args.output.mkdir(parents=True, exist_ok=True)
  args.learned.mkdir(parents=True, exist_ok=True)
  subprocess.run([sys.executable, HERE / "seeds.py", args.output / "seeds"],
                 check=True, stdout=subprocess.DEVNULL)
  table = ["| target | CPU seconds in all | inputs run in all | edges | of | "
           "features | inputs kept | new findings |",
           "|---|---|---|---|---|---|---|---|"]
  totals = Totals(args.learned / "totals.json")
  with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    rows = list(pool.map(lambda target: search(args, totals, target), targets))
  table += [row for row, _ in rows]
  total = sum(found for _, found in rows)
  (args.output / "table.md").write_text("\n".join(table) + "\n")
  print("\n".join(table))
  print(f"{total} findings in {args.output}")
  return 1 if total else 0


if __name__ == "__main__":
  sys.exit(main())
