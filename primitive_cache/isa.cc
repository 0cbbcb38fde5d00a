#include "primitive_cache/isa.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "hwy/targets.h"
#include "primitive_cache/convolution.h"
#include "primitive_cache/onednn/onednn.h"

#if HWY_ARCH_X86 && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tenon {

using onednn::Allows;

void LimitVectorCode() {
#if HWY_ARCH_X86
  static const bool done = [] {
    // Better targets have lower bits.
    const auto disable_above = [](int64_t target) { hwy::DisableTargets(target - 1); };
    if (!Allows(dnnl::cpu_isa::avx2)) {
      disable_above(HWY_SSE4);
    } else if (!Allows(dnnl::cpu_isa::avx512_core)) {
      disable_above(HWY_AVX2);
    } else if (!Allows(dnnl::cpu_isa::avx512_core_vnni)) {
      disable_above(HWY_AVX3);
    }
    return true;
  }();
  static_cast<void>(done);
#endif
}

bool HasAvx512Vnni() { return Allows(dnnl::cpu_isa::avx512_core_vnni); }

bool HasExactInt8() { return HasAvx512Vnni() || Allows(dnnl::cpu_isa::avx2_vnni); }

bool HasBfloat16Instructions() { return Allows(dnnl::cpu_isa::avx512_core_bf16); }

double Bfloat16Speed() {
  constexpr double kTiles = 8;  // AMX: 16 rows of 32 products for 16 columns in 16 cycles
  if (AllowsTiles()) return kTiles;
  return HasBfloat16Instructions() ? 2 : 1;
}

bool AllowsTiles() {
#if HWY_ARCH_X86 && defined(__linux__)
  static const bool allowed = [] {
    if (!Allows(dnnl::cpu_isa::avx512_core_amx)) return false;
    // Linux asks for a request before the first use: arch_prctl(2).
    constexpr int kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return allowed;
#else
  return false;
#endif
}

std::string OnednnIdentity() {
  const dnnl_version_t& v = *dnnl_version();
  return absl::StrCat("onednn ", v.major, ".", v.minor, ".", v.patch, " ", v.hash, " isa ",
                      static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

}  // namespace tenon
