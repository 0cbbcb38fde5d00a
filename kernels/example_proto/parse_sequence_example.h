// Parses features of serialized tf.train.SequenceExample messages into tensors. Context features
// belong to an example, as in tf.train.Example; features in feature lists belong to each of its
// steps. Dense lists are padded with zeros to the longest example, and come with their lengths.
#ifndef TENON_KERNELS_EXAMPLE_PROTO_PARSE_SEQUENCE_EXAMPLE_H_
#define TENON_KERNELS_EXAMPLE_PROTO_PARSE_SEQUENCE_EXAMPLE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/example_proto/feature_column.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The features of one group: dtypes by kind, and shapes of dense ones.
struct FeatureGroup {
  std::vector<DType> sparse, dense, ragged, splits;
  std::vector<Shape> shapes;

  int count(int kind) const {
    return static_cast<int>(kind == 0 ? sparse.size() : kind == 1 ? dense.size() : ragged.size());
  }
};

// The requested features, and the positions of inputs and outputs.
struct SequenceSignature {
  KeyForm key_form;
  FeatureGroup context, lists;

  // If each key is an input, there is one example, a scalar.
  bool single() const { return key_form == KeyForm::kScalars; }
  bool vectors() const { return key_form == KeyForm::kVectors; }
  const FeatureGroup& group(bool list) const { return list ? lists : context; }

  // Not if keys are attributes.
  int keys(bool list, int kind) const {
    if (vectors()) return 2 + 3 * list + kind;
    int at = 2;
    for (int g = 0; g <= list; ++g) {
      for (int k = 0; k < (g < list ? 2 : kind); ++k) at += group(g > 0).count(k);
    }
    return at;
  }
  int missing() const { return vectors() ? 8 : 1; }  // nor this
  int defaults() const { return vectors() ? 9 : single() ? keys(true, 2) : 2; }

  // Outputs of the context: indices, values and shapes of sparse features, dense features, values
  // and splits of ragged ones. Then those of lists, with lengths after dense ones and splits of
  // both levels.
  int sparse_output(bool list, int part, int i) const {
    const FeatureGroup& c = context;
    const int before = list ? 3 * c.count(0) + c.count(1) + 2 * c.count(2) : 0;
    return before + part * group(list).count(0) + i;
  }
  int dense_output(bool list, int i) const { return sparse_output(list, 3, i); }
  int lengths_output(int i) const { return dense_output(true, lists.count(1) + i); }
  int ragged_output(bool list, int part, int i) const {
    const int behind = (list && !single() ? 2 : 1) * group(list).count(1);
    return dense_output(list, behind) + part * group(list).count(2) + i;
  }
};

// Reads the attributes. InvalidArgument if counts, types and shapes differ, or features are not
// float, int64 or string.
absl::StatusOr<SequenceSignature> ReadSequenceSignature(const AttrReader& attrs, KeyForm keys);

// Input 0: messages, a vector or one. InvalidArgument if a message does not parse, a feature has
// another dtype or does not match its shape, or one without a default is missing.
absl::StatusOr<std::unique_ptr<Kernel>> ParseSequenceExampleKernel(PrepareContext& p, KeyForm keys);
template <KeyForm keys>
absl::StatusOr<std::unique_ptr<Kernel>> ParseSequenceExampleKernel(PrepareContext& p) {
  return ParseSequenceExampleKernel(p, keys);
}

}  // namespace tenon

#endif  // TENON_KERNELS_EXAMPLE_PROTO_PARSE_SEQUENCE_EXAMPLE_H_
