// IsotonicRegression: the falling sequence that is nearest to each row, in squares.
#include <algorithm>
#include <vector>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status IsotonicShape(ShapeContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() == 0) {
    return InvalidArgument("input must have at least 1 dimension");
  }
  return UnchangedShape(c);
}

// A run of elements with one result, their mean.
template <typename S>
struct Run {
  int64_t end;
  S sum;
  S mean(int64_t begin) const { return sum / static_cast<S>(end - begin); }
};

// Pools adjacent violators: a run that is above the one before it joins it.
template <typename T, typename Out>
void FitRow(const T* in, int64_t n, Out* out, int32_t* segments) {
  using S = ComputeType<Out>;
  std::vector<Run<S>> runs;
  const auto begin_of = [&runs](size_t i) { return i == 0 ? 0 : runs[i - 1].end; };
  for (int64_t i = 0; i < n; ++i) {
    runs.push_back({i + 1, static_cast<S>(in[i])});
    while (runs.size() > 1) {
      const size_t last = runs.size() - 1;
      if (!(runs[last - 1].mean(begin_of(last - 1)) < runs[last].mean(begin_of(last)))) break;
      runs[last - 1] = {runs[last].end, runs[last - 1].sum + runs[last].sum};
      runs.pop_back();
    }
  }
  for (size_t r = 0; r < runs.size(); ++r) {
    const int64_t begin = begin_of(r);
    std::fill(out + begin, out + runs[r].end, static_cast<Out>(runs[r].mean(begin)));
    std::fill(segments + begin, segments + runs[r].end, static_cast<int32_t>(r));
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> Isotonic(PrepareContext& p) {
  const Shape& shape = p.input_shape(0);
  const int64_t size = shape.dim(shape.rank() - 1), elements = shape.num_elements();
  const DType out_type = p.output_dtype(0);
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return DispatchType(Floats{}, out_type, [&]<typename Out>() {
      return MakeKernel([=](RunContext& run) {
        for (int64_t at = 0; at < elements; at += size) {
          FitRow(run.input<T>(0) + at, size, run.output<Out>(0) + at, run.output<int32_t>(1) + at);
        }
        return absl::OkStatus();
      });
    });
  });
}

const OpRegistration isotonic_regression({
    .name = "IsotonicRegression",
    .inputs = "input: T",
    .outputs = "output: output_dtype, segments: int32",
    .attrs = "output_dtype: type = float; T: type",
    .types = "output_dtype: half bfloat16 float double; T: float double half bfloat16 int8 int16 "
             "int32 int64 uint8 uint16 uint32 uint64",
    .shape = IsotonicShape,
    .reference = Isotonic,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
