#include "proto/checkpoint/bundle_slices.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "env/status.h"

namespace tenon {
namespace {

// The number of significant bytes, then the bytes, most significant first.
void AppendUnsigned(std::string& to, uint64_t value) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  to.push_back(static_cast<char>(bytes));
  for (int i = bytes; i-- > 0;) to.push_back(static_cast<char>(value >> (8 * i)));
}

// Two's complement in the fewest groups of 7 bits; as many leading bits as there are bytes are
// flipped.
void AppendSigned(std::string& to, int64_t value) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int bytes = std::bit_width(magnitude) / 7 + 1;
  std::string code;
  for (int i = bytes; i-- > 0;) {
    code.push_back(static_cast<char>(i < 8 ? value >> (8 * i) : value < 0 ? -1 : 0));
  }
  for (int bit = 0; bit < bytes; ++bit) {
    code[static_cast<size_t>(bit / 8)] ^= static_cast<char>(0x80 >> (bit % 8));
  }
  to += code;
}

void AppendText(std::string& to, absl::string_view text) {
  for (const char c : text) {
    to.push_back(c);
    if (c == '\0') to.push_back('\xff');
    if (c == '\xff') to.push_back('\0');
  }
  to += std::string("\0\1", 2);
}

}  // namespace

std::string SliceKey(absl::string_view name, Extents extents) {
  std::string key;
  AppendUnsigned(key, 0);
  AppendText(key, name);
  AppendUnsigned(key, extents.size());
  for (const auto& [start, size] : extents) {
    AppendSigned(key, start);
    AppendSigned(key, size);
  }
  return key;
}

absl::StatusOr<SliceBox> SliceBox::Of(Extents extents, const Shape& whole) {
  SliceBox box;
  if (std::ssize(extents) != whole.rank()) {
    return InvalidArgument("a part has ", extents.size(), " dimensions of ", whole.rank());
  }
  for (int d = 0; d < whole.rank(); ++d) {
    auto [start, size] = extents[static_cast<size_t>(d)];
    if (size < 0) std::tie(start, size) = std::pair(int64_t{0}, whole.dim(d));
    if (start < 0 || size > whole.dim(d) || start > whole.dim(d) - size) {
      return InvalidArgument("a part is outside of dimension ", d);
    }
    box.starts.push_back(start);
    box.shape.push_back(size);
  }
  return box;
}

bool SliceBox::Overlaps(const SliceBox& other) const {
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t end = starts[d] + shape.dim(static_cast<int>(d));
    const int64_t other_end = other.starts[d] + other.shape.dim(static_cast<int>(d));
    if (std::max(starts[d], other.starts[d]) >= std::min(end, other_end)) return false;
  }
  return true;
}

void SliceBox::Copy(const char* part, size_t size, const Shape& whole, char* to) const {
  const int rank = whole.rank();
  const int64_t elements = shape.num_elements();
  if (elements == 0) return;
  const int64_t row = rank == 0 ? 1 : shape.dim(rank - 1);
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  for (int64_t done = 0; done < elements; done += row) {
    int64_t at = 0;
    for (int d = 0; d < rank; ++d) {
      const size_t i = static_cast<size_t>(d);
      at = at * whole.dim(d) + starts[i] + index[i];
    }
    const size_t bytes = static_cast<size_t>(row) * size;
    std::memcpy(to + static_cast<size_t>(at) * size, part, bytes);
    part += bytes;
    for (int d = rank - 2; d >= 0 && ++index[static_cast<size_t>(d)] == shape.dim(d); --d) {
      index[static_cast<size_t>(d)] = 0;
    }
  }
}

}  // namespace tenon
