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
#include "env/status.h"

namespace tenon {
namespace {

namespace pb = google::protobuf;

constexpr int kMaxDepth = 100;  // nesting depth; protobuf's limit for binary files
constexpr int64_t kMaxBytes = int64_t{1} << 31;
constexpr int kBlock = 1 << 18;

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

// Whether a file looks like text. A binary message contains lengths and tags below 0x20.
bool LooksLikeText(int fd) {
  unsigned char head[1024];
  const ssize_t n = pread(fd, head, sizeof head, 0);
  for (ssize_t i = 0; i < n; ++i) {
    if (head[i] < 0x20 && head[i] != '\n' && head[i] != '\r' && head[i] != '\t') return false;
  }
  return n > 0;
}

absl::Status ParseText(int fd, pb::Message& message) {
  lseek(fd, 0, SEEK_SET);
  pb::io::FileInputStream stream(fd, kBlock);
  FirstError error;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  parser.SetRecursionLimit(kMaxDepth);
  if (!parser.Parse(&stream, &message)) return InvalidArgument(error.text());
  if (stream.GetErrno() != 0) return absl::ErrnoToStatus(stream.GetErrno(), "cannot read");
  return absl::OkStatus();
}

absl::Status ParseBinary(int fd, pb::Message& message) {
  lseek(fd, 0, SEEK_SET);
  pb::io::FileInputStream stream(fd, kBlock);
  const bool parsed = message.ParseFromZeroCopyStream(&stream);
  if (stream.GetErrno() != 0) return absl::ErrnoToStatus(stream.GetErrno(), "cannot read");
  if (!parsed) return InvalidArgument("not a ", message.GetTypeName(), " message, or damaged");
  return absl::OkStatus();
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
  const bool text = LooksLikeText(fd);
  if (was_text != nullptr) *was_text = text;
  absl::Status status = text ? ParseText(fd, message) : ParseBinary(fd, message);
  if (text && !status.ok()) {  // a short binary message may look like text
    message.Clear();
    if (ParseBinary(fd, message).ok()) {
      if (was_text != nullptr) *was_text = false;
      return absl::OkStatus();
    }
  }
  return Annotate(status, path);
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
