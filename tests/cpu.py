"""What the CPU can do, as far as tests depend on it."""

import os
import pathlib

# Values of ONEDNN_MAX_CPU_ISA, from less to more, and the flag of /proc/cpuinfo that a CPU has
# which goes that far.
LIMITS = {"SSE41": "sse4_1", "AVX": "avx", "AVX2": "avx2", "AVX512_CORE": "avx512bw",
          "AVX512_CORE_VNNI": "avx512_vnni", "AVX512_CORE_BF16": "avx512_bf16"}


def flags() -> set[str]:
  for line in pathlib.Path("/proc/cpuinfo").read_text("utf-8").splitlines():
    if line.startswith("flags"):
      return set(line.split(":")[1].split())
  return set()


def limits() -> list[str]:
  """Those of LIMITS that this CPU can be held to, its own included."""
  has = flags()
  return [limit for limit, flag in LIMITS.items() if flag in has]


def has_exact_int8() -> bool:
  """Sums of 8-bit products do not saturate: VNNI, which oneDNN may use."""
  limited = os.environ.get("ONEDNN_MAX_CPU_ISA", "")
  return "avx512_vnni" in flags() and limited.upper() not in ("SSE41", "AVX", "AVX2", "AVX512_CORE")
