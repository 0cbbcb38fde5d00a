#include "graph/attr_reader.h"

#include "env/status.h"

namespace tenon {
namespace {

template <typename T>
absl::StatusOr<T> Get(const Node& node, absl::string_view name) {
  const T* value = node.attr<T>(name);
  if (value == nullptr)
    return InvalidArgument("attribute '", name, "' is missing or of the wrong type");
  return *value;
}

template <typename T>
absl::StatusOr<std::vector<T>> GetList(const Node& node, absl::string_view name) {
  if (const auto* list = node.attr<std::vector<T>>(name)) return *list;
  const auto* empty = node.attr<std::vector<int64_t>>(name);
  if (empty != nullptr && empty->empty()) return std::vector<T>();
  return InvalidArgument("attribute '", name, "' is missing or of the wrong type");
}

}  // namespace

absl::StatusOr<int64_t> AttrReader::Int(absl::string_view name) const {
  return Get<int64_t>(node_, name);
}
absl::StatusOr<float> AttrReader::Float(absl::string_view name) const {
  return Get<float>(node_, name);
}
absl::StatusOr<bool> AttrReader::Bool(absl::string_view name) const {
  return Get<bool>(node_, name);
}
absl::StatusOr<std::string> AttrReader::String(absl::string_view name) const {
  return Get<std::string>(node_, name);
}
absl::StatusOr<DType> AttrReader::Type(absl::string_view name) const {
  return Get<DType>(node_, name);
}
absl::StatusOr<Shape> AttrReader::ShapeOf(absl::string_view name) const {
  return Get<Shape>(node_, name);
}
absl::StatusOr<std::vector<int64_t>> AttrReader::Ints(absl::string_view name) const {
  return GetList<int64_t>(node_, name);
}
absl::StatusOr<std::vector<float>> AttrReader::Floats(absl::string_view name) const {
  return GetList<float>(node_, name);
}
absl::StatusOr<std::vector<std::string>> AttrReader::Strings(absl::string_view name) const {
  return GetList<std::string>(node_, name);
}

int64_t AttrReader::Int(absl::string_view name, int64_t fallback) const {
  const int64_t* v = node_.attr<int64_t>(name);
  return v == nullptr ? fallback : *v;
}
float AttrReader::Float(absl::string_view name, float fallback) const {
  const float* v = node_.attr<float>(name);
  return v == nullptr ? fallback : *v;
}
bool AttrReader::Bool(absl::string_view name, bool fallback) const {
  const bool* v = node_.attr<bool>(name);
  return v == nullptr ? fallback : *v;
}
std::string AttrReader::String(absl::string_view name, absl::string_view fallback) const {
  const std::string* v = node_.attr<std::string>(name);
  return v == nullptr ? std::string(fallback) : *v;
}

}  // namespace tenon
