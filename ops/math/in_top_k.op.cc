// InTopK, InTopKV2: whether fewer than k classes have a higher prediction than the target. False if
// predictions are not finite.
#include <cmath>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status InTopKShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  if (c.num_inputs() > 2) TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  int64_t batch = c.input(1).has_rank() ? c.input(1).dim(0) : -1;
  if (c.input(0).has_rank()) {
    const int64_t rows = c.input(0).dim(0);
    if (batch >= 0 && rows >= 0 && rows != batch) {
      return InvalidArgument(rows, " predictions for ", batch, " targets");
    }
    if (batch < 0) batch = rows;
  }
  c.set_output(0, Shape({batch}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> InTopK(PrepareContext& p) {
  int64_t k = p.attrs().Int("k", 0);
  if (p.num_inputs() > 2) {
    if (p.value(2) == nullptr) return PrepareLate(p, InTopK, {2});
    p.InputNotRead(2);
    TENON_ASSIGN_OR_RETURN(k, ScalarInteger(*p.value(2), "k"));
  }
  const int64_t rows = p.input_shape(0).dim(0), classes = p.input_shape(0).dim(1);
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(1), [&]<typename I>() {
    return MakeKernel([=](RunContext& run) {
      const float* row = run.input<float>(0);
      const I* target = run.input<I>(1);
      bool* out = run.output<bool>(0);
      for (int64_t b = 0; b < rows; ++b, row += classes) {
        out[b] = false;
        if (target[b] < 0 || target[b] >= classes || !std::isfinite(row[target[b]])) continue;
        int64_t higher = 0;
        bool known = true;
        for (int64_t i = 0; i < classes && known && higher < k; ++i) {
          known = std::isfinite(row[i]);
          higher += row[i] > row[target[b]] ? 1 : 0;
        }
        out[b] = known && higher < k;
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration in_top_k_op({
    .name = "InTopK",
    .inputs = "predictions: float, targets: T",
    .outputs = "precision: bool",
    .attrs = "k: int; T: type = int32",
    .types = "T: int32 int64",
    .shape = InTopKShape,
    .reference = InTopK,
    .discontinuous = true,
});

const OpRegistration in_top_kv2_op({
    .name = "InTopKV2",
    .inputs = "predictions: float, targets: T, k: T",
    .outputs = "precision: bool",
    .attrs = "T: type = int32",
    .types = "T: int32 int64",
    .shape = InTopKShape,
    .reference = InTopK,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
