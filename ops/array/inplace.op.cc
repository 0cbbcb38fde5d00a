// InplaceUpdate, InplaceAdd and InplaceSub: a tensor with rows replaced, increased or decreased, in
// the order of the indices, which count modulo the number of rows. The input itself is unchanged.
#include <cstring>

#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

enum class RowChange { kUpdate, kAdd, kSub };

absl::Status InplaceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape &x = c.input(0), &i = c.input(1), &v = c.input(2);
  c.set_output(0, x);
  if (!x.has_rank() || !v.has_rank()) return absl::OkStatus();
  if (x.rank() < 1) return InvalidArgument("x must have at least one dimension");
  Shape rows = x;
  rows.set_dim(0, i.has_rank() ? i.dim(0) : -1);
  if (!rows.CompatibleWith(v)) {
    return InvalidArgument("v must have shape ", rows.ToString(), ", but has ", v.ToString());
  }
  return absl::OkStatus();
}

template <typename T>
void ChangeRow(RowChange change, const T* from, T* to, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    if (change == RowChange::kUpdate) {
      to[k] = from[k];
    } else if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, bool>) {
      const auto a = ToCompute(to[k]), b = ToCompute(from[k]);
      if constexpr (kIsInt<T>) {
        to[k] = static_cast<T>(change == RowChange::kAdd ? ToWide(a) + ToWide(b)
                                                         : ToWide(a) - ToWide(b));
      } else {
        to[k] = static_cast<T>(change == RowChange::kAdd ? a + b : a - b);
      }
    }
  }
}

template <RowChange kChange>
absl::StatusOr<std::unique_ptr<Kernel>> Inplace(PrepareContext& p) {
  const Shape x = p.input_shape(0);
  const int64_t rows = x.dim(0), changes = p.input_shape(1).dim(0);
  const int64_t width = rows == 0 ? 0 : x.num_elements() / rows, total = x.num_elements();
  return DispatchType(AllTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const T* const in = run.input<T>(0);
      T* const out = run.output<T>(0);
      if (out != in) std::copy(in, in + total, out);
      if (rows == 0 && changes > 0) return InvalidArgument("x has no rows");
      for (int64_t k = 0; k < changes; ++k) {
        const int64_t row = (run.input<int32_t>(1)[k] % rows + rows) % rows;
        ChangeRow(kChange, run.input<T>(2) + k * width, out + row * width, width);
      }
      return absl::OkStatus();
    });
  });
}

OpRow InplaceRow(const char* name, KernelFactory reference, ErrorBound error_bound) {
  return {
      .name = name,
      .inputs = "x: T, i: int32, v: T",
      .outputs = "y: T",
      .attrs = "T: type",
      .shape = InplaceShape,
      .reference = reference,
      .error_bound = error_bound,
  };
}

const OpRegistration inplace_update(InplaceRow("InplaceUpdate", Inplace<RowChange::kUpdate>,
                                               ErrorBound::kExact));
const OpRegistration inplace_add(InplaceRow("InplaceAdd", Inplace<RowChange::kAdd>,
                                            ErrorBound::kSegmentSum));
const OpRegistration inplace_sub(InplaceRow("InplaceSub", Inplace<RowChange::kSub>,
                                            ErrorBound::kSegmentSum));

}  // namespace
}  // namespace tenon
