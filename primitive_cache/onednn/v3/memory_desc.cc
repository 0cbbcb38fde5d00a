// oneDNN 3: memory descriptors are opaque; they answer queries.
#include "absl/strings/str_cat.h"
#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {
namespace {

bool IsBlocked(const Desc& desc) {
  return desc.get_format_kind() == dnnl::memory::format_kind::blocked;
}

// Bytes of the elements of a dense layout, with their padding.
size_t ElementBytes(const Desc& desc) {
  size_t bytes = dnnl::memory::data_type_size(desc.get_data_type());
  for (const dnnl::memory::dim d : desc.get_padded_dims()) bytes *= static_cast<size_t>(d);
  return bytes;
}

}  // namespace

int Rank(const Desc& desc) { return desc.get_ndims(); }

std::optional<Blocks> BlocksOf(const Desc& desc) {
  // What follows the elements can only be seen by its size. Layouts that oneDNN chooses are dense.
  if (!IsBlocked(desc) || desc.get_size() != ElementBytes(desc)) return std::nullopt;
  Blocks blocks{desc.get_data_type(),
                desc.get_dims(),
                desc.get_padded_dims(),
                desc.get_strides(),
                desc.get_inner_blks(),
                desc.get_inner_idxs(),
                /*whole=*/desc.get_submemory_offset() == 0};
  for (const dnnl::memory::dim d : desc.get_padded_offsets()) {
    blocks.whole = blocks.whole && d == 0;
  }
  return blocks;
}

std::string TextOf(const Desc& desc) {
  std::string text;
  auto add = [&text](char tag, int64_t value) {
    absl::StrAppend(&text, std::string(1, tag), value);
  };
  add('>', static_cast<int>(desc.get_data_type()));
  add('k', static_cast<int>(desc.get_format_kind()));
  for (const int64_t d : desc.get_padded_dims()) add('p', d);
  if (IsBlocked(desc)) {
    for (const int64_t s : desc.get_strides()) add('s', s);
    for (const int64_t b : desc.get_inner_blks()) add('b', b);
    for (const int64_t i : desc.get_inner_idxs()) add('@', i);
  }
  add('n', static_cast<int64_t>(desc.get_size()));
  return text;
}

size_t BytesPerDesc() {
  static const size_t size = Desc().get_blob().size();
  return size;
}

std::string BytesOf(const Desc& desc) {
  const std::vector<uint8_t> blob = Desc(desc).get_blob();
  return std::string(blob.begin(), blob.end());
}

std::optional<Desc> DescFromBytes(absl::string_view bytes) {
  if (bytes.size() != BytesPerDesc()) return std::nullopt;
  Desc desc(std::vector<uint8_t>(bytes.begin(), bytes.end()));
  if (desc.get_ndims() < 1 || desc.get_ndims() > DNNL_MAX_NDIMS) return std::nullopt;
  return desc;
}

}  // namespace tenon::onednn
