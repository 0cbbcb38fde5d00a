#include "kernels/layout/addressing.h"

#include "kernels/interface/axis.h"

namespace tenon {

absl::StatusOr<Addressing> MakeAddressing(const AttrReader& attrs, const Shape& whole,
                                          const Shape& indices) {
  const std::string policy = attrs.String("bad_indices_policy", "");
  if (policy != "" && policy != "DEFAULT" && policy != "ERROR" && policy != "IGNORE") {
    return InvalidArgument("bad_indices_policy '", policy, "'");
  }
  Addressing a;
  a.whole = whole;
  a.ignore_bad = policy == "IGNORE";
  if (indices.rank() < 1) return InvalidArgument("indices must be at least a vector");
  a.depth = indices.dim(indices.rank() - 1);
  if (a.depth > whole.rank()) {
    return InvalidArgument("index vectors of ", a.depth, " for shape ", whole.ToString());
  }
  a.count = Product(indices, 0, indices.rank() - 1);
  a.slice = Product(whole, static_cast<int>(a.depth), whole.rank());
  return a;
}

absl::Status BadIndex(int64_t i, const Shape& whole) {
  return InvalidArgument("index vector ", i, " does not index into shape ", whole.ToString());
}

absl::Status CheckUpdates(const Shape& whole, const Shape& indices, const Shape& updates) {
  if (indices.has_rank() && indices.rank() < 1) {
    return InvalidArgument("indices must be at least a vector");
  }
  if (indices.has_rank() && indices.dim(indices.rank() - 1) >= 0) {
    const int64_t depth = indices.dim(indices.rank() - 1);
    if (depth > whole.rank()) {
      return InvalidArgument("index vectors of ", depth, " for shape ", whole.ToString());
    }
    Shape expected;
    for (int i = 0; i < indices.rank() - 1; ++i) expected.push_back(indices.dim(i));
    for (int i = static_cast<int>(depth); i < whole.rank(); ++i) expected.push_back(whole.dim(i));
    if (!updates.CompatibleWith(expected)) {
      return InvalidArgument("updates must have shape ", expected.ToString(), ", but have ",
                             updates.ToString());
    }
    if (indices.IsComplete() && indices.num_elements() == 0 && updates.IsComplete() &&
        updates.num_elements() > 0) {
      return InvalidArgument("updates without indices");
    }
    if (whole.IsComplete() && whole.num_elements() == 0 && updates.IsComplete() &&
        updates.num_elements() > 0) {
      return InvalidArgument("updates of an empty tensor");
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon
