// Converts between AttrValue messages and a node's attributes.
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

// `values` has the values of a polymorphic function's placeholders ("$T"); may be null.
absl::StatusOr<AttrValue> AttrFromProto(tf::AttrValue& proto, TensorReader& tensors,
                                        const AttrMap* values);

// All of a node's attributes except TensorFlow's internal ones ("_output_shapes", "_class" ...).
// Errors name the attribute.
absl::StatusOr<AttrMap> AttrsFromProto(google::protobuf::RepeatedPtrField<tf::AttrEntry>& entries,
                                       TensorReader& tensors, const AttrMap* values);

absl::Status AttrToProto(const AttrValue& value, tf::AttrValue& proto);

// Sets the element type of empty lists, which a message does not state but the op's row does.
void TypeEmptyLists(const OpInfo& op, Node& node);

}  // namespace tenon

#endif  // TENON_PROTO_MESSAGES_ATTR_PROTO_H_
