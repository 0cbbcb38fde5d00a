#include "kernels/interface/post_op.h"

#include <string>

#include "absl/container/flat_hash_map.h"

namespace tenon {
namespace {

using PostOps = absl::flat_hash_map<std::string, PostOp>;

// Filled during static initialization (on one thread), read-only after that.
PostOps& RowPostOps() {
  static PostOps* const post_ops = new PostOps;
  return *post_ops;
}

// TensorFlow's own spellings, which are not in the op table.
PostOp SpelledByTensorFlow(absl::string_view name) {
  if (name == "BiasAdd") return PostOp::kBiasAdd;
  if (name == "Add") return PostOp::kAdd;
  if (name == "Mul") return PostOp::kMul;
  if (name == "GeluExact") return PostOp::kGeluErf;
  if (name == "GeluApproximate") return PostOp::kGeluTanh;
  if (name == "_MklSwish") return PostOp::kSwish;
  if (name == "_FusedHardSwish") return PostOp::kHardSwish;
  if (name == "_MklFusedMish") return PostOp::kMish;
  return PostOp::kNone;
}

}  // namespace

PostOp FindPostOp(absl::string_view name) {
  const PostOp known = SpelledByTensorFlow(name);
  if (known != PostOp::kNone) return known;
  const auto found = RowPostOps().find(name);
  return found == RowPostOps().end() ? PostOp::kNone : found->second;
}

void RegisterPostOp(absl::string_view name, PostOp post_op) { RowPostOps()[name] = post_op; }

}  // namespace tenon
