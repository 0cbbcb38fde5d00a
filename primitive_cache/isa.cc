#include "primitive_cache/isa.h"

#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace tenon {

bool HasBfloat16Instructions() {
  // Instruction sets are bit sets that contain those below them.
  const auto have = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto want = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return (have & want) == want;
}

std::string OnednnIdentity() {
  const dnnl_version_t& v = *dnnl_version();
  return absl::StrCat("onednn ", v.major, ".", v.minor, ".", v.patch, " ", v.hash, " isa ",
                      static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

}  // namespace tenon
