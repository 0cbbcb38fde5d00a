#include "tools/progress.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "env/terminal.h"
#include "tools/model_args.h"

namespace tenon {
namespace {

constexpr double kSilentMs = 1000;
constexpr double kBetweenMs = 100;
constexpr int kCells = 30;

}  // namespace

std::string ProgressBar(const char* what, double part) {
  part = std::clamp(part, 0.0, 1.0);
  const auto full = static_cast<size_t>(part * kCells);
  return absl::StrFormat("%-14s [%s%s] %3.0f %%", what, std::string(full, '='),
                         std::string(kCells - full, ' '), 100 * part);
}

Progress::Progress() : seen_(ErrorsAreSeen()), start_ms_(NowMs()) {}
Progress::~Progress() { Clear(); }

void Progress::Show(const char* what, double part) {
  if (!seen_) return;  // it may be called between runs of microseconds
  const double now = NowMs();
  if (now - start_ms_ < kSilentMs || now - drawn_ms_ < kBetweenMs) return;
  std::fprintf(stderr, "\r%s\033[K", ProgressBar(what, part).c_str());
  std::fflush(stderr);
  drawn_ms_ = now;
  drawn_ = true;
}

void Progress::Clear() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace tenon
