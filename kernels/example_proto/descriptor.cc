#include "kernels/example_proto/descriptor.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "env/containers.h"
#include "env/status.h"
#include "kernels/example_proto/wire.h"

namespace tenon {
namespace {

using Type = MessageField::Type;

absl::Status NotDescriptors() {
  return InvalidArgument("descriptor_source has no FileDescriptorSet");
}

// A FieldDescriptorProto, whose type is still a name if it is an enum.
struct FieldDescription {
  MessageField field;
  std::string type_name, extendee, default_text;
  bool has_default = false;
};

struct EnumValue {
  std::string name;
  int32_t number = 0;
};

// All messages, enums and extensions of a set, by full name.
class Descriptions {
 public:
  absl::Status ReadSet(absl::string_view bytes) {
    WireReader reader(bytes);
    WireField f;
    while (reader.Next(f)) {
      if (f.number == 1 && f.is_bytes()) TENON_RETURN_IF_ERROR(ReadFile(f.bytes));
    }
    return reader.ok() ? absl::OkStatus() : NotDescriptors();
  }

  absl::StatusOr<MessageField> Find(absl::string_view message, const std::string& name,
                                    bool extensions) const {
    const auto described = messages_.find(message);
    if (described == messages_.end()) {
      return InvalidArgument("no message type ", message, " is described");
    }
    for (const FieldDescription& d : described->second) {
      if (d.field.name == name) return Complete(d, message);
    }
    if (const auto e = extensions_.find(name); extensions && e != extensions_.end()) {
      if (absl::StripPrefix(e->second.extendee, ".") == message)
        return Complete(e->second, message);
    }
    return InvalidArgument("message type ", message, " has no field ", name);
  }

  // The messages that examples consist of.
  void AddExamples() {
    struct Row {
      const char* message;
      const char* field;
      uint32_t number;
      Type type;
      bool repeated;
    };
    static constexpr Row kRows[] = {
        {"Example", "features", 1, Type::kMessage, false},
        {"SequenceExample", "context", 1, Type::kMessage, false},
        {"SequenceExample", "feature_lists", 2, Type::kMessage, false},
        {"BytesList", "value", 1, Type::kBytes, true},
        {"FloatList", "value", 1, Type::kFloat, true},
        {"Int64List", "value", 1, Type::kInt64, true},
        {"Feature", "bytes_list", 1, Type::kMessage, false},
        {"Feature", "float_list", 2, Type::kMessage, false},
        {"Feature", "int64_list", 3, Type::kMessage, false},
        {"Features", "feature", 1, Type::kMessage, true},
        {"Features.FeatureEntry", "key", 1, Type::kString, false},
        {"Features.FeatureEntry", "value", 2, Type::kMessage, false},
        {"FeatureList", "feature", 1, Type::kMessage, true},
        {"FeatureLists", "feature_list", 1, Type::kMessage, true},
        {"FeatureLists.FeatureListEntry", "key", 1, Type::kString, false},
        {"FeatureLists.FeatureListEntry", "value", 2, Type::kMessage, false},
    };
    for (const Row& row : kRows) {
      FieldDescription d;
      d.field.name = row.field;
      d.field.number = row.number;
      d.field.type = row.type;
      d.field.repeated = row.repeated;
      d.field.packed = row.repeated && WireTypeOf(row.type) != WireType::kBytes;
      messages_[absl::StrCat("tensorflow.", row.message)].push_back(std::move(d));
    }
  }

 private:
  // Parts of messages and files: their numbers differ.
  struct PartNumbers {
    uint32_t message, enumeration, extension;
  };

  absl::Status ReadFile(absl::string_view bytes) {
    std::string name, package;
    WireReader names(bytes);
    WireField f;
    while (names.Next(f)) {
      if (!f.is_bytes()) continue;
      if (f.number == 1) name = std::string(f.bytes);
      if (f.number == 2) package = std::string(f.bytes);
      if (f.number == 3 && !files_.contains(std::string(f.bytes))) {
        return InvalidArgument("descriptor_source lacks the file ", f.bytes,
                               ", which must come before those that import it");
      }
    }
    if (!names.ok()) return NotDescriptors();
    files_.insert(name);
    return ReadParts(bytes, package, {4, 5, 7}, 0);
  }

