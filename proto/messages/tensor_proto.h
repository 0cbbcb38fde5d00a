// Converts between TensorProto and TensorShapeProto and tensors and shapes. Checks all values from
// a file (sizes, counts, negative dimensions) and allocates no more than the file can back.
#ifndef TENON_PROTO_MESSAGES_TENSOR_PROTO_H_
#define TENON_PROTO_MESSAGES_TENSOR_PROTO_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace tenon {

namespace tf {
class TensorProto;
class TensorShapeProto;
}  // namespace tf

// Reads the tensors of one model. It moves large contents out of their messages, and remembers what
// it read: the same message gives the same tensor again.
class TensorReader {
 public:
  absl::StatusOr<Tensor> Read(tf::TensorProto& proto);

 private:
  absl::StatusOr<Tensor> Convert(tf::TensorProto& proto);
  // A tensor larger than the bytes in its message (all its elements may repeat one value).
  absl::StatusOr<Tensor> AllocateExpanded(DType dtype, const Shape& shape, int64_t given);

  // The remaining limit, for the whole model, on bytes that such compression may expand to.
  int64_t expansion_left_ = int64_t{1} << 31;
  HashMap<const tf::TensorProto*, Tensor> read_;
};

// The dtype of a number in a message; reference types (number + 100) give their base type.
// InvalidArgument for types that Tenon does not have.
absl::StatusOr<DType> DTypeFromProto(int number);

// Dimensions below -1 are InvalidArgument.
absl::StatusOr<Shape> ShapeFromProto(const tf::TensorShapeProto& proto);

void ShapeToProto(const Shape& shape, tf::TensorShapeProto& proto);
// Unimplemented for dtypes without elements (resource, variant).
absl::Status TensorToProto(const Tensor& tensor, tf::TensorProto& proto);

}  // namespace tenon

#endif  // TENON_PROTO_MESSAGES_TENSOR_PROTO_H_
