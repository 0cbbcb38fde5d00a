#include "kernels/strings/ngrams.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/segments.h"

namespace tenon {
namespace {

struct NGrams {
  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width;
  bool keep_short;

  // Padding never forms a sequence on its own.
  int64_t PadOf(int64_t width) const {
    return std::min(pad_width < 0 ? width - 1 : pad_width, width - 1);
  }
  int64_t CountOf(int64_t tokens, int64_t width) const {
    return std::max<int64_t>(0, tokens + 2 * PadOf(width) - width + 1);
  }
};

// Sequence `index` of `count`.
std::string Run(const NGrams& n, const std::string* tokens, int64_t index, int64_t count,
                int64_t width) {
  const int64_t pad = n.PadOf(width);
  const int64_t left = std::max<int64_t>(0, pad - index);
  const int64_t right = std::max<int64_t>(0, pad - (count - index - 1));
  const int64_t first = left > 0 ? 0 : index - pad, size = width - left - right;
  std::string run;
  auto append = [&, begun = false](const std::string& token) mutable {
    if (begun) run += n.separator;
    begun = true;
    run += token;
  };
  for (int64_t i = 0; i < left; ++i) append(n.left_pad);
  for (int64_t i = 0; i < size; ++i) append(tokens[first + i]);
  for (int64_t i = 0; i < right; ++i) append(n.right_pad);
  return run;
}

absl::Status CheckSplits(const std::vector<int64_t>& splits, int64_t tokens) {
  if (splits.empty()) {
    if (tokens == 0) return absl::OkStatus();
    return InvalidArgument("no row splits for ", tokens, " tokens");
  }
  if (splits.front() != 0 || !std::is_sorted(splits.begin(), splits.end()) ||
      splits.back() != tokens) {
    return InvalidArgument("row splits must rise from 0 to the ", tokens, " tokens");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> NGramsKernel(PrepareContext& p) {
  constexpr int64_t kWidest = 1 << 20, kMostTokens = int64_t{1} << 28;
  NGrams n;
  n.separator = p.attrs().String("separator", "");
  n.left_pad = p.attrs().String("left_pad", "");
  n.right_pad = p.attrs().String("right_pad", "");
  TENON_ASSIGN_OR_RETURN(n.widths, p.attrs().Ints("ngram_widths"));
  TENON_ASSIGN_OR_RETURN(n.pad_width, p.attrs().Int("pad_width"));
  n.keep_short = p.attrs().Bool("preserve_short_sequences", false);
  for (int64_t width : n.widths) {
    if (width <= 0 || width > kWidest) return InvalidArgument("a width of ", width);
  }
  if (n.pad_width > kWidest) return InvalidArgument("a padding of ", n.pad_width);
  const int64_t tokens = p.input_shape(0).dim(0), rows = p.input_shape(1).dim(0);
  const DType splits_type = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::string* data = run.input<std::string>(0);
    const std::vector<int64_t> splits = IntegersAt(splits_type, run.input(1), rows);
    TENON_RETURN_IF_ERROR(CheckSplits(splits, tokens));
    std::vector<std::string> runs;
    std::vector<int64_t> out_splits(splits.size(), 0);
    int64_t written = 0;  // tokens
    for (size_t r = 0; r + 1 < splits.size(); ++r) {
      const int64_t size = splits[r + 1] - splits[r];
      const size_t before = runs.size();
      auto add = [&](int64_t width, int64_t count) -> absl::Status {
        written += width * count;
        if (written > kMostTokens) return InvalidArgument("runs that are too many or too wide");
        for (int64_t i = 0; i < count; ++i) {
          runs.push_back(Run(n, data + splits[r], i, count, width));
        }
        return absl::OkStatus();
      };
      for (int64_t width : n.widths) {
        TENON_RETURN_IF_ERROR(add(width, tokens == 0 ? 0 : n.CountOf(size, width)));
      }
      if (n.keep_short && runs.size() == before && size > 0) {
        if (n.pad_width < 0) return InvalidArgument("a padding of ", n.pad_width);
        TENON_RETURN_IF_ERROR(add(size + 2 * n.pad_width, 1));
      }
      out_splits[r + 1] = std::ssize(runs);
    }
    VisitTypes(TypeList<int32_t, int64_t>{}, splits_type, [&]<typename I>() {
      std::transform(out_splits.begin(), out_splits.end(), run.output<I>(1),
                     [](int64_t v) { return static_cast<I>(v); });
    });
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, Shape({std::ssize(runs)})));
    std::move(runs.begin(), runs.end(), static_cast<std::string*>(memory));
    return absl::OkStatus();
  });
}

}  // namespace tenon