  absl::Status ReadParts(absl::string_view bytes, const std::string& scope, PartNumbers numbers,
                         int depth) {
    constexpr int kMostNested = 100;
    if (depth > kMostNested) return NotDescriptors();
    WireReader reader(bytes);
    WireField f;
    while (reader.Next(f)) {
      if (!f.is_bytes()) continue;
      if (f.number == numbers.message) {
        TENON_RETURN_IF_ERROR(ReadMessage(f.bytes, scope, depth));
      } else if (f.number == numbers.enumeration) {
        TENON_RETURN_IF_ERROR(ReadEnum(f.bytes, scope));
      } else if (f.number == numbers.extension) {
        TENON_ASSIGN_OR_RETURN(FieldDescription d, ReadField(f.bytes));
        const std::string name = Joined(scope, d.field.name);
        d.field.name = name;
        extensions_[name] = std::move(d);
      }
    }
    return reader.ok() ? absl::OkStatus() : NotDescriptors();
  }

  absl::Status ReadMessage(absl::string_view bytes, const std::string& scope, int depth) {
    std::string name;
    std::vector<FieldDescription> fields;
    WireReader reader(bytes);
    WireField f;
    while (reader.Next(f)) {
      if (f.number == 1 && f.is_bytes()) name = Joined(scope, f.bytes);
      if (f.number != 2 || !f.is_bytes()) continue;
      TENON_ASSIGN_OR_RETURN(FieldDescription d, ReadField(f.bytes));
      fields.push_back(std::move(d));
    }
    if (!reader.ok()) return NotDescriptors();
    messages_[name] = std::move(fields);
    return ReadParts(bytes, name, {3, 4, 6}, depth + 1);
  }

  absl::Status ReadEnum(absl::string_view bytes, const std::string& scope) {
    std::string name;
    std::vector<EnumValue> values;
    WireReader reader(bytes);
    WireField f;
    while (reader.Next(f)) {
      if (f.number == 1 && f.is_bytes()) name = Joined(scope, f.bytes);
      if (f.number != 2 || !f.is_bytes()) continue;
      EnumValue value;
      WireReader parts(f.bytes);
      WireField part;
      while (parts.Next(part)) {
        if (part.number == 1) value.name = std::string(part.bytes);
        if (part.number == 2) value.number = static_cast<int32_t>(part.value);
      }
      if (!parts.ok()) return NotDescriptors();
      values.push_back(std::move(value));
    }
    if (!reader.ok()) return NotDescriptors();
    enums_[name] = std::move(values);
    return absl::OkStatus();
  }

  static absl::StatusOr<FieldDescription> ReadField(absl::string_view bytes) {
    FieldDescription d;
    uint64_t type = 0;
    WireReader reader(bytes);
    WireField f;
    while (reader.Next(f)) {
      switch (f.number) {
        case 1:
          d.field.name = std::string(f.bytes);
          break;
        case 2:
          d.extendee = std::string(f.bytes);
          break;
        case 3:
          d.field.number = static_cast<uint32_t>(f.value);
          break;
        case 4:
          d.field.repeated = f.value == 3;
          break;
        case 5:
          type = f.value;
          break;
        case 6:
          d.type_name = std::string(f.bytes);
          break;
        case 7:
          d.default_text = std::string(f.bytes);
          d.has_default = true;
          break;
        case 8: {  // options
          WireReader options(f.bytes);
          WireField option;
          while (options.Next(option)) {
            if (option.number == 2) d.field.packed = option.value != 0;
          }
          break;
        }
        default:
          break;
      }
    }
    constexpr uint32_t kMaxNumber = (1u << 29) - 1;
    if (!reader.ok() || type < 1 || type > static_cast<uint64_t>(Type::kSint64) ||
        d.field.number < 1 || d.field.number > kMaxNumber) {
      return NotDescriptors();
    }
    d.field.type = static_cast<Type>(type);
    return d;
  }

  static std::string Joined(const std::string& scope, absl::string_view name) {
    return scope.empty() ? std::string(name) : absl::StrCat(scope, ".", name);
  }

  // An enum, by a full name or one that is relative to a scope or to those around it.
  const std::vector<EnumValue>* FindEnum(absl::string_view name, absl::string_view scope) const {
    if (absl::ConsumePrefix(&name, ".")) scope = "";
    while (true) {
      const auto found = enums_.find(Joined(std::string(scope), name));
      if (found != enums_.end()) return &found->second;
      if (scope.empty()) return nullptr;
      const size_t dot = scope.rfind('.');
      scope = dot == absl::string_view::npos ? "" : scope.substr(0, dot);
    }
  }

