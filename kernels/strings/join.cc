#include "kernels/strings/join.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/reduction/segments.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> StringJoinKernel(PrepareContext& p) {
  const std::string separator = p.attrs().String("separator", "");
  const int64_t n = p.output_shape(0).num_elements();
  std::vector<int64_t> steps;
  for (int i = 0; i < p.num_inputs(); ++i) steps.push_back(p.input_shape(i).rank() == 0 ? 0 : 1);
  return MakeKernel([=](RunContext& run) {
    for (int64_t i = 0; i < n; ++i) {
      std::string text;
      for (size_t k = 0; k < steps.size(); ++k) {
        if (k > 0) text += separator;
        text += run.input<std::string>(static_cast<int>(k))[i * steps[k]];
      }
      run.output<std::string>(0)[i] = std::move(text);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<int64_t>> JoinedAxes(const Tensor& t, int rank) {
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> axes, IntegersOf(t));
  TENON_RETURN_IF_ERROR(AxisMask(axes, rank).status());
  for (int64_t& a : axes) a = a < 0 ? a + rank : a;
  return axes;
}

absl::StatusOr<std::unique_ptr<Kernel>> ReduceJoinKernel(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, ReduceJoinKernel, {1});
  p.InputNotRead(1);
  const Shape in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, JoinedAxes(*p.value(1), in.rank()));
  const std::string separator = p.attrs().String("separator", "");
  // Offsets of the strings that one output joins, and of the first string of each output.
  const std::vector<int64_t> strides = DenseStrides(in);
  auto offsets = [&](const std::vector<int64_t>& dims) {
    std::vector<int64_t> all = {0};
    for (int64_t d : dims) {
      std::vector<int64_t> next;
      for (int64_t base : all) {
        for (int64_t i = 0; i < in.dim(static_cast<int>(d)); ++i) {
          next.push_back(base + i * strides[static_cast<size_t>(d)]);
        }
      }
      all = std::move(next);
    }
    return all;
  };
  std::vector<int64_t> kept;
  for (int i = 0; i < in.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) kept.push_back(i);
  }
  const std::vector<int64_t> inner = offsets({axes.rbegin(), axes.rend()});
  const std::vector<int64_t> outer = offsets(kept);
  return MakeKernel([=](RunContext& run) {
    std::string* out = run.output<std::string>(0);
    for (int64_t base : outer) {
      *out++ = absl::StrJoin(inner, separator, [&](std::string* to, int64_t at) {
        *to += run.input<std::string>(0)[base + at];
      });
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SegmentJoinKernel(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, SegmentJoinKernel, {2});
  p.InputNotRead(2);
  const Shape& out_shape = p.output_shape(0);
  const int64_t rows = p.input_shape(1).num_elements(), segments = out_shape.dim(0);
  const int64_t width = Product(out_shape, 1, out_shape.rank());
  const std::string separator = p.attrs().String("separator", "");
  const DType ids_type = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> ids = IntegersAt(ids_type, run.input(1), rows);
    std::string* out = run.output<std::string>(0);
    std::fill_n(out, segments * width, std::string());
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t id = ids[static_cast<size_t>(r)];
      if (id < 0 || id >= segments) {
        return InvalidArgument("segment id ", id, " is out of range [0, ", segments, ")");
      }
      for (int64_t i = 0; i < width; ++i) {
        std::string& text = out[id * width + i];
        if (!text.empty()) text += separator;  // none after empty strings at the beginning
        text += run.input<std::string>(0)[r * width + i];
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
