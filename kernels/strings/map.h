// Kernels of ops that map each string independently.
#ifndef TENON_KERNELS_STRINGS_MAP_H_
#define TENON_KERNELS_STRINGS_MAP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/in_parts.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Output element i = f(input element i, output element i), a Status. Several threads call f. The
// error is that of the first string that has one.
template <typename Out, typename F>
absl::StatusOr<std::unique_ptr<Kernel>> MapStrings(PrepareContext& p, F f) {
  constexpr double kNsPerString = 30;
  const int64_t n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    const std::string* const in = run.input<std::string>(0);
    Out* const out = run.output<Out>(0);
    const auto map = [&](NoPart&, int64_t i) -> absl::Status { return f(in[i], out[i]); };
    return InParts<NoPart>(threads, n, kNsPerString, map).status();
  });
}

// Characters of a UTF-8 text.
int64_t CountCharacters(const std::string& text);
// Byte offsets at which they begin, and the text's end.
std::vector<size_t> CharacterStarts(const std::string& text);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_MAP_H_
