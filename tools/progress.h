// A progress bar on standard error, for what takes more than a second; nothing if that is no
// terminal.
#ifndef TENON_TOOLS_PROGRESS_H_
#define TENON_TOOLS_PROGRESS_H_

#include <cstdint>
#include <string>

namespace tenon {

class Progress {
 public:
  Progress();
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether anybody sees it.
  bool seen() const { return seen_; }
  void Show(const char* what, double part);
  void Clear();

 private:
  const bool seen_;
  const double start_ms_;
  double drawn_ms_ = 0;
  bool drawn_ = false;
};

// Of `total` things.
inline double PartOf(int64_t done, int64_t total) {
  return total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
}

// "measuring  [=====     ] 50 %"
std::string ProgressBar(const char* what, double part);

}  // namespace tenon

#endif  // TENON_TOOLS_PROGRESS_H_
