// The fields of a message, from its description as a FileDescriptorSet.
#ifndef TENON_KERNELS_EXAMPLE_PROTO_DESCRIPTOR_H_
#define TENON_KERNELS_EXAMPLE_PROTO_DESCRIPTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/dtype.h"
#include "kernels/example_proto/wire.h"

namespace tenon {

struct MessageField {
  // The numbers of FieldDescriptorProto.Type.
  enum class Type : uint8_t {
    kDouble = 1,
    kFloat,
    kInt64,
    kUint64,
    kInt32,
    kFixed64,
    kFixed32,
    kBool,
    kString,
    kGroup,
    kMessage,
    kBytes,
    kUint32,
    kEnum,
    kSfixed32,
    kSfixed64,
    kSint32,
    kSint64,
  };

  std::string name;
  uint32_t number = 0;
  Type type = Type::kInt32;
  bool repeated = false;
  bool packed = false;         // by an option of its own
  uint64_t default_value = 0;  // as on the wire, before zigzag; of floats, the bits
  std::string default_text;    // of strings
};

// How a field's values are on the wire.
WireType WireTypeOf(MessageField::Type type);

// Whether a tensor of that dtype may hold the field's values.
bool MayHold(DType dtype, MessageField::Type type);

// The named fields of a message. `source` is "bytes://" with a FileDescriptorSet behind it, or
// "local://", which knows tensorflow.Example and what it consists of. With `extensions`, a name may
// be an extension's full name. InvalidArgument for unknown names and for sources that describe no
// messages, and for files, which models must not read.
absl::StatusOr<std::vector<MessageField>> FieldsOfMessage(absl::string_view source,
                                                          absl::string_view message,
                                                          const std::vector<std::string>& names,
                                                          bool extensions);

}  // namespace tenon

#endif  // TENON_KERNELS_EXAMPLE_PROTO_DESCRIPTOR_H_
