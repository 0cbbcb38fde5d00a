#include "kernels/sparse/edit_distance.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {
namespace {

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
int64_t Levenshtein(const void* a_values, Row a_row, const void* b_values, Row b_row) {
  const T* a = static_cast<const T*>(a_values) + a_row.begin;
  const T* b = static_cast<const T*>(b_values) + b_row.begin;
  const int64_t a_size = a_row.size(), b_size = b_row.size();
  std::vector<int64_t> costs;  // of a's prefix against b's first j
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

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> EditDistanceKernel(PrepareContext& p) {
  const int64_t a_count = p.input_shape(1).dim(0), b_count = p.input_shape(4).dim(0);
  const int64_t rank = p.input_shape(2).dim(0);
  const bool normalize = p.attrs().Bool("normalize", true);
  decltype(&Levenshtein<float>) levenshtein = nullptr;
  const DType dtype = p.input_dtype(1);
  if (!VisitTypes(AllTypes{}, dtype, [&]<typename T>() { levenshtein = Levenshtein<T>; })) {
    return NoKernelFor(dtype);
  }
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
      const float distance = static_cast<float>(levenshtein(run.input(1), a, run.input(4), b));
      out[offset] = !normalize      ? distance
                    : b.size() == 0 ? std::numeric_limits<float>::infinity()
                                    : distance / static_cast<float>(b.size());
      i = a.end;
      j = b.end;
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
