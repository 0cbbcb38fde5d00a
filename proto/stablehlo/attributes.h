// The attributes and types of a bytecode file, decoded when they are asked for. Private to the
// reader.
#ifndef TENON_PROTO_STABLEHLO_ATTRIBUTES_H_
#define TENON_PROTO_STABLEHLO_ATTRIBUTES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/stablehlo/cursor.h"
#include "proto/stablehlo/module.h"

namespace tenon::stablehlo {

class AttributeTable {
 public:
  // `entries` holds the encoded attributes, then the types; `sizes` says how many there are, of
  // which dialects, and how long each is. Both and `strings` must outlive the table.
  absl::Status Open(absl::string_view entries, absl::string_view sizes,
                    const std::vector<absl::string_view>& dialects,
                    const std::vector<absl::string_view>& strings);

  // InvalidArgument for an index out of range, a damaged entry, and one that contains itself.
  // Attributes and types that no lowering asks about are `kOther`.
  absl::StatusOr<AttributePtr> Attr(uint64_t index) { return Attr(index, 0); }
  absl::StatusOr<TypePtr> TypeAt(uint64_t index) { return TypeAt(index, 0); }

 private:
  enum class State : char { kEncoded, kOpen, kDecoded };
  template <typename T>
  struct Entry {
    absl::string_view bytes;
    absl::string_view dialect;
    State state = State::kEncoded;
    std::shared_ptr<const T> value;
  };

  template <typename T>
  absl::Status OpenEntries(std::vector<Entry<T>>& table, uint64_t count, Cursor& sizes,
                           absl::string_view& entries,
                           const std::vector<absl::string_view>& dialects);
  absl::StatusOr<AttributePtr> Attr(uint64_t index, int depth);
  absl::StatusOr<TypePtr> TypeAt(uint64_t index, int depth);
  absl::Status DecodeVhlo(Cursor in, int depth, Attribute& a);
  absl::Status DecodeBuiltin(Cursor in, int depth, Attribute& a);
  absl::Status DecodeNumber(Cursor in, int depth, bool floating, Attribute& a);
  absl::Status DecodeTensor(Cursor in, int depth, Attribute& a);
  absl::Status DecodeType(Cursor in, int depth, Type& t);
  absl::Status ReadList(Cursor& in, int depth, Attribute& a);
  absl::Status ReadDictionary(Cursor& in, int depth, Attribute& a);
  absl::Status ReadString(Cursor& in, absl::string_view& text) const;
  absl::StatusOr<TypePtr> ReadType(Cursor& in, int depth);
  absl::Status ReadTypes(Cursor& in, int depth, std::vector<TypePtr>& types);

  const std::vector<absl::string_view>* strings_ = nullptr;
  std::vector<Entry<Attribute>> attributes_;
  std::vector<Entry<Type>> types_;
};

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_ATTRIBUTES_H_
