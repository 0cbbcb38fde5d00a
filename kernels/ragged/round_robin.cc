#include "kernels/ragged/round_robin.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/ragged/nested_splits.h"

namespace tenon {
namespace {

// How much remains of sequences of those sizes: of all the same, or all of it; what cannot be
// shared evenly goes to the first ones.
std::vector<int64_t> Shares(const std::vector<int64_t>& sizes, int64_t most) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] < sizes[b]; });
  std::vector<int64_t> shares(sizes.size());
  int64_t left = most, others = std::ssize(sizes);
  size_t i = 0;
  for (; i < order.size() && sizes[order[i]] * others <= left; ++i, --others) {
    shares[order[i]] = sizes[order[i]];
    left -= sizes[order[i]];
  }
  const int64_t even = others > 0 ? left / others : 0;
  for (; i < order.size(); ++i) {
    shares[order[i]] = even;
    left -= even;
  }
  for (size_t k = 0; k < sizes.size() && left > 0; ++k) {
    if (shares[k] == sizes[k]) continue;
    ++shares[k];
    --left;
  }
  return shares;
}

struct Sequences {
  int n;
  int64_t rows;
  std::vector<int64_t> values;  // of each
  DType splits_type;
};

absl::StatusOr<Sequences> SequencesOf(const PrepareContext& p) {
  Sequences s;
  s.n = (p.num_inputs() - 1) / 2;
  s.splits_type = p.input_dtype(1 + s.n);
  s.rows = p.input_shape(1 + s.n).dim(0) - 1;
  for (int i = 0; i < s.n; ++i) {
    s.values.push_back(p.input_shape(1 + i).dim(0));
    if (p.input_shape(1 + s.n + i).dim(0) != s.rows + 1) {
      return InvalidArgument("all row splits must have one size");
    }
  }
  return s;
}

// Calls visit(sequence, first value, size, share) for each row.
template <typename Visit>
absl::Status ForEachRow(RunContext& run, const Sequences& s, bool complete, Visit visit) {
  const int64_t most = std::max(0, *run.input<int32_t>(0));
  NestedSplits splits;
  for (int i = 0; i < s.n; ++i) {
    TENON_ASSIGN_OR_RETURN(NestedSplits one,
                           ReadSplits(run, s.splits_type, {s.rows + 1},
                                      s.values[static_cast<size_t>(i)], complete, 1 + s.n + i));
    splits.push_back(std::move(one[0]));
  }
  std::vector<int64_t> sizes(splits.size());
  for (size_t row = 0; row < static_cast<size_t>(s.rows); ++row) {
    for (size_t i = 0; i < splits.size(); ++i) sizes[i] = splits[i][row + 1] - splits[i][row];
    const std::vector<int64_t> shares = Shares(sizes, most);
    for (size_t i = 0; i < splits.size(); ++i) visit(i, splits[i][row], sizes[i], shares[i]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RoundRobinTrimKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Sequences s, SequencesOf(p));
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    struct Range {
      int64_t begin, size;
    };
    std::vector<std::vector<Range>> kept(static_cast<size_t>(s.n));
    TENON_RETURN_IF_ERROR(
        ForEachRow(run, s, false, [&](size_t i, int64_t begin, int64_t, int64_t share) {
          kept[i].push_back({begin, share});
        }));
    for (int i = 0; i < s.n; ++i) {
      const std::vector<Range>& ranges = kept[static_cast<size_t>(i)];
      int64_t count = 0;
      VisitTypes(TypeList<int32_t, int64_t>{}, s.splits_type, [&]<typename I>() {
        I* splits = run.output<I>(s.n + i);
        *splits++ = 0;
        for (const Range& r : ranges) *splits++ = static_cast<I>(count += r.size);
      });
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(i, Shape({count})));
      VisitStorage(dtype, [&]<typename T>() {
        const T* from = run.input<T>(1 + i);
        T* to = static_cast<T*>(memory);
        for (const Range& r : ranges) {
          to = std::copy(from + r.begin, from + r.begin + r.size, to);
        }
      });
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RoundRobinMasksKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Sequences s, SequencesOf(p));
  return MakeKernel([=](RunContext& run) {
    return ForEachRow(run, s, true, [&](size_t i, int64_t begin, int64_t size, int64_t share) {
      bool* mask = run.output<bool>(static_cast<int>(i)) + begin;
      std::fill(mask, mask + share, true);
      std::fill(mask + share, mask + size, false);
    });
  });
}

}  // namespace tenon
