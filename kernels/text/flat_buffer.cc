#include "kernels/text/flat_buffer.h"

#include <bit>

namespace tenon {
namespace {

static_assert(std::endian::native == std::endian::little);

absl::Status Damaged() { return InvalidArgument("the model is not a valid FlatBuffer"); }

}  // namespace

absl::StatusOr<FlatTable> FlatTable::Root(absl::Span<const uint8_t> buffer) {
  FlatTable table(buffer, 0);
  if (!table.Fits(0, 4)) return Damaged();
  table.at_ = table.Read<uint32_t>(0);
  if (!table.Fits(table.at_, 4)) return Damaged();
  return table;
}

size_t FlatTable::FieldAt(int id) const {
  // The table begins with the distance back to its list of field offsets.
  const int64_t list = static_cast<int64_t>(at_) - Read<int32_t>(at_);
  if (list < 0 || !Fits(static_cast<size_t>(list), 4)) return 0;
  const size_t fields = static_cast<size_t>(list), entry = 4 + 2 * static_cast<size_t>(id);
  const size_t bytes = Read<uint16_t>(fields);
  if (entry + 2 > bytes || !Fits(fields, entry + 2)) return 0;
  const size_t offset = Read<uint16_t>(fields + entry);
  return offset == 0 ? 0 : at_ + offset;
}

absl::StatusOr<FlatTable::Items> FlatTable::ItemsAt(size_t at, size_t item_bytes) const {
  if (at == 0) return Items{0, 0};
  if (!Fits(at, 4)) return Damaged();
  const size_t size = at + Read<uint32_t>(at);
  if (!Fits(size, 4)) return Damaged();
  const size_t count = Read<uint32_t>(size);
  if (!Fits(size + 4, count * item_bytes)) return Damaged();
  return Items{size + 4, count};
}

absl::StatusOr<FlatTable> FlatTable::Table(int id) const {
  const size_t at = FieldAt(id);
  if (at == 0 || !Fits(at, 4)) return Damaged();
  const FlatTable table(buffer_, at + Read<uint32_t>(at));
  if (!table.Fits(table.at_, 4)) return Damaged();
  return table;
}

absl::StatusOr<std::string> FlatTable::String(int id) const {
  TENON_ASSIGN_OR_RETURN(const Items items, ItemsAt(FieldAt(id), 1));
  return std::string(buffer_.begin() + items.at, buffer_.begin() + items.at + items.count);
}

absl::StatusOr<std::vector<std::string>> FlatTable::Strings(int id) const {
  TENON_ASSIGN_OR_RETURN(const Items items, ItemsAt(FieldAt(id), 4));
  std::vector<std::string> strings;
  size_t total = 0;
  for (size_t i = 0; i < items.count; ++i) {
    TENON_ASSIGN_OR_RETURN(const Items bytes, ItemsAt(items.at + 4 * i, 1));
    // Several may be at one place, but then no more than the buffer has are copied.
    total += bytes.count;
    if (total > buffer_.size()) return Damaged();
    strings.emplace_back(buffer_.begin() + bytes.at, buffer_.begin() + bytes.at + bytes.count);
  }
  return strings;
}

}  // namespace tenon
