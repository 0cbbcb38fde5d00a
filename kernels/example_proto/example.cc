#include "kernels/example_proto/example.h"

#include <cstring>

#include "env/status.h"
#include "kernels/example_proto/wire.h"

namespace tenon {
namespace {

absl::Status Malformed() { return InvalidArgument("could not parse the example"); }

// Calls each(field) for every field of a message that is a string or a message.
template <typename F>
absl::Status ForEachField(absl::string_view message, F&& each) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(field)) {
    if (field.is_bytes()) TENON_RETURN_IF_ERROR(each(field));
  }
  return reader.ok() ? absl::OkStatus() : Malformed();
}

absl::Status ParseFeature(absl::string_view message, Feature& feature) {
  constexpr DType kKinds[] = {DType::kString, DType::kFloat, DType::kInt64};
  return ForEachField(message, [&](const WireField& f) {
    if (f.number >= 1 && f.number <= 3) feature = {kKinds[f.number - 1], f.bytes};
    return absl::OkStatus();
  });
}

// Calls each(key, value) for every entry of the map in the message's field 1.
template <typename F>
absl::Status ForEachEntry(absl::string_view message, F&& each) {
  return ForEachField(message, [&](const WireField& entry) -> absl::Status {
    if (entry.number != 1) return absl::OkStatus();
    absl::string_view key, value;
    TENON_RETURN_IF_ERROR(ForEachField(entry.bytes, [&](const WireField& f) {
      if (f.number == 1) key = f.bytes;
      if (f.number == 2) value = f.bytes;
      return absl::OkStatus();
    }));
    return each(key, value);
  });
}

absl::Status ParseFeatures(absl::string_view message, FeatureMap& features) {
  return ForEachEntry(message, [&](absl::string_view key, absl::string_view value) {
    Feature feature;
    TENON_RETURN_IF_ERROR(ParseFeature(value, feature));
    features[key] = feature;
    return absl::OkStatus();
  });
}

// Calls each(number) for numbers packed into field 1, or in fields of their own.
template <typename F>
absl::Status ForEachNumber(absl::string_view list, WireType type, F&& each) {
  WireReader reader(list);
  WireField field;
  while (reader.Next(field)) {
    if (field.number != 1) continue;
    if (field.type == type) {
      each(field.value);
    } else if (field.is_bytes()) {
      WireReader packed(field.bytes);
      uint64_t value = 0;
      while (!packed.done() && packed.Number(type, value)) {
        each(value);
      }
      if (!packed.ok()) return Malformed();
    } else {
      return Malformed();
    }
  }
  return reader.ok() ? absl::OkStatus() : Malformed();
}

}  // namespace

absl::Status ParseExample(absl::string_view bytes, FeatureMap& features) {
  return ForEachField(bytes, [&](const WireField& f) {
    return f.number == 1 ? ParseFeatures(f.bytes, features) : absl::OkStatus();
  });
}

absl::Status ParseSequenceExample(absl::string_view bytes, SequenceExample& example) {
  return ForEachField(bytes, [&](const WireField& f) {
    if (f.number == 1) return ParseFeatures(f.bytes, example.context);
    if (f.number != 2) return absl::OkStatus();
    return ForEachEntry(f.bytes, [&](absl::string_view key, absl::string_view value) {
      std::vector<Feature>& list = example.lists[key];
      list.clear();
      return ForEachField(value, [&](const WireField& item) {
        if (item.number != 1) return absl::OkStatus();
        return ParseFeature(item.bytes, list.emplace_back());
      });
    });
  });
}

absl::Status AppendValues(const Feature& feature, std::vector<float>& out) {
  return ForEachNumber(feature.list, WireType::kFixed32, [&out](uint64_t v) {
    const uint32_t bits = static_cast<uint32_t>(v);
    std::memcpy(&out.emplace_back(), &bits, sizeof bits);
  });
}

absl::Status AppendValues(const Feature& feature, std::vector<int64_t>& out) {
  return ForEachNumber(feature.list, WireType::kVarint,
                       [&out](uint64_t v) { out.push_back(static_cast<int64_t>(v)); });
}

absl::Status AppendValues(const Feature& feature, std::vector<std::string>& out) {
  return ForEachField(feature.list, [&out](const WireField& f) {
    if (f.number == 1) out.emplace_back(f.bytes);
    return absl::OkStatus();
  });
}

}  // namespace tenon
