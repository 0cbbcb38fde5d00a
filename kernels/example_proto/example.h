// Parses tf.train.Example and tf.train.SequenceExample messages into views of their bytes.
#ifndef TENON_KERNELS_EXAMPLE_PROTO_EXAMPLE_H_
#define TENON_KERNELS_EXAMPLE_PROTO_EXAMPLE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/dtype.h"

namespace tenon {

// A list of strings, floats or int64s.
struct Feature {
  DType dtype = DType::kInvalid;  // kInvalid: the feature has no values
  absl::string_view list;
};
using FeatureMap = HashMap<absl::string_view, Feature>;

// If a name is repeated, the last feature counts.
absl::Status ParseExample(absl::string_view bytes, FeatureMap& features);

struct SequenceExample {
  FeatureMap context;
  HashMap<absl::string_view, std::vector<Feature>> lists;
};
absl::Status ParseSequenceExample(absl::string_view bytes, SequenceExample& example);

// Appends the feature's values; its dtype must be the vector's.
absl::Status AppendValues(const Feature& feature, std::vector<float>& out);
absl::Status AppendValues(const Feature& feature, std::vector<int64_t>& out);
absl::Status AppendValues(const Feature& feature, std::vector<std::string>& out);

}  // namespace tenon

#endif  // TENON_KERNELS_EXAMPLE_PROTO_EXAMPLE_H_
