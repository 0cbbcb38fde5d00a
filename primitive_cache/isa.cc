#include "primitive_cache/isa.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "hwy/targets.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace tenon {
namespace {

bool Allowed(dnnl::cpu_isa isa) {
  // Each instruction set is a bit set that contains the lower ones.
  const auto have = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto want = static_cast<unsigned>(isa);
  return (have & want) == want;
}

}  // namespace

void LimitVectorCode() {
#if HWY_ARCH_X86
  static const bool done = [] {
    // Better targets have lower bits.
    const auto disable_above = [](int64_t target) { hwy::DisableTargets(target - 1); };
    if (!Allowed(dnnl::cpu_isa::avx2)) {
      disable_above(HWY_SSE4);
    } else if (!Allowed(dnnl::cpu_isa::avx512_core)) {
      disable_above(HWY_AVX2);
    } else if (!Allowed(dnnl::cpu_isa::avx512_core_vnni)) {
      disable_above(HWY_AVX3);
    }
    return true;
  }();
  static_cast<void>(done);
#endif
}

bool HasBfloat16Instructions() { return Allowed(dnnl::cpu_isa::avx512_core_bf16); }

std::string OnednnIdentity() {
  const dnnl_version_t& v = *dnnl_version();
  return absl::StrCat("onednn ", v.major, ".", v.minor, ".", v.patch, " ", v.hash, " isa ",
                      static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

}  // namespace tenon
