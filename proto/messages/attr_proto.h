// AttrValue messages to and from a node's attributes.
#ifndef TENON_PROTO_MESSAGES_ATTR_PROTO_H_
#define TENON_PROTO_MESSAGES_ATTR_PROTO_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/attr.h"
#include "ops/op.h"
#include "proto/messages/tensor_proto.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}

namespace tenon {

namespace tf {
class AttrEntry;
class AttrValue;
}  // namespace tf

// `values` gives what stands for the placeholders of a polymorphic function ("$T"); may be null.
absl::StatusOr<AttrValue> AttrFromProto(tf::AttrValue& proto, TensorReader& tensors,
                                        const AttrMap* values);

// All of a node's attributes but those that TensorFlow keeps for itself ("_output_shapes",
// "_class" ...). Errors name the attribute.
absl::StatusOr<AttrMap> AttrsFromProto(google::protobuf::RepeatedPtrField<tf::AttrEntry>& entries,
                                       TensorReader& tensors, const AttrMap* values);

absl::Status AttrToProto(const AttrValue& value, tf::AttrValue& proto);

// A message does not say what an empty list holds; the op's row does.
void TypeEmptyLists(const OpInfo& op, Node& node);

}  // namespace tenon

#endif  // TENON_PROTO_MESSAGES_ATTR_PROTO_H_
