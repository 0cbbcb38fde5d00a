// BroadcastGradientArgs (the dimensions over which a gradient is summed) and UnravelIndex (flat
// indices as coordinates).
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status GradientArgsShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  c.set_output(0, Shape({-1}));
  c.set_output(1, Shape({-1}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> GradientArgs(PrepareContext& p) {
  const int64_t n0 = p.input_shape(0).num_elements(), n1 = p.input_shape(1).num_elements();
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(0), [&]<typename I>() {
    return MakeKernel([n0, n1](RunContext& run) -> absl::Status {
      const I* s[2] = {run.input<I>(0), run.input<I>(1)};
      const int64_t sizes[2] = {n0, n1}, rank = std::max(n0, n1);
      std::vector<I> reduced[2];
      const bool equal = n0 == n1 && std::equal(s[0], s[0] + n0, s[1]);
      for (int64_t i = 0; i < rank && !equal; ++i) {
        I d[2];
        for (int k = 0; k < 2; ++k) {
          const int64_t at = i - (rank - sizes[k]);
          d[k] = at < 0 ? I(1) : s[k][at];
        }
        if (d[0] != d[1] && d[0] != 1 && d[1] != 1) {
          return InvalidArgument("shapes that do not broadcast: ", d[0], " and ", d[1],
                                 " of dimension ", i);
        }
        // If both are 1, the sum changes nothing and is done on both sides.
        for (int k = 0; k < 2; ++k) {
          if (d[k] == 1) reduced[k].push_back(static_cast<I>(i));
        }
      }
      for (int k = 0; k < 2; ++k) {
        const Shape shape({static_cast<int64_t>(reduced[k].size())});
        TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(k, shape));
        std::copy(reduced[k].begin(), reduced[k].end(), static_cast<I*>(out));
      }
      return absl::OkStatus();
    });
  });
}

absl::Status UnravelShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  const Shape& indices = c.input(0);
  if (!indices.has_rank() || !c.input(1).has_rank()) return absl::OkStatus();
  if (indices.rank() > 1) return InvalidArgument("indices must be a scalar or a vector");
  Shape out({c.input(1).dim(0)});
  if (indices.rank() == 1) out.push_back(indices.dim(0));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> UnravelIndex(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements(), rank = p.input_shape(1).num_elements();
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(0), [&]<typename I>() {
    return MakeKernel([n, rank](RunContext& run) -> absl::Status {
      const I* indices = run.input<I>(0);
      const I* dims = run.input<I>(1);
      I* out = run.output<I>(0);
      I count = 1;
      for (int64_t d = 0; d < rank; ++d) {
        if (dims[d] <= 0) return InvalidArgument("dims[", d, "] is ", dims[d]);
        if (__builtin_mul_overflow(count, dims[d], &count)) {
          return InvalidArgument("dims have too many elements");
        }
      }
      for (int64_t i = 0; i < n; ++i) {
        if (indices[i] >= count) {  // negative ones are accepted, and give a negative coordinate
          return InvalidArgument("index ", indices[i], " is not below ", count);
        }
        I rest = indices[i];
        for (int64_t d = rank; d > 0; --d) {
          out[(d - 1) * n + i] = rest % dims[d - 1];
          rest /= dims[d - 1];
        }
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration broadcast_gradient_args_op({
    .name = "BroadcastGradientArgs",
    .inputs = "s0: T, s1: T",
    .outputs = "r0: T, r1: T",
    .attrs = "T: type = int32",
    .types = "T: int32 int64",
    .shape = GradientArgsShape,
    .reference = GradientArgs,
});

const OpRegistration unravel_index_op({
    .name = "UnravelIndex",
    .inputs = "indices: Tidx, dims: Tidx",
    .outputs = "output: Tidx",
    .attrs = "Tidx: type = int32",
    .types = "Tidx: int32 int64",
    .shape = UnravelShape,
    .reference = UnravelIndex,
});

}  // namespace
}  // namespace tenon
