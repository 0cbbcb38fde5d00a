"""What the CPU can do, as far as tests depend on it."""

import os
import pathlib


def has_exact_int8() -> bool:
  """Sums of 8-bit products do not saturate: VNNI, which oneDNN may use."""
  limited = os.environ.get("ONEDNN_MAX_CPU_ISA", "")
  return ("avx512_vnni" in pathlib.Path("/proc/cpuinfo").read_text("utf-8")
          and limited.upper() not in ("SSE41", "AVX", "AVX2", "AVX512_CORE"))
