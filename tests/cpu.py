"""CPU features on which tests depend."""

import pathlib

# Values of ONEDNN_MAX_CPU_ISA, from lowest to highest, and the flag in /proc/cpuinfo that a CPU
# needs to support each.
LIMITS = {"SSE41": "sse4_1", "AVX": "avx", "AVX2": "avx2", "AVX512_CORE": "avx512bw",
          "AVX512_CORE_VNNI": "avx512_vnni", "AVX512_CORE_BF16": "avx512_bf16"}


def flags() -> set[str]:
  for line in pathlib.Path("/proc/cpuinfo").read_text("utf-8").splitlines():
    if line.startswith("flags"):
      return set(line.split(":")[1].split())
  return set()


def limits() -> list[str]:
  """The values of LIMITS that this CPU supports, including its own."""
  has = flags()
  return [limit for limit, flag in LIMITS.items() if flag in has]
