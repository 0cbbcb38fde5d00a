// Features of many examples as columns: shared by the ops that parse tf.train.Example and
// tf.train.SequenceExample.
#ifndef TENON_KERNELS_EXAMPLE_PROTO_FEATURE_COLUMN_H_
#define TENON_KERNELS_EXAMPLE_PROTO_FEATURE_COLUMN_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/example_proto/example.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

// How the keys of the requested features are passed: as attributes, one input per key, or one input
// of keys per kind of feature.
enum class KeyForm { kAttributes, kScalars, kVectors };

using FeatureTypes = TypeList<float, int64_t, std::string>;

// The values of one feature in all examples (or in all their steps), and where each one's end.
struct Column {
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<int64_t> ends;

  template <typename T>
  std::vector<T>& values() {
    if constexpr (std::is_same_v<T, float>) {
      return floats;
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return ints;
    } else {
      return strings;
    }
  }
  int64_t count() const { return ends.empty() ? 0 : ends.back(); }
  int64_t longest() const {
    int64_t most = 0, before = 0;
    for (const int64_t end : ends) most = std::max(most, end - std::exchange(before, end));
    return most;
  }
};

// Whether all of them are dtypes that features can have.
bool AreFeatures(const std::vector<DType>& dtypes);
// The feature with that name, if it has values.
const Feature* FindFeature(const FeatureMap& features, const std::string& key);
// Appends the example's values of the feature; returns how many there were.
absl::StatusOr<int64_t> AppendFeature(const std::string& key, DType dtype, const Feature& feature,
                                      Column& column);
void AppendNothing(Column& column);
// Moves the column's values to an output that is allocated for them.
absl::Status WriteValues(RunContext& run, int output, DType dtype, Column& column);
// 0 and the ends, as int32 or int64.
void WriteSplits(DType dtype, const std::vector<int64_t>& ends, void* out);

// An attribute that is a list; empty where it is absent.
template <typename T>
std::vector<T> ListAttr(const Node& node, absl::string_view name) {
  const auto* list = node.attr<std::vector<T>>(name);
  return list == nullptr ? std::vector<T>() : *list;
}
// The dimensions of `batch` followed by those of `shape`.
Shape Batched(const Shape& batch, const Shape& shape);

}  // namespace tenon

#endif  // TENON_KERNELS_EXAMPLE_PROTO_FEATURE_COLUMN_H_
