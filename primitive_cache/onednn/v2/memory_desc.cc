// oneDNN 2: memory descriptors are plain structs.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {

int Rank(const Desc& desc) { return desc.data.ndims; }

std::optional<Blocks> BlocksOf(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (md.format_kind != dnnl_blocked || md.extra.flags != dnnl_memory_extra_flag_none) {
    return std::nullopt;
  }
  const dnnl_blocking_desc_t& b = md.format_desc.blocking;
  Blocks blocks{desc.data_type(),
                Dims(md.dims, md.dims + md.ndims),
                Dims(md.padded_dims, md.padded_dims + md.ndims),
                Dims(b.strides, b.strides + md.ndims),
                Dims(b.inner_blks, b.inner_blks + b.inner_nblks),
                Dims(b.inner_idxs, b.inner_idxs + b.inner_nblks),
                /*whole=*/md.offset0 == 0};
  for (int i = 0; i < md.ndims; ++i) blocks.whole = blocks.whole && md.padded_offsets[i] == 0;
  return blocks;
}

std::string TextOf(const Desc& desc) {
  std::string text;
  auto add = [&text](char tag, int64_t value) {
    absl::StrAppend(&text, std::string(1, tag), value);
  };
  const dnnl_memory_desc_t& md = desc.data;
  add('>', static_cast<int>(md.data_type));
  if (md.format_kind == dnnl_format_kind_wino) {
    const dnnl_wino_desc_t& w = md.format_desc.wino_desc;
    for (int v : {static_cast<int>(w.wino_format), w.r, w.alpha, w.ic, w.oc, w.ic_block, w.oc_block,
                  w.ic2_block, w.oc2_block}) {
      add('w', v);
    }
    return absl::StrCat(text, "*", w.adj_scale);
  }
  for (int i = 0; i < md.ndims; ++i) {
    add('p', md.padded_dims[i]);
    add('s', md.format_desc.blocking.strides[i]);
  }
  for (int i = 0; i < md.format_desc.blocking.inner_nblks; ++i) {
    add('b', md.format_desc.blocking.inner_blks[i]);
    add('@', md.format_desc.blocking.inner_idxs[i]);
  }
  add('x', static_cast<int64_t>(md.extra.flags));
  return text;
}

size_t BytesPerDesc() { return sizeof(dnnl_memory_desc_t); }

std::string BytesOf(const Desc& desc) {
  std::string bytes(sizeof(dnnl_memory_desc_t), '\0');
  std::memcpy(bytes.data(), &desc.data, bytes.size());
  return bytes;
}

std::optional<Desc> DescFromBytes(absl::string_view bytes) {
  dnnl_memory_desc_t md;
  if (bytes.size() != sizeof(md)) return std::nullopt;
  std::memcpy(&md, bytes.data(), sizeof(md));
  if (md.ndims < 1 || md.ndims > DNNL_MAX_NDIMS) return std::nullopt;
  return Desc(md);
}

}  // namespace tenon::onednn
