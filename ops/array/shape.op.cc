// Shape, ShapeN, Size, Rank: results that depend only on shapes; elements are never read.
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ShapeShape(ShapeContext& c) {
  if (c.num_outputs() < 1) return InvalidArgument("no inputs");
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, Shape({c.input(i).has_rank() ? int64_t{c.input(i).rank()} : int64_t{-1}}));
  }
  return absl::OkStatus();
}

void Store(DType dtype, void* out, size_t i, int64_t value) {
  if (dtype == DType::kInt32) {
    static_cast<int32_t*>(out)[i] = static_cast<int32_t>(value);
  } else {
    static_cast<int64_t*>(out)[i] = value;
  }
}

absl::Status CheckFits(DType dtype, int64_t value) {
  if (dtype == DType::kInt32 && value > INT32_MAX) {
    return InvalidArgument(value, " does not fit into int32");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ShapeReference(PrepareContext& p) {
  std::vector<Shape> shapes;
  const DType dtype = p.output_dtype(0);
  for (int i = 0; i < p.num_outputs(); ++i) {
    shapes.push_back(p.input_shape(i));
    for (int64_t d : shapes.back().dims()) TENON_RETURN_IF_ERROR(CheckFits(dtype, d));
    p.InputNotRead(i);
  }
  return MakeKernel([shapes, dtype](RunContext& run) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      for (size_t d = 0; d < shapes[i].dims().size(); ++d) {
        Store(dtype, run.output(static_cast<int>(i)), d, shapes[i].dims()[d]);
      }
    }
    return absl::OkStatus();
  });
}

template <int64_t (*count)(const Shape&)>
absl::StatusOr<std::unique_ptr<Kernel>> Count(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const int64_t value = count(p.input_shape(0));
  TENON_RETURN_IF_ERROR(CheckFits(dtype, value));
  p.InputNotRead(0);
  return MakeKernel([dtype, value](RunContext& run) {
    Store(dtype, run.output(0), 0, value);
    return absl::OkStatus();
  });
}

int64_t SizeCount(const Shape& shape) { return shape.num_elements(); }
int64_t RankCount(const Shape& shape) { return shape.rank(); }

const OpRegistration shape({
    .name = "Shape",
    .inputs = "input: T",
    .outputs = "output: out_type",
    .attrs = "T: type; out_type: type = int32",
    .types = "out_type: int32 int64",
    .shape = ShapeShape,
    .reference = ShapeReference,
    .shape_only = true,
});

const OpRegistration shape_n({
    .name = "ShapeN",
    .inputs = "input: N * T",
    .outputs = "output: N * out_type",
    .attrs = "N: int; T: type; out_type: type = int32",
    .types = "out_type: int32 int64",
    .shape = ShapeShape,
    .reference = ShapeReference,
    .shape_only = true,
});

const OpRegistration size({
    .name = "Size",
    .inputs = "input: T",
    .outputs = "output: out_type",
    .attrs = "T: type; out_type: type = int32",
    .types = "out_type: int32 int64",
    .shape = ScalarShape,
    .reference = Count<SizeCount>,
    .shape_only = true,
});

const OpRegistration rank({
    .name = "Rank",
    .inputs = "input: T",
    .outputs = "output: int32",
    .attrs = "T: type",
    .shape = ScalarShape,
    .reference = Count<RankCount>,
    .shape_only = true,
});

}  // namespace
}  // namespace tenon
