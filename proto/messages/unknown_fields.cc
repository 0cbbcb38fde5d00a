// Unknown fields without a leak. protobuf 3 allocates the text of an unknown field before it makes
// room for the field: if there is no memory for the room, nobody owns the text. The generated
// messages therefore call this function instead (CMakeLists.txt).
#include <google/protobuf/parse_context.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstdint>

namespace google::protobuf::internal {

const char* UnknownFieldParseWithRoom(uint64_t tag, UnknownFieldSet* fields, const char* ptr,
                                      ParseContext* ctx) {
  fields->AddVarint(1, 0);
  fields->DeleteSubrange(fields->field_count() - 1, 1);  // its room stays
  return UnknownFieldParse(tag, fields, ptr, ctx);
}

}  // namespace google::protobuf::internal
