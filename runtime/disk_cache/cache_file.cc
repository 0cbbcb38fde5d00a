#include "runtime/disk_cache/cache_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "env/file_io.h"
#include "env/mapped_file.h"
#include "env/memory_account.h"
#include "env/round_up.h"
#include "env/status.h"
#include "runtime/disk_cache/content_hash.h"

namespace tenon {
namespace {

constexpr char kMagic[] = "tenon cache 1\n";
constexpr size_t kHash = 32;
constexpr size_t kAlignment = 64;

// magic | size | hash of [kHeader, size)
constexpr size_t kSizeAt = sizeof(kMagic) + 1;  // 16
constexpr size_t kHashAt = kSizeAt + sizeof(uint64_t);
constexpr size_t kHeader = kAlignment;
static_assert(kHashAt + kHash <= kHeader);

size_t Aligned(size_t n) { return RoundUp(n, kAlignment); }

class Encoder {
 public:
  void Number(uint64_t v) { text_.append(reinterpret_cast<const char*>(&v), sizeof(v)); }
  void String(absl::string_view s) {
    Number(s.size());
    text_.append(s.data(), s.size());
  }
  void Bytes(const Tensor& t) {
    Number(t.bytes());
    Number(data_bytes_);
    data_bytes_ += Aligned(t.bytes());
    data_.push_back(t);
  }
  const std::string& text() const { return text_; }
  const std::vector<Tensor>& data() const { return data_; }

 private:
  std::string text_;
  std::vector<Tensor> data_;
  size_t data_bytes_ = 0;
};

// After an error it returns only zeros and empty strings.
class Decoder {
 public:
  Decoder(std::shared_ptr<const MappedFile> file, absl::string_view text, size_t data_at)
      : file_(std::move(file)), text_(text), data_at_(data_at) {}

  bool ok() const { return ok_; }
  bool done() const { return ok_ && text_.empty(); }
  void Expect(bool condition) { ok_ &= condition; }
  uint64_t Number() {
    uint64_t v = 0;
    if (!Need(sizeof(v))) return 0;
    std::memcpy(&v, text_.data(), sizeof(v));
    text_.remove_prefix(sizeof(v));
    return v;
  }
  std::string String() {
    const uint64_t size = Number();
    if (!Need(size)) return "";
    std::string s(text_.substr(0, size));
    text_.remove_prefix(size);
    return s;
  }
  // The rank, then the dimensions.
  Shape ReadShape() {
    std::vector<int64_t> dims;
    for (uint64_t rank = Number(); rank > 0 && ok_; --rank) {
      dims.push_back(static_cast<int64_t>(Number()));
    }
    return Shape(dims);
  }
  // Whether that many more records of at least `size` bytes fit into the rest.
  bool HasRoomFor(int64_t records, size_t size) const {
    return static_cast<uint64_t>(records) <= text_.size() / size;
  }
  Tensor Bytes(DType dtype, const Shape& shape) {
    const uint64_t bytes = Number(), offset = Number();
    const uint64_t room = file_->size() - data_at_;
    const absl::StatusOr<int64_t> n = shape.CheckedElements();
    ok_ &= n.ok() && bytes <= room && offset <= room - bytes && SizeOf(dtype) > 0 &&
           static_cast<uint64_t>(*n) == bytes / SizeOf(dtype) && bytes % SizeOf(dtype) == 0;
    if (!ok_) return Tensor();
    const uint64_t at = data_at_ + offset;
    absl::StatusOr<MemoryCharge> charge = MemoryCharge::Of(bytes);
    if (!charge.ok()) {
      ok_ = false;  // loading the model itself then says what does not fit
      return Tensor();
    }
    return Tensor::FromExternal(dtype, shape, const_cast<char*>(file_->data()) + at,
                                (*std::move(charge)).Attach(file_->Hold(at, bytes)));
  }

 private:
  bool Need(uint64_t bytes) {
    ok_ &= bytes <= text_.size();
    return ok_;
  }

