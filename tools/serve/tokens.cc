#include "tools/serve/tokens.h"

#include <openssl/crypto.h>

#include <fstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/serve/log.h"

namespace tenon::serve {

absl::StatusOr<std::vector<std::string>> Tokens::Load() const {
  std::ifstream file(path_);
  std::vector<std::string> tokens;
  for (std::string line; std::getline(file, line);) {
    absl::StripAsciiWhitespace(&line);
    if (!line.empty() && line[0] != '#') tokens.push_back(std::move(line));
  }
  if (!file.eof()) return absl::NotFoundError(absl::StrCat(path_, ": cannot be read"));
  if (tokens.empty()) return absl::InvalidArgumentError(absl::StrCat(path_, ": has no token"));
  return tokens;
}

absl::StatusOr<std::unique_ptr<Tokens>> Tokens::Read(const std::string& path) {
  std::unique_ptr<Tokens> tokens(new Tokens(path));
  std::error_code ignored;
  tokens->changed_ = std::filesystem::last_write_time(path, ignored);
  auto loaded = tokens->Load();
  if (!loaded.ok()) return loaded.status();
  tokens->tokens_ = *std::move(loaded);
  return tokens;
}

bool Tokens::Allows(absl::string_view authorization) const {
  static constexpr absl::string_view kScheme = "bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return false;
  const absl::string_view given = absl::StripAsciiWhitespace(authorization.substr(kScheme.size()));
  const std::lock_guard<std::mutex> lock(mutex_);
  bool allowed = false;
  for (const std::string& token : tokens_) {
    // In a time that tells nothing of the token but its length.
    allowed |= token.size() == given.size() &&
               CRYPTO_memcmp(token.data(), given.data(), token.size()) == 0;
  }
  return allowed;
}

void Tokens::Refresh() {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(path_, error);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error || changed == changed_) return;
  changed_ = changed;
  auto loaded = Load();
  if (loaded.ok()) {
    tokens_ = *std::move(loaded);
    LogInfo("tokens read again", {{"file", path_}});
  } else {
    LogError("tokens stay as they are", {{"reason", std::string(loaded.status().message())}});
  }
}

}  // namespace tenon::serve
