// StringJoin (elementwise), ReduceJoin (along dimensions), UnsortedSegmentJoin (by segment).
#include "absl/strings/str_join.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status JoinShape(ShapeContext& c) {
  Shape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& in = c.input(i);
    if (!in.has_rank()) {
      c.set_output(0, Shape::Unknown());
      return absl::OkStatus();
    }
    if (in.rank() == 0) continue;
    if (out.rank() > 0 && !out.CompatibleWith(in)) {
      return InvalidArgument("inputs must have one shape or be scalars: ", out.ToString(), " and ",
                             in.ToString());
    }
    if (out.rank() == 0 || !out.IsComplete()) out = in;
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Join(PrepareContext& p) {
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

absl::Status ReduceJoinShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank() || c.value(1) == nullptr) return absl::OkStatus();
  if (c.input(1).rank() > 1) return InvalidArgument("reduction_indices must be a vector");
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, JoinedAxes(*c.value(1), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    const bool joined = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!joined) {
      out.push_back(in.dim(i));
    } else if (c.attrs().Bool("keep_dims", false)) {
      out.push_back(1);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Strings are joined in the order of the axes as given, the first one fastest.
absl::StatusOr<std::unique_ptr<Kernel>> ReduceJoin(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, ReduceJoin, {1});
  p.InputNotRead(1);
  const Shape in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, JoinedAxes(*p.value(1), in.rank()));
  const std::string separator = p.attrs().String("separator", "");
  // Offsets of the strings that one output joins, and of the first of each output.
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

absl::Status SegmentJoinShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  const Shape& in = c.input(0);
  const Shape& ids = c.input(1);
  int64_t segments = -1;
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(segments, NumSegments(*c.value(2)));
  }
  if (!in.has_rank() || !ids.has_rank()) return absl::OkStatus();
  if (ids.rank() > in.rank() ||
      !Shape(in.dims().subspan(0, static_cast<size_t>(ids.rank()))).CompatibleWith(ids)) {
    return InvalidArgument("inputs.shape must start with segment_ids.shape, but they are ",
                           in.ToString(), " and ", ids.ToString());
  }
  Shape out({segments});
  for (int i = ids.rank(); i < in.rank(); ++i) out.push_back(in.dim(i));
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> SegmentJoin(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, SegmentJoin, {2});
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
    std::vector<bool> begun(static_cast<size_t>(segments), false);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t id = ids[static_cast<size_t>(r)];
      if (id >= segments) {
        return InvalidArgument("segment id ", id, " is out of range [0, ", segments, ")");
      }
      if (id < 0) continue;
      for (int64_t i = 0; i < width; ++i) {
        std::string& text = out[id * width + i];
        if (begun[static_cast<size_t>(id)]) text += separator;
        text += run.input<std::string>(0)[r * width + i];
      }
      begun[static_cast<size_t>(id)] = true;
    }
    return absl::OkStatus();
  });
}

const OpRegistration string_join_op({
    .name = "StringJoin",
    .inputs = "inputs: N * string",
    .outputs = "output: string",
    .attrs = "N: int; separator: string = ",
    .shape = JoinShape,
    .reference = Join,
});

const OpRegistration reduce_join_op({
    .name = "ReduceJoin",
    .inputs = "inputs: string, reduction_indices: int32",
    .outputs = "output: string",
    .attrs = "keep_dims: bool = false; separator: string = ",
    .shape = ReduceJoinShape,
    .reference = ReduceJoin,
});

const OpRegistration unsorted_segment_join_op({
    .name = "UnsortedSegmentJoin",
    .inputs = "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments",
    .outputs = "output: string",
    .attrs = "separator: string = ; Tindices: type; Tnumsegments: type = int32",
    .types = "Tindices: int32 int64; Tnumsegments: int32 int64",
    .shape = SegmentJoinShape,
    .reference = SegmentJoin,
});

}  // namespace
}  // namespace tenon
