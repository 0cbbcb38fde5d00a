#!/usr/bin/env python3
"""Searches the inputs of fuzz targets with libFuzzer and prints a table.

  tests/fuzz/search.py --fuzzer build-fuzz/bin/fuzz --seconds 60 [TARGET …]

Starts from tests/fuzz/corpus, from tests/fuzz/seeds.py and from what earlier searches kept. A
finding does not end the search. Fails if there are findings: each is a file in OUTPUT/TARGET, and
its report is in OUTPUT/TARGET.log.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STATUS = re.compile(r"^#\d+\s.*cov: (\d+) ft: (\d+)", re.MULTILINE)
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


def run(args: argparse.Namespace, target: str, log: pathlib.Path,
        folders: list[pathlib.Path], seconds: int) -> tuple[int, float]:
  """One process, which ends with its first finding; its exit code and CPU seconds."""
  command = [args.fuzzer, f"-max_total_time={seconds}", "-timeout=20",
             "-rss_limit_mb=3000", f"-max_len={args.max_len}",
             "-print_final_stats=1", f"-dict={args.output}/seeds/words.dict",
             f"-artifact_prefix={args.output / target}/", *folders]
  with log.open("a", encoding="utf-8") as out:
    process = subprocess.Popen(command, stdout=out, stderr=out,
                               env=environment(target))
    _, status, usage = os.wait4(process.pid, 0)
  return status, usage.ru_utime + usage.ru_stime


def search(args: argparse.Namespace, target: str) -> tuple[str, int]:
  """Searches one target; returns its row of the table and the number of findings."""
  folders = [args.learned / target, HERE / "corpus" / target,
             args.output / "seeds" / target]
  findings = args.output / target
  for folder in [*folders, findings]:
    folder.mkdir(parents=True, exist_ok=True)
  log = args.output / f"{target}.log"
  log.write_text("")
  end, status, cpu = time.monotonic() + args.seconds, 1, 0.0
  while status != 0 and (left := end - time.monotonic()) >= 1:
    status, used = run(args, target, log, folders, int(left))
    cpu += used
  text = log.read_text(encoding="utf-8", errors="replace")
  runs = sum(int(n) for n in RUNS.findall(text))
  edges, features = max(
      ((int(e), int(f)) for e, f in STATUS.findall(text)), default=(0, 0))
  found = sum(1 for _ in findings.iterdir())
  kept = sum(1 for _ in folders[0].iterdir())
  row = (f"| {target} | {cpu:.0f} | {runs} | {edges} | {features} | {kept} | "
         f"{found} |")
  print(row, flush=True)
  return row, found


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--fuzzer", type=pathlib.Path, required=True)
  parser.add_argument("--seconds", type=int, default=60,
                      help="of each target")
  parser.add_argument("--jobs", type=int, default=1,
                      help="targets at a time")
  parser.add_argument("--max-len", type=int, default=1 << 16)
  parser.add_argument("--learned", type=pathlib.Path, required=True,
                      help="folder for inputs that reach new code")
  parser.add_argument("--output", type=pathlib.Path, required=True)
  parser.add_argument("targets", nargs="*", help="default: all")
  args = parser.parse_args()
  args.output.mkdir(parents=True, exist_ok=True)
  subprocess.run([sys.executable, HERE / "seeds.py", args.output / "seeds"],
                 check=True, stdout=subprocess.DEVNULL)
  targets = args.targets or subprocess.run(
      [args.fuzzer], check=True, capture_output=True,
      text=True).stdout.split()
  table = ["| target | CPU seconds | inputs run | edges | features | "
           "inputs kept | findings |", "|---|---|---|---|---|---|---|"]
  with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    rows = list(pool.map(lambda target: search(args, target), targets))
  table += [row for row, _ in rows]
  total = sum(found for _, found in rows)
  (args.output / "table.md").write_text("\n".join(table) + "\n")
  print("\n".join(table))
  print(f"{total} findings in {args.output}")
  return 1 if total else 0


if __name__ == "__main__":
  sys.exit(main())
