// Measures many image sizes in one session: resident memory, and the cost of returning to a size
// whose plan is kept, compared with a session that saw no other size.
//
//   dynamic_shapes_bench MODEL [SIZES=400] [THREADS=2]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "proto/import/model.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

double NowMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double ResidentMb() {
  double pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096 / (1 << 20);
}

Tensor Image(int64_t height, int64_t width) {
  const Shape shape({1, height, width, 3});
  return Tensor::From<float>(shape,
                             std::vector<float>(static_cast<size_t>(shape.num_elements()), 0.5f));
}

// The best of `runs`, in ms; negative after an error.
double Best(Session& session, const Tensor& image, int runs) {
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    const double start = NowMs();
    if (!session.Run(std::vector<Tensor>{image}).ok()) return -1;
    best = std::min(best, NowMs() - start);
  }
  return best;
}

int Measure(const std::string& model, int sizes, int threads) {
  SessionOptions options;
  options.threads = threads;
  auto session = Session::Load(model, {}, options);
  auto fixed = Session::Load(model, {}, options);
  if (!session.ok() || !fixed.ok()) {
    std::fprintf(stderr, "%s\n", std::string(session.status().message()).c_str());
    return 1;
  }
  std::printf("%6s %10s %8s %8s %10s %8s %11s\n", "sizes", "resident", "weights", "packed", "plans",
              "kept", "primitives");
  Tensor last;
  for (int i = 0; i < sizes; ++i) {
    last = Image(224 - i % 20, 224 - i / 20);
    if (Best(**session, last, 1) < 0) return 1;
    if (i + 1 != sizes && (i + 1) % std::max(1, sizes / 8) != 0) continue;
    const SessionBytes b = (*session)->bytes();
    const auto mb = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    std::printf("%6d %7.0f MB %8.1f %8.1f %10.1f %8d %11.1f\n", i + 1, ResidentMb(), mb(b.weights),
                mb(b.packed), mb(b.plans), static_cast<int>((*session)->plan_stats().entries),
                mb(b.primitives));
  }
  // Alternating, so that other load on the machine affects both.
  double revisited = 1e9, alone = 1e9;
  const Tensor other = Image(200, 216);
  for (int round = 0; round < 10; ++round) {
    if (Best(**session, other, 1) < 0) return 1;
    revisited = std::min(revisited, Best(**session, last, 10));
    alone = std::min(alone, Best(**fixed, last, 10));
  }
  std::printf("a kept size again %.3f ms, in a session of its own %.3f ms: %.3f\n", revisited,
              alone, revisited / alone);
  return 0;
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "dynamic_shapes_bench MODEL [SIZES] [THREADS]\n");
    return 2;
  }
  return tenon::Measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 400,
                        argc > 3 ? std::atoi(argv[3]) : 2);
}
