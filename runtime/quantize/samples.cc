#include "runtime/quantize/samples.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_join.h"
#include "env/status.h"

namespace tenon {
namespace {

constexpr int64_t kDefaultBatch = 8;

std::string Names(const std::vector<NamedTensor>& arrays) {
  return absl::StrJoin(arrays, ", ", [](std::string* out, const NamedTensor& t) {
    absl::StrAppend(out, "'", t.first, "'");
  });
}

}  // namespace

absl::StatusOr<Samples> Samples::Create(std::vector<NamedTensor> arrays,
                                        const std::vector<TensorInfo>& inputs, int64_t batch) {
  Samples samples;
  int64_t fixed = -1;
  for (const TensorInfo& input : inputs) {
    const auto it = std::find_if(arrays.begin(), arrays.end(),
                                 [&](const NamedTensor& t) { return t.first == input.name; });
    if (it == arrays.end()) {
      if (input.optional) continue;
      return InvalidArgument("input '", input.name, "' is missing; the data have ",
                             arrays.empty() ? "nothing" : Names(arrays));
    }
    const Shape& shape = it->second.shape();
    if (it->second.dtype() == DType::kString) {
      return Unimplemented("input '", input.name, "' holds strings");
    }
    if (input.shape.has_rank() && input.shape.rank() == 0) {
      if (shape.rank() != 0) {
        return InvalidArgument("input '", input.name, "' is a scalar, but the data have ",
                               shape.ToString());
      }
      samples.scalars_.push_back(*it);
      continue;
    }
    if (shape.rank() < 1) {
      return InvalidArgument("'", input.name, "' is a scalar: its first axis must be the samples");
    }
    const int64_t n = shape.dim(0);
    if (n == 0) return InvalidArgument("'", input.name, "' has no samples");
    if (!samples.arrays_.empty() && n != samples.total_) {
      return InvalidArgument("'", input.name, "' has ", n, " samples, '", samples.arrays_[0].first,
                             "' ", samples.total_);
    }
    samples.total_ = n;
    if (input.shape.has_rank() && input.shape.rank() > 0 && input.shape.dim(0) >= 0) {
      fixed = input.shape.dim(0);
    }
    samples.arrays_.push_back(*it);
  }
  if (samples.arrays_.empty()) return InvalidArgument("the model has no inputs to calibrate with");
  if (fixed >= 0 && batch > 0 && batch != fixed) {
    return InvalidArgument("the model takes batches of ", fixed, ", not ", batch);
  }
  if (fixed == 0 || fixed > samples.total_) {
    return InvalidArgument("the model takes batches of ", fixed, ", the data have ", samples.total_,
                           " samples");
  }
  samples.batch_ = fixed > 0 ? fixed : std::min(batch > 0 ? batch : kDefaultBatch, samples.total_);
  samples.used_ = fixed > 0 ? samples.total_ / fixed * fixed : samples.total_;
  return samples;
}

std::vector<NamedTensor> Samples::Batch(int64_t i) const {
  const int64_t first = i * batch_, count = std::min(batch_, used_ - first);
  std::vector<NamedTensor> rows = scalars_;
  for (const auto& [name, tensor] : arrays_) {
    Shape shape = tensor.shape();
    const size_t bytes = tensor.bytes() / static_cast<size_t>(shape.dim(0));
    shape.set_dim(0, count);
    auto owner = std::make_shared<Tensor>(tensor);
    char* data = static_cast<char*>(owner->raw()) + static_cast<size_t>(first) * bytes;
    rows.emplace_back(name, Tensor::FromExternal(tensor.dtype(), shape, data, owner));
  }
  return rows;
}

}  // namespace tenon