  const std::shared_ptr<const MappedFile> file_;
  absl::string_view text_;
  const size_t data_at_;
  bool ok_ = true;
};

void EncodeInterface(const ModelInterface& interface, Encoder& out) {
  out.Number(interface.output_shapes.size());
  for (const Shape& shape : interface.output_shapes) {
    out.Number(shape.has_rank());
    out.Number(static_cast<uint64_t>(shape.rank()));
    for (int64_t d : shape.dims()) out.Number(static_cast<uint64_t>(d));
  }
  out.Number(interface.unneeded.size());
  for (const std::string& name : interface.unneeded) out.String(name);
  out.Number(interface.defaults.size());
  for (const auto& [name, value] : interface.defaults) {
    out.String(name);
    out.Number(static_cast<uint64_t>(value.dtype()));
    out.Number(static_cast<uint64_t>(value.shape().rank()));
    for (int64_t d : value.shape().dims()) out.Number(static_cast<uint64_t>(d));
    if (value.dtype() == DType::kString) {
      for (const std::string& s : value.flat<std::string>()) out.String(s);
    } else {
      out.String({static_cast<const char*>(value.raw()), value.bytes()});
    }
  }
}

// Memory is allocated only for elements that the file has.
Tensor DecodeDefault(Decoder& in) {
  const DType dtype = static_cast<DType>(in.Number());
  const Shape shape = in.ReadShape();
  const absl::StatusOr<int64_t> elements = shape.CheckedElements();
  in.Expect(elements.ok() && SizeOf(dtype) > 0);
  if (!in.ok()) return Tensor();
  std::string bytes;
  if (dtype == DType::kString) {
    in.Expect(in.HasRoomFor(*elements, sizeof(uint64_t)));
  } else {
    bytes = in.String();
    in.Expect(bytes.size() % SizeOf(dtype) == 0 &&
              bytes.size() / SizeOf(dtype) == static_cast<uint64_t>(*elements));
  }
  if (!in.ok()) return Tensor();
  absl::StatusOr<Tensor> value = Tensor::Allocate(dtype, shape);
  in.Expect(value.ok());
  if (!in.ok()) return Tensor();
  if (dtype == DType::kString) {
    for (std::string& s : value->flat<std::string>()) s = in.String();
  } else if (!bytes.empty()) {
    std::memcpy(value->raw(), bytes.data(), bytes.size());
  }
  return *std::move(value);
}

ModelInterface DecodeInterface(Decoder& in) {
  ModelInterface interface;
  for (uint64_t n = in.Number(); n > 0 && in.ok(); --n) {
    const bool has_rank = in.Number() != 0;
    const Shape shape = in.ReadShape();
    interface.output_shapes.push_back(has_rank ? shape : Shape::Unknown());
  }
  for (uint64_t n = in.Number(); n > 0 && in.ok(); --n) interface.unneeded.push_back(in.String());
  for (uint64_t n = in.Number(); n > 0 && in.ok(); --n) {
    std::string name = in.String();
    interface.defaults.emplace_back(std::move(name), DecodeDefault(in));
  }
  return interface;
}

Encoder Encode(const std::string& key, const CacheContent& content) {
  Encoder out;
  out.String(key);
  out.String(content.graph);
  EncodeInterface(content.interface, out);
  out.Number(content.constants.size());
  for (const StoredConstant& c : content.constants) {
    out.Number(static_cast<uint64_t>(c.dtype));
    out.Number(static_cast<uint64_t>(c.shape.rank()));
    for (int64_t d : c.shape.dims()) out.Number(static_cast<uint64_t>(d));
    out.Number(c.plain.valid());
    if (c.plain.valid()) out.Bytes(c.plain);
    out.Number(c.forms.size());
    for (const StoredForm& form : c.forms) {
      out.String(form.key);
      out.String(form.description);
      out.Number(form.bytes.bytes());
      out.Bytes(form.bytes);
    }
  }
  return out;
}

StoredConstant DecodeConstant(Decoder& in) {
  StoredConstant c;
  c.dtype = static_cast<DType>(in.Number());
  c.shape = in.ReadShape();
  in.Expect(IsValid(c.dtype) && c.dtype != DType::kString && c.shape.CheckedElements().ok());
  if (in.Number() != 0) c.plain = in.Bytes(c.dtype, c.shape);
  for (uint64_t forms = in.Number(); forms > 0 && in.ok(); --forms) {
    StoredForm form;
    form.key = in.String();
    form.description = in.String();
    // The size is stored twice: as the tensor's shape and in its record.
    const uint64_t bytes = in.Number();
    form.bytes = in.Bytes(DType::kUint8, Shape({static_cast<int64_t>(bytes)}));
    c.forms.push_back(std::move(form));
  }
  return c;
}

absl::Status AppendPadded(int fd, const void* bytes, size_t size) {
  static constexpr char kZeros[kAlignment] = {};
  TENON_RETURN_IF_ERROR(WriteAll(fd, bytes, size));
  return WriteAll(fd, kZeros, Aligned(size) - size);
}

absl::Status WriteTo(int fd, const std::string& temporary, const Encoder& content, int threads) {
  const std::string& text = content.text();
  std::string header(kHeader, '\0');
  TENON_RETURN_IF_ERROR(WriteAll(fd, header.data(), header.size()));
  const uint64_t records = text.size();
  TENON_RETURN_IF_ERROR(AppendPadded(fd, &records, sizeof(records)));
  TENON_RETURN_IF_ERROR(AppendPadded(fd, text.data(), text.size()));
  for (const Tensor& t : content.data()) {
    TENON_RETURN_IF_ERROR(AppendPadded(fd, t.raw(), t.bytes()));
  }
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(temporary));
  const uint64_t size = file->size();
  TENON_ASSIGN_OR_RETURN(const std::string hash, ContentHash(*file, kHeader, threads));
  std::memcpy(header.data(), kMagic, sizeof(kMagic));
  std::memcpy(header.data() + kSizeAt, &size, sizeof(size));
  std::memcpy(header.data() + kHashAt, hash.data(), kHash);
  if (lseek(fd, 0, SEEK_SET) < 0) return absl::ErrnoToStatus(errno, "cannot write");
  return WriteAll(fd, header.data(), header.size());
}

}  // namespace

