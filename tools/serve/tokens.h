// Bearer tokens: who may ask the server.
#ifndef TENON_TOOLS_SERVE_TOKENS_H_
#define TENON_TOOLS_SERVE_TOKENS_H_

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon::serve {

// The tokens of a file, one a line; empty lines and lines that begin with # do not count. Any
// thread may use any function.
class Tokens {
 public:
  // Error if the file cannot be read, or has no token: nobody could ask then.
  static absl::StatusOr<std::unique_ptr<Tokens>> Read(const std::string& path);

  // `authorization` is the header of that name: "Bearer TOKEN".
  bool Allows(absl::string_view authorization) const;
  // Reads the file again if it has changed. If that fails, the tokens stay, and the log says why.
  void Refresh();

 private:
  explicit Tokens(std::string path) : path_(std::move(path)) {}
  absl::StatusOr<std::vector<std::string>> Load() const;

  const std::string path_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::string> tokens_;
  std::filesystem::file_time_type changed_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_TOKENS_H_
