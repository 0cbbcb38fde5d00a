#include "proto/checkpoint/bundle.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/memory_account.h"
#include "env/status.h"
#include "env/varint.h"
#include "proto/checkpoint/bundle_slices.h"
#include "proto/checkpoint/crc32c.h"
#include "proto/checkpoint/table_file.h"
#include "proto/messages/tenon_saved_model.pb.h"
#include "proto/messages/tensor_proto.h"

namespace tenon {
namespace {

constexpr int kMaxShards = 99999;
// Of a partitioned value. Each is compared with all others.
constexpr size_t kMostParts = 1 << 14;
// A smaller view would hold whole pages to save less than they cost.
constexpr uint64_t kViewBytes = 1 << 16;

// Layout: a varint length per string, the checksum of the lengths (4 bytes), the strings. `crc`
// becomes the checksum of everything, which treats lengths as fixed-width integers.
absl::StatusOr<Tensor> ReadStrings(const Shape& shape, const char* data, uint64_t bytes,
                                   uint32_t& crc) {
  const int64_t n = shape.num_elements();
  const char* const end = data + bytes;
  if (static_cast<uint64_t>(n) > bytes) return InvalidArgument("too short for its strings");
  std::vector<uint64_t> lengths(static_cast<size_t>(n));
  const char* p = data;
  uint64_t total = 0;
  for (uint64_t& length : lengths) {
    if (!ReadVarint(p, end, length) || length > bytes) {
      return InvalidArgument("a string's length is damaged");
    }
    total += length;
    const size_t width = length <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t);
    crc = Crc32c(crc, &length, width);  // little-endian: the low bytes come first
    if (total > bytes) return InvalidArgument("its strings are longer than its data");
  }
  if (static_cast<uint64_t>(end - p) != total + 4) {
    return InvalidArgument("its strings do not fill its data");
  }
  crc = Crc32c(crc, p, 4 + total);
  p += 4;
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(DType::kString, shape));
  for (size_t i = 0; i < lengths.size(); ++i) {
    t.data<std::string>()[i].assign(p, lengths[i]);
    p += lengths[i];
  }
  return t;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Bundle>> Bundle::Open(const std::string& prefix,
                                                     const BundleOptions& options) {
  std::unique_ptr<Bundle> bundle(new Bundle(prefix, options));
  const std::string index = prefix + ".index";
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                         MappedFile::Open(index, FilePages::kCopied));
  TENON_RETURN_IF_ERROR(ReadTable(*file, [&](absl::string_view key, absl::string_view value) {
    return bundle->AddEntry(key, value);
  }));
  if (bundle->shards_.empty()) return InvalidArgument(index, ": has no header");
  return bundle;
}

absl::Status Bundle::AddEntry(absl::string_view key, absl::string_view value) {
  const int size = static_cast<int>(value.size());
  alignas(8) char block[1024];  // enough for most entries
  google::protobuf::Arena arena(block, sizeof block);
  if (key.empty()) {
    auto& header = *google::protobuf::Arena::CreateMessage<tf::BundleHeaderProto>(&arena);
    if (!header.ParseFromArray(value.data(), size)) return InvalidArgument("damaged header");
    if (header.num_shards() < 1 || header.num_shards() > kMaxShards) {
      return InvalidArgument("the header states ", header.num_shards(), " shards");
    }
    if (header.endianness() != tf::BundleHeaderProto::LITTLE) {
      return Unimplemented("big-endian checkpoints");
    }
    shards_.resize(static_cast<size_t>(header.num_shards()));
    return absl::OkStatus();
  }
  auto& proto = *google::protobuf::Arena::CreateMessage<tf::BundleEntryProto>(&arena);
  if (!proto.ParseFromArray(value.data(), size)) {
    return InvalidArgument("damaged entry of '", key, "'");
  }
  Entry entry;
  const absl::StatusOr<DType> dtype = DTypeFromProto(proto.dtype());
  entry.dtype = dtype.ok() ? *dtype : DType::kInvalid;  // an error only for callers that need it
  absl::StatusOr<Shape> shape = ShapeFromProto(proto.shape());
  entry.shape = shape.ok() ? *std::move(shape) : Shape::Unknown();
  entry.shard = proto.shard_id();
  entry.offset = static_cast<uint64_t>(proto.offset());
  entry.bytes = static_cast<uint64_t>(proto.size());
  entry.crc = proto.crc32c();
  for (const auto& slice : proto.slices()) {
    Entry::Slice& to = entry.slices.emplace_back();
    for (const auto& e : slice.extent()) {
      to.extents.push_back({e.start(), e.has_length() ? e.length() : -1});
    }
  }
  entries_.emplace(key, std::move(entry));
  return absl::OkStatus();
}

