// Kernels of ops that map each string independently.
#ifndef TENON_KERNELS_STRINGS_MAP_H_
#define TENON_KERNELS_STRINGS_MAP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/parallel.h"

namespace tenon {

// Output element i = f(input element i, output element i), a Status. Several threads call f. The
// error is that of the first string that has one.
template <typename Out, typename F>
absl::StatusOr<std::unique_ptr<Kernel>> MapStrings(PrepareContext& p, F f) {
  constexpr double kNsPerString = 30;
  const int64_t n = p.input_shape(0).num_elements(), grain = ParallelGrain(kNsPerString);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::string* const in = run.input<std::string>(0);
    Out* const out = run.output<Out>(0);
    std::vector<absl::Status> results(static_cast<size_t>(ParallelRanges(threads, n, grain)));
    ParallelForRanges(threads, n, grain, [&](int range, int64_t begin, int64_t end) {
      absl::Status& result = results[static_cast<size_t>(range)];
      for (int64_t i = begin; i < end && result.ok(); ++i) result = f(in[i], out[i]);
    });
    for (absl::Status& result : results) {
      if (!result.ok()) return std::move(result);
    }
    return absl::OkStatus();
  });
}

// Characters of a UTF-8 text.
int64_t CountCharacters(const std::string& text);
// Byte offsets at which they begin, and the text's end.
std::vector<size_t> CharacterStarts(const std::string& text);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_MAP_H_
