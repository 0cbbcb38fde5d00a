// Assert (an error if its condition is false); CheckNumerics and V2 (an error on NaN or infinity).
#include <cmath>

#include "absl/strings/str_join.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

std::string Summary(DType dtype, const Shape& shape, const void* data, int64_t most) {
  std::string out = "[";
  VisitTypes(AllTypes{}, dtype, [&]<typename T>() {
    const int64_t n = shape.num_elements();
    for (int64_t i = 0; i < std::min(n, most < 0 ? n : most); ++i) {
      if (i > 0) out += ' ';
      const T& v = static_cast<const T*>(data)[i];
      if constexpr (kIsComplex<T>) {
        absl::StrAppend(&out, v.real(), "+", v.imag(), "i");
      } else if constexpr (std::is_same_v<T, bool>) {
        out += v ? "true" : "false";
      } else {
        absl::StrAppend(&out, ToCompute(v));
      }
    }
    if (most >= 0 && n > most) out += " ...";
  });
  return out + "]";
}

absl::Status AssertShape(ShapeContext& c) { return c.ExpectRank(0, 0); }

absl::StatusOr<std::unique_ptr<Kernel>> Assert(PrepareContext& p) {
  const int64_t summarize = p.attrs().Int("summarize", 3);
  std::vector<TensorSpec> data;
  for (int i = 1; i < p.num_inputs(); ++i) {
    data.push_back({p.input_dtype(i), p.input_shape(i), nullptr});
  }
  return MakeKernel([summarize, data](RunContext& run) -> absl::Status {
    if (*run.input<bool>(0)) return absl::OkStatus();
    std::vector<std::string> parts;
    for (size_t i = 0; i < data.size(); ++i) {
      parts.push_back(
          Summary(data[i].dtype, data[i].shape, run.input(static_cast<int>(i) + 1), summarize));
    }
    return InvalidArgument("assertion failed: ", absl::StrJoin(parts, " "));
  });
}

const OpRegistration assert_op({
    .name = "Assert",
    .inputs = "condition: bool, data: T",
    .attrs = "T: list(type); summarize: int = 3",
    .shape = AssertShape,
    .reference = Assert,
    .stateful = true,
});

absl::StatusOr<std::unique_ptr<Kernel>> CheckNumerics(PrepareContext& p) {
  const std::string message = p.attrs().String("message", "");
  const int64_t n = p.input_shape(0).num_elements();
  const DType dtype = p.input_dtype(0);
  p.AllowInPlace(0, 0);
  return DispatchType(Floats{}, dtype, [&]<typename T>() {
    return MakeKernel([message, n, dtype](RunContext& run) -> absl::Status {
      const T* x = run.input<T>(0);
      bool nan = false, infinity = false;
      for (int64_t i = 0; i < n; ++i) {
        nan = nan || std::isnan(ToCompute(x[i]));
        infinity = infinity || std::isinf(ToCompute(x[i]));
      }
      if (nan || infinity) {
        return InvalidArgument(message, ": the tensor has ", nan ? "NaN" : "",
                               nan && infinity ? " and " : "", infinity ? "Inf" : "", " values");
      }
      CopyElements(dtype, x, run.output(0), n);
      return absl::OkStatus();
    });
  });
}

constexpr OpRow CheckNumericsRow(const char* name) {
  return {
      .name = name,
      .inputs = "tensor: T",
      .outputs = "output: T",
      .attrs = "T: type; message: string",
      .types = "T: bfloat16 half float double",
      .shape = UnchangedShape,
      .reference = CheckNumerics,
      .stateful = true,
  };
}

const OpRegistration check_numerics(CheckNumericsRow("CheckNumerics"));
const OpRegistration check_numerics_v2(CheckNumericsRow("CheckNumericsV2"));

}  // namespace
}  // namespace tenon
