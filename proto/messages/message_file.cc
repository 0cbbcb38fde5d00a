#include "proto/messages/message_file.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/cleanup/cleanup.h"
#include "env/file_io.h"
#include "env/status.h"

namespace tenon {
namespace {

namespace pb = google::protobuf;

constexpr int kMaxDepth = 100;  // nesting depth; protobuf's limit for binary files
constexpr int64_t kMaxBytes = int64_t{1} << 31;
constexpr int kBlock = 1 << 18;
constexpr size_t kHead = 1024;  // bytes that tell text from binary

class FirstError final : public pb::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat("line ", line + 1, ": ", message);
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Whether a message looks like text. A binary message contains lengths and tags below 0x20.
bool LooksLikeText(absl::string_view head) {
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') return false;
  }
  return !head.empty();
}

absl::Status ParseText(pb::io::ZeroCopyInputStream& stream, pb::Message& message) {
  FirstError error;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  parser.SetRecursionLimit(kMaxDepth);
  if (!parser.Parse(&stream, &message)) return InvalidArgument(error.text());
  return absl::OkStatus();
}

absl::Status ParseBinary(pb::io::ZeroCopyInputStream& stream, pb::Message& message) {
  if (message.ParseFromZeroCopyStream(&stream)) return absl::OkStatus();
  return InvalidArgument("not a ", message.GetTypeName(), " message, or damaged");
}

// `parse` reads the bytes from their start, as text or as binary.
template <typename Parse>
absl::Status ParseEither(absl::string_view head, Parse parse, pb::Message& message,
                         bool* was_text) {
  const bool text = LooksLikeText(head.substr(0, kHead));
  if (was_text != nullptr) *was_text = text;
  absl::Status status = parse(text);
  if (text && !status.ok()) {  // a short binary message may look like text
    message.Clear();
    if (parse(/*text=*/false).ok()) {
      if (was_text != nullptr) *was_text = false;
      return absl::OkStatus();
    }
  }
  return status;
}

}  // namespace

absl::Status ReadMessageFile(const std::string& path, pb::Message& message, bool* was_text) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  const absl::Cleanup closer = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return InvalidArgument(path, " is not a regular file");
  }
  if (info.st_size >= kMaxBytes) {
    return InvalidArgument(path, " has ", info.st_size, " bytes; a message has less than ",
                           kMaxBytes);
  }
  if (info.st_size == 0) return InvalidArgument(path, " is empty");
  char head[kHead];
  const absl::StatusOr<size_t> read = ReadAt(fd, 0, head, sizeof head);
  if (!read.ok()) return Annotate(read.status(), path);
  const auto parse = [&](bool text) -> absl::Status {
    lseek(fd, 0, SEEK_SET);
    pb::io::FileInputStream stream(fd, kBlock);
    const absl::Status parsed = text ? ParseText(stream, message) : ParseBinary(stream, message);
    if (stream.GetErrno() != 0) return absl::ErrnoToStatus(stream.GetErrno(), "cannot read");
    return parsed;
  };
  return Annotate(ParseEither({head, *read}, parse, message, was_text), path);
}

absl::Status ParseMessage(absl::string_view bytes, pb::Message& message, bool* was_text) {
  if (static_cast<int64_t>(bytes.size()) >= kMaxBytes) {
    return InvalidArgument(bytes.size(), " bytes; a message has less than ", kMaxBytes);
  }
  if (bytes.empty()) return InvalidArgument("the message is empty");
  const auto parse = [&](bool text) -> absl::Status {
    pb::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    return text ? ParseText(stream, message) : ParseBinary(stream, message);
  };
  return ParseEither(bytes, parse, message, was_text);
}

absl::Status WriteMessageFile(const std::string& path, const pb::Message& message,
                              MessageFormat format) {
  if (message.ByteSizeLong() >= static_cast<size_t>(kMaxBytes)) {
    return absl::ResourceExhaustedError(absl::StrCat("the message for ", path, " is over 2 GB"));
  }
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write beside ", path));
  absl::Cleanup remover = [&temporary] { unlink(temporary.c_str()); };
  const mode_t mask = umask(0);
  umask(mask);
  bool written = fchmod(fd, 0666 & ~mask) == 0;
  int error = errno;
  {
    pb::io::FileOutputStream stream(fd, kBlock);
    if (format == MessageFormat::kText) {
      written = written && pb::TextFormat::Print(message, &stream);
    } else {
      written = written && message.SerializeToZeroCopyStream(&stream);
    }
    written = stream.Flush() && written;
    if (!written && stream.GetErrno() != 0) error = stream.GetErrno();
  }
  if (close(fd) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && rename(temporary.c_str(), path.c_str()) != 0) {
    written = false;
    error = errno;
  }
  if (!written) return absl::ErrnoToStatus(error, absl::StrCat("cannot write ", path));
  std::move(remover).Cancel();
  return absl::OkStatus();
}

}  // namespace tenon