absl::Status WriteCacheFile(const std::string& path, const std::string& key,
                            const CacheContent& content, int threads) {
  // A process that was killed may have left files; in another container, one with this process's
  // number writes at the same time.
  constexpr int kTries = 1000;
  static std::atomic<int> number = 0;
  std::string temporary;
  int fd = -1;
  for (int i = 0; i < kTries && fd < 0 && (i == 0 || errno == EEXIST); ++i) {
    temporary = absl::StrCat(path, ".", getpid(), ".", number++, ".tmp");
    fd = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", temporary));
  absl::Cleanup remover = [&] { unlink(temporary.c_str()); };
  absl::Cleanup closer = [fd] { close(fd); };
  absl::Status status = WriteTo(fd, temporary, Encode(key, content), threads);
  std::move(closer).Cancel();
  if (close(fd) != 0 && status.ok()) status = absl::ErrnoToStatus(errno, "cannot write");
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = absl::ErrnoToStatus(errno, "cannot rename");
  }
  if (status.ok()) std::move(remover).Cancel();
  return Annotate(status, path);
}

absl::StatusOr<CacheContent> ReadCacheFile(const std::string& path, const std::string& key,
                                           FilePages pages, int threads) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                         MappedFile::Open(path, pages));
  const absl::Status damaged = absl::DataLossError(absl::StrCat(path, " is damaged"));
  const absl::string_view bytes(file->data(), file->size());
  constexpr size_t kRecords = kHeader + kAlignment;
  if (bytes.size() < kRecords || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    return damaged;
  }
  uint64_t size = 0, records = 0;
  std::memcpy(&size, bytes.data() + kSizeAt, sizeof(size));
  std::memcpy(&records, bytes.data() + kHeader, sizeof(records));
  // The file is padded, so that the weights' bytes begin within it.
  if (size != bytes.size() || records > size - kRecords || Aligned(records) > size - kRecords ||
      ContentHash(bytes.substr(kHeader), threads) != bytes.substr(kHashAt, kHash)) {
    return damaged;
  }
  Decoder in(file, bytes.substr(kRecords, records), kRecords + Aligned(records));
  if (in.String() != key) return damaged;
  CacheContent content;
  content.graph = in.String();
  content.interface = DecodeInterface(in);
  for (uint64_t n = in.Number(); n > 0 && in.ok(); --n) {
    content.constants.push_back(DecodeConstant(in));
  }
  if (!in.done()) return damaged;
  return content;
}

}  // namespace tenon
