// Kernels of ops that map each string independently.
#ifndef TENON_KERNELS_STRINGS_MAP_H_
#define TENON_KERNELS_STRINGS_MAP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Output element i = f(input element i, output element i), a Status.
template <typename Out, typename F>
absl::StatusOr<std::unique_ptr<Kernel>> MapStrings(PrepareContext& p, F f) {
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([n, f](RunContext& run) -> absl::Status {
    const std::string* in = run.input<std::string>(0);
    Out* out = run.output<Out>(0);
    for (int64_t i = 0; i < n; ++i) {
      if (absl::Status status = f(in[i], out[i]); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

// Byte offsets at which the characters of a UTF-8 text begin, and its end.
std::vector<size_t> CharacterStarts(const std::string& text);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_MAP_H_