const Bundle::Entry* Bundle::Find(absl::string_view key) const {
  auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

absl::StatusOr<const MappedFile*> Bundle::Shard(int shard) {
  if (shard < 0 || static_cast<size_t>(shard) >= shards_.size()) {
    return InvalidArgument("lies in shard ", shard, " of ", shards_.size());
  }
  std::shared_ptr<const MappedFile>& file = shards_[static_cast<size_t>(shard)];
  if (file == nullptr) {
    const std::string path = absl::StrCat(prefix_, ".data-", absl::Dec(shard, absl::kZeroPad5),
                                          "-of-", absl::Dec(shards_.size(), absl::kZeroPad5));
    TENON_ASSIGN_OR_RETURN(file, MappedFile::Open(path));
  }
  return file.get();
}

absl::StatusOr<Tensor> Bundle::Load(absl::string_view key) {
  const Entry* entry = Find(key);
  if (entry == nullptr) return NotFound(prefix_, ".index has no entry '", key, "'");
  absl::StatusOr<Tensor> tensor =
      entry->slices.empty() ? LoadEntry(*entry) : LoadSlices(key, *entry);
  if (!tensor.ok()) {
    return Annotate(tensor.status(), absl::StrCat(prefix_, ": entry '", key, "'"));
  }
  return tensor;
}

// Memory is allocated only once the parts are known to fill it.
absl::StatusOr<Tensor> Bundle::LoadSlices(absl::string_view key, const Entry& entry) {
  TENON_ASSIGN_OR_RETURN(const int64_t total, entry.shape.CheckedElements());
  const size_t size = SizeOf(entry.dtype);
  if (size == 0 || entry.dtype == DType::kString) {
    return Unimplemented("partitioned values of ", Name(entry.dtype));
  }
  if (entry.slices.size() > kMostParts) {
    return InvalidArgument("has ", entry.slices.size(), " parts, more than ", kMostParts);
  }
  std::vector<SliceBox> boxes;
  std::vector<const Entry*> parts;
  int64_t missing = total;
  for (const Entry::Slice& slice : entry.slices) {
    TENON_ASSIGN_OR_RETURN(SliceBox box, SliceBox::Of(slice.extents, entry.shape));
    const Entry* part = Find(SliceKey(key, slice.extents));
    if (part == nullptr) return InvalidArgument("a part is missing");
    if (part->dtype != entry.dtype || part->shape != box.shape) {
      return InvalidArgument("a part is ", Name(part->dtype), part->shape.ToString(), ", not ",
                             Name(entry.dtype), box.shape.ToString());
    }
    TENON_RETURN_IF_ERROR(FileOf(*part).status());
    const int64_t elements = box.shape.num_elements();
    const bool overlaps =
        elements > missing ||
        (elements > 0 && std::any_of(boxes.begin(), boxes.end(),
                                     [&](const SliceBox& other) { return box.Overlaps(other); }));
    if (overlaps) return InvalidArgument("its parts overlap");
    missing -= elements;
    boxes.push_back(std::move(box));
    parts.push_back(part);
  }
  if (missing != 0) {
    return InvalidArgument("its parts have ", total - missing, " elements of ", total);
  }
  TENON_ASSIGN_OR_RETURN(Tensor whole, Tensor::Allocate(entry.dtype, entry.shape));
  for (size_t i = 0; i < parts.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Tensor value, LoadEntry(*parts[i]));
    boxes[i].Copy(static_cast<const char*>(value.raw()), size, entry.shape,
                  static_cast<char*>(whole.raw()));
  }
  return whole;
}

absl::StatusOr<const MappedFile*> Bundle::FileOf(const Entry& entry) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, entry.shape.CheckedElements());
  TENON_ASSIGN_OR_RETURN(const MappedFile* file, Shard(entry.shard));
  if (entry.offset > file->size() || entry.bytes > file->size() - entry.offset) {
    return InvalidArgument("is outside of ", file->path(), " (", entry.bytes, " bytes at ",
                           entry.offset, " of ", file->size(), "): is the file cut off?");
  }
  const uint64_t size = SizeOf(entry.dtype);
  if (entry.dtype != DType::kString &&
      (entry.bytes / size != static_cast<uint64_t>(n) || entry.bytes % size != 0)) {
    return InvalidArgument("has ", entry.bytes, " bytes for ", Name(entry.dtype),
                           entry.shape.ToString());
  }
  return file;
}

absl::StatusOr<Tensor> Bundle::LoadEntry(const Entry& entry) {
  if (!entry.slices.empty()) return InvalidArgument("must not be partitioned");
  if (SizeOf(entry.dtype) == 0) return Unimplemented("dtype ", Name(entry.dtype));
  TENON_ASSIGN_OR_RETURN(const MappedFile* file, FileOf(entry));
  const bool strings = entry.dtype == DType::kString;
  const bool aligned = entry.offset % SizeOf(entry.dtype) == 0;
  Tensor t;
  if (options_.map_files && aligned && entry.bytes >= kViewBytes && !strings &&
      entry.dtype != DType::kBool) {
    TENON_ASSIGN_OR_RETURN(MemoryCharge charge, MemoryCharge::Of(entry.bytes));
    t = Tensor::FromExternal(entry.dtype, entry.shape,
                             const_cast<char*>(file->data() + entry.offset),
                             std::move(charge).Attach(file->Hold(entry.offset, entry.bytes)));
  } else {
    const Shape bytes({static_cast<int64_t>(entry.bytes)});
    TENON_ASSIGN_OR_RETURN(t, strings ? Tensor::Allocate(DType::kUint8, bytes)
                                      : Tensor::Allocate(entry.dtype, entry.shape));
    TENON_RETURN_IF_ERROR(file->Read(entry.offset, entry.bytes, t.raw()));
  }
  uint32_t crc = 0;
  if (strings) {
    TENON_ASSIGN_OR_RETURN(
        t, ReadStrings(entry.shape, static_cast<const char*>(t.raw()), entry.bytes, crc));
  } else if (options_.verify_checksums) {
    crc = Crc32c(0, t.raw(), entry.bytes);
  }
  if (options_.verify_checksums && MaskCrc(crc) != entry.crc) {
    return absl::DataLossError("its data does not match its checksum");
  }
  if (entry.dtype == DType::kBool) {
    auto* bytes = t.data<unsigned char>();
    for (uint64_t i = 0; i < entry.bytes; ++i) bytes[i] = bytes[i] != 0;
  }
  return t;
}

}  // namespace tenon
