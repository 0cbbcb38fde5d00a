#include "runtime/execution/kernel_cache.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "env/status.h"
#include "runtime/execution/attr_hash.h"

namespace tenon {

struct KernelCache::Query {
  static constexpr bool kByValue = true;

  size_t Hash() const {
    size_t hash = absl::HashOf(node.op, constants, inputs.size(), threads);
    for (const TensorSpec& s : inputs) hash = absl::HashOf(hash, s.dtype, s.shape);
    for (const TensorSpec& s : outputs) hash = absl::HashOf(hash, s.dtype, s.shape);
    return HashAttrs(hash, node.attrs);
  }

  bool Asks(const Key& key) const {
    if (key.op != node.op || key.threads != threads ||
        key.specs.size() != inputs.size() + outputs.size())
      return false;
    const auto is = [](const std::pair<DType, Shape>& a, const TensorSpec& b) {
      return a.first == b.dtype && a.second == b.shape;
    };
    const auto middle = key.specs.begin() + static_cast<std::ptrdiff_t>(inputs.size());
    return std::equal(key.specs.begin(), middle, inputs.begin(), inputs.end(), is) &&
           std::equal(middle, key.specs.end(), outputs.begin(), outputs.end(), is) &&
           std::equal(key.constants.begin(), key.constants.end(), constants.begin(),
                      constants.end()) &&
           key.attrs == node.attrs;
  }

  Fit FitOf(const SharedKernel& shared) const {
    const bool same = std::all_of(shared.values.begin(), shared.values.end(),
                                  [&](const std::pair<int, Tensor>& v) {
                                    const Tensor* now = inputs[static_cast<size_t>(v.first)].value;
                                    return now != nullptr && Identical(*now, v.second);
                                  });
    return same ? Fit::kYes : Fit::kNo;
  }

  Key MakeKey() const {
    Key key;
    key.op = node.op;
    key.attrs = node.attrs;
    key.specs.reserve(inputs.size() + outputs.size());
    for (const TensorSpec& s : inputs) key.specs.emplace_back(s.dtype, s.shape);
    for (const TensorSpec& s : outputs) key.specs.emplace_back(s.dtype, s.shape);
    key.constants.assign(constants.begin(), constants.end());
    key.threads = threads;
    return key;
  }

  const Node& node;
  absl::Span<const TensorSpec> inputs;
  absl::Span<Constant* const> constants;
  absl::Span<const TensorSpec> outputs;
  int threads;
};

absl::StatusOr<std::shared_ptr<const PreparedKernel>> KernelCache::Prepare(
    const Node& node, absl::Span<const TensorSpec> inputs, absl::Span<Constant* const> constants,
    absl::Span<const TensorSpec> outputs, const Services& services) {
  const auto build = [&]() -> absl::StatusOr<std::shared_ptr<const SharedKernel>> {
    auto shared = std::make_shared<SharedKernel>();
    TENON_ASSIGN_OR_RETURN(shared->kernel, PrepareNode(node, inputs, constants, services));
    for (int i : shared->kernel.value_inputs) {
      // A copy: the value may live in memory that the next call writes over.
      TENON_ASSIGN_OR_RETURN(Tensor value, inputs[static_cast<size_t>(i)].value->Clone());
      shared->values.emplace_back(i, std::move(value));
    }
    return shared;
  };
  TENON_ASSIGN_OR_RETURN(
      std::shared_ptr<const SharedKernel> shared,
      cache_.GetOrBuild(Query{node, inputs, constants, outputs, services.threads}, build));
  const PreparedKernel* const kernel = &shared->kernel;
  return std::shared_ptr<const PreparedKernel>(std::move(shared), kernel);
}

}  // namespace tenon