  // The field with its default value.
  absl::StatusOr<MessageField> Complete(const FieldDescription& d, absl::string_view scope) const {
    MessageField field = d.field;
    const std::string& text = d.default_text;
    bool ok = true;
    if (field.type == Type::kEnum) {
      const std::vector<EnumValue>* const values = FindEnum(d.type_name, scope);
      if (values == nullptr || values->empty()) {
        return InvalidArgument("descriptor_source lacks the enum ", d.type_name);
      }
      auto value = values->begin();
      if (d.has_default) {
        value =
            std::find_if(value, values->end(), [&](const EnumValue& v) { return v.name == text; });
      }
      if (value == values->end()) return NotDescriptors();
      field.default_value = static_cast<uint64_t>(int64_t{value->number});
    } else if (!d.has_default || field.repeated) {
      return field;
    } else if (field.type == Type::kString) {
      field.default_text = text;
    } else if (field.type == Type::kBytes) {
      ok = absl::CUnescape(text, &field.default_text);
    } else if (field.type == Type::kBool) {
      field.default_value = text == "true";
      ok = text == "true" || text == "false";
    } else if (field.type == Type::kDouble || field.type == Type::kFloat) {
      double value = 0;
      ok = absl::SimpleAtod(text, &value);
      field.default_value = field.type == Type::kDouble
                                ? std::bit_cast<uint64_t>(value)
                                : std::bit_cast<uint32_t>(static_cast<float>(value));
    } else {
      int64_t value = 0;
      ok = absl::SimpleAtoi(text, &value);
      field.default_value = static_cast<uint64_t>(value);
      if (!ok) ok = absl::SimpleAtoi(text, &field.default_value);
    }
    if (!ok) return InvalidArgument("'", text, "' is no default value of ", field.name);
    return field;
  }

  HashSet<std::string> files_;
  HashMap<std::string, std::vector<FieldDescription>> messages_;
  HashMap<std::string, std::vector<EnumValue>> enums_;
  HashMap<std::string, FieldDescription> extensions_;
};

}  // namespace

WireType WireTypeOf(Type type) {
  switch (type) {
    case Type::kDouble:
    case Type::kFixed64:
    case Type::kSfixed64:
      return WireType::kFixed64;
    case Type::kFloat:
    case Type::kFixed32:
    case Type::kSfixed32:
      return WireType::kFixed32;
    case Type::kString:
    case Type::kMessage:
    case Type::kBytes:
      return WireType::kBytes;
    case Type::kGroup:
      return WireType::kGroup;
    default:
      return WireType::kVarint;
  }
}

bool MayHold(DType dtype, Type type) {
  switch (type) {
    case Type::kDouble:
      return dtype == DType::kDouble;
    case Type::kFloat:
      return dtype == DType::kFloat || dtype == DType::kDouble;
    case Type::kInt64:
    case Type::kSfixed64:
    case Type::kSint64:
      return dtype == DType::kInt64;
    case Type::kUint64:
    case Type::kFixed64:
      return dtype == DType::kUint64;
    case Type::kInt32:
    case Type::kSfixed32:
    case Type::kSint32:
      return dtype == DType::kInt32 || dtype == DType::kInt64;
    case Type::kUint32:
    case Type::kFixed32:
      return dtype == DType::kUint32 || dtype == DType::kUint64;
    case Type::kEnum:
      return dtype == DType::kInt32;
    case Type::kBool:
      return dtype == DType::kBool;
    default:
      return dtype == DType::kString;
  }
}

absl::StatusOr<std::vector<MessageField>> FieldsOfMessage(absl::string_view source,
                                                          absl::string_view message,
                                                          const std::vector<std::string>& names,
                                                          bool extensions) {
  Descriptions descriptions;
  if (source == "local://") {
    descriptions.AddExamples();
  } else if (absl::ConsumePrefix(&source, "bytes://")) {
    TENON_RETURN_IF_ERROR(descriptions.ReadSet(source));
  } else {
    return InvalidArgument(
        "descriptor_source must be bytes:// and a FileDescriptorSet: models must "
        "not read files");
  }
  std::vector<MessageField> fields;
  for (const std::string& name : names) {
    TENON_ASSIGN_OR_RETURN(MessageField field, descriptions.Find(message, name, extensions));
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace tenon
