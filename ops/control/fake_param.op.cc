// FakeParam: stands for a result that a branch does not compute and nobody reads: zeros. Unknown
// dimensions are 0. DeviceIndex: the position of the CPU in a list of devices, or the list's size.
#include <algorithm>
#include <cstring>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status FakeParamShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, c.attrs().ShapeOf("shape"));
  if (!shape.has_rank()) {
    c.set_output(0, Shape({0}));
    return absl::OkStatus();
  }
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  for (int64_t& d : dims) d = std::max<int64_t>(d, 0);
  c.set_output(0, Shape(dims));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> FakeParam(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  if (dtype == DType::kString) {  // made empty by whoever allocated them
    return MakeKernel([](RunContext&) { return absl::OkStatus(); });
  }
  if (SizeOf(dtype) == 0) return Unimplemented("no elements of type ", Name(dtype));
  const size_t bytes = static_cast<size_t>(p.output_shape(0).num_elements()) * SizeOf(dtype);
  return MakeKernel([bytes](RunContext& run) {
    if (bytes > 0) std::memset(run.output(0), 0, bytes);
    return absl::OkStatus();
  });
}

const OpRegistration fake_param({
    .name = "FakeParam",
    .outputs = "output: dtype",
    .attrs = "dtype: type; shape: shape",
    .shape = FakeParamShape,
    .reference = FakeParam,
});

absl::StatusOr<std::unique_ptr<Kernel>> DeviceIndex(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names, p.attrs().Strings("device_names"));
  const auto at = std::find(names.begin(), names.end(), "CPU") - names.begin();
  return MakeKernel([index = static_cast<int32_t>(at)](RunContext& run) {
    *run.output<int32_t>(0) = index;
    return absl::OkStatus();
  });
}

const OpRegistration device_index({
    .name = "DeviceIndex",
    .outputs = "index: int32",
    .attrs = "device_names: list(string)",
    .shape = ScalarShape,
    .reference = DeviceIndex,
});

}  // namespace
}  // namespace tenon
