// EditDistance: insertions, deletions and substitutions between the innermost rows of two sparse
// tensors (Levenshtein), in shares of the true row's length where that is asked for.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status DistanceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 3));
  const Shape &a = c.input(2), &b = c.input(5);
  if (!a.CompatibleWith(b)) return InvalidArgument("tensors of different ranks");
  for (const Shape* s : {&a, &b}) {
    if (s->has_rank() && s->dim(0) >= 0 && s->dim(0) < 2) {
      return InvalidArgument("the tensors must have at least 2 dimensions");
    }
  }
  return UnknownShape(c);
}

// Elements [begin, end) of one innermost row.
struct Row {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

Row RowAt(const Coordinates& at, int64_t begin) {
  int64_t end = begin;
  while (end < at.n && CompareCoordinates(at[begin], at[end], at.rank - 1) == 0) ++end;
  return {begin, end};
}

template <typename T>
int64_t Levenshtein(const T* a, int64_t a_size, const T* b, int64_t b_size) {
  std::vector<int64_t> costs;  // of a's beginning against b's first j
  for (int64_t j = 0; j <= b_size; ++j) costs.push_back(j);
  for (int64_t i = 0; i < a_size; ++i) {
    int64_t diagonal = i;
    costs[0] = i + 1;
    for (int64_t j = 0; j < b_size; ++j) {
      const size_t k = static_cast<size_t>(j);
      const int64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = costs[k + 1];
      costs[k + 1] = std::min({replaced, costs[k] + 1, diagonal + 1});
    }
  }
  return costs.back();
}

absl::StatusOr<std::unique_ptr<Kernel>> Distance(PrepareContext& p) {
  const int64_t a_count = p.input_shape(1).dim(0), b_count = p.input_shape(4).dim(0);
  const int64_t rank = p.input_shape(2).dim(0);
  const bool normalize = p.attrs().Bool("normalize", true);
  return DispatchType(AllTypes{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const Coordinates said = {run.input<int64_t>(0), a_count, rank};
      const Coordinates truth = {run.input<int64_t>(3), b_count, rank};
      const int64_t *said_shape = run.input<int64_t>(2), *truth_shape = run.input<int64_t>(5);
      TENON_RETURN_IF_ERROR(CheckCoordinates(said, said_shape));
      TENON_RETURN_IF_ERROR(CheckCoordinates(truth, truth_shape));
      Shape shape;
      for (int64_t d = 0; d < rank - 1; ++d) {
        shape.push_back(std::max(said_shape[d], truth_shape[d]));
      }
      TENON_ASSIGN_OR_RETURN(const int64_t elements, shape.CheckedElements());
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
      float* out = static_cast<float*>(memory);
      std::fill_n(out, elements, 0.0f);
      for (int64_t i = 0, j = 0; i < said.n || j < truth.n;) {
        const int order = i == said.n    ? 1
                          : j == truth.n ? -1
                                         : CompareCoordinates(said[i], truth[j], rank - 1);
        const int64_t* place = order <= 0 ? said[i] : truth[j];
        int64_t offset = 0;
        for (int d = 0; d < rank - 1; ++d) offset = offset * shape.dim(d) + place[d];
        const Row a = order <= 0 ? RowAt(said, i) : Row{i, i};
        const Row b = order >= 0 ? RowAt(truth, j) : Row{j, j};
        const float distance = static_cast<float>(
            Levenshtein(run.input<T>(1) + a.begin, a.size(), run.input<T>(4) + b.begin, b.size()));
        out[offset] = !normalize      ? distance
                      : b.size() == 0 ? std::numeric_limits<float>::infinity()
                                      : distance / static_cast<float>(b.size());
        i = a.end;
        j = b.end;
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration edit_distance({
    .name = "EditDistance",
    .inputs = "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
              "truth_indices: int64, truth_values: T, truth_shape: int64",
    .outputs = "output: float",
    .attrs = "normalize: bool = true; T: type",
    .shape = DistanceShape,
    .reference = Distance,
});

}  // namespace
}  // namespace tenon
