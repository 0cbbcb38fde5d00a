"""Lets every contestant of bench/compare see an older CPU than there is."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess

import report

SOURCE = pathlib.Path(__file__).resolve().parent / "cpuid_mask.cc"


def everyone_obeys() -> bool:
  """Whether all contestants can be limited to AVX2, not only those with oneDNN."""
  flags = report.cpu_flags()
  return "avx512f" not in flags or "cpuid_fault" in flags


def limit_to_avx2(cache: pathlib.Path) -> None:
  """Limits the processes that this one starts.

  oneDNN by its own variable; everyone by what CPUID answers, where the CPU lets
  it be masked (cpuid_mask.cc); the C library by its tunables, since it asks
  before anything can be preloaded.
  """
  os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
  if "cpuid_fault" not in report.cpu_flags():
    return
  digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
  library = cache / f"cpuid_mask-{digest}.so"
  if not library.exists():
    part = library.with_suffix(f".{os.getpid()}")
    subprocess.run(["c++", "-std=c++17", "-O2", "-shared", "-fPIC",
                    "-Wl,-z,initfirst", SOURCE, "-o", part], check=True)
    part.rename(library)
  before = os.environ.get("LD_PRELOAD")
  os.environ["LD_PRELOAD"] = f"{library}:{before}" if before else str(library)
  os.environ["GLIBC_TUNABLES"] = (
      "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD")
