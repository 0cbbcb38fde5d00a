#include "runtime/explore/machine_peak.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "env/cache_folder.h"
#include "env/cpu.h"
#include "env/status.h"
#include "graph/text.h"
#include "kernels/interface/parallel.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kSize = 384;                    // of the weights; rows for each thread
constexpr size_t kBytes = size_t{256} << 20;  // more than caches hold
constexpr size_t kPiece = size_t{32} << 20;   // that is read in one go
constexpr double kSeconds = 0.25;             // for each of the two
constexpr int kMeasurements = 4;              // the best counts: others may use the CPU meanwhile

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The fastest of as many calls as fit. Calls are short, because other programs may interrupt them.
template <typename Run>
absl::StatusOr<double> FastestSeconds(Run run) {
  double best = 1e30;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    TENON_RETURN_IF_ERROR(run());
    best = std::min(best, Since(start));
  } while (Since(begin) < kSeconds);
  return best;
}

absl::StatusOr<double> FlopsPerSecond(int threads, Precision precision) {
  const int64_t rows = int64_t{kSize} * threads;
  // Precision concerns constant weights, as in models.
  TENON_ASSIGN_OR_RETURN(Graph graph, ParseGraph(absl::Substitute(R"(
        in x = %x
        %x = Placeholder() {dtype=float, shape=<$0,$1>}
        %w = Const() {dtype=float, value=float<$1,$1>{random 1}}
        %y = MatMul(%x, %w) {T=float, transpose_a=false, transpose_b=false}
        out y = %y
      )",
                                                                  rows, kSize)));
  SessionOptions options;
  options.flags = Flags();  // not the environment's: rewriting may be off there
  options.threads = threads;
  options.precision = precision;
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(std::move(graph), options));
  TENON_ASSIGN_OR_RETURN(Tensor x, Tensor::Allocate(DType::kFloat, Shape({rows, kSize})));
  std::fill(x.flat<float>().begin(), x.flat<float>().end(), 0.5f);
  const std::vector<Tensor> inputs = {x};
  TENON_RETURN_IF_ERROR(session->Run(inputs).status());
  TENON_ASSIGN_OR_RETURN(const double seconds,
                         FastestSeconds([&] { return session->Run(inputs).status(); }));
  return 2.0 * static_cast<double>(rows) * kSize * kSize / seconds;
}

absl::StatusOr<double> BytesPerSecond(int threads) {
  // In large pages, as weights are.
  TENON_ASSIGN_OR_RETURN(Tensor data,
                         Tensor::Allocate(DType::kUint64, Shape({kBytes / sizeof(uint64_t)})));
  std::fill(data.flat<uint64_t>().begin(), data.flat<uint64_t>().end(), 1);
  constexpr int64_t kWords = kPiece / sizeof(uint64_t);
  std::vector<uint64_t> sums(static_cast<size_t>(ParallelRanges(threads, kWords, 1)));
  size_t piece = 0;
  TENON_ASSIGN_OR_RETURN(const double seconds, FastestSeconds([&] {
                           const uint64_t* const words = data.data<uint64_t>() + piece * kWords;
                           ParallelForRanges(threads, kWords, 1,
                                             [&](int range, int64_t begin, int64_t end) {
                                               uint64_t sum = 0;
                                               for (int64_t i = begin; i < end; ++i)
                                                 sum += words[i];
                                               sums[static_cast<size_t>(range)] += sum;
                                             });
                           piece = (piece + 1) % (kBytes / kPiece);
                           return absl::OkStatus();
                         }));
  uint64_t all = 0;
  for (uint64_t sum : sums) all += sum;
  if (all == 0) return Internal("the memory changed");  // so that the sums are computed
  return static_cast<double>(kPiece) / seconds;
}

std::string KeyOf(int threads, Precision precision) {
  return absl::StrCat(CpuName(), ", ", threads, " threads, ",
                      precision == Precision::kBfloat16 ? "bf16" : "fp32");
}

Json ReadFile(const std::string& path) {
  std::ifstream in(path);
  Json json = in ? Json::parse(in, nullptr, /*allow_exceptions=*/false) : Json::object();
  return json.is_object() ? json : Json::object();
}

}  // namespace

absl::StatusOr<MachinePeak> MeasurePeak(int threads, Precision precision) {
  MachinePeak peak;
  TENON_ASSIGN_OR_RETURN(peak.flops_per_s, FlopsPerSecond(threads, precision));
  TENON_ASSIGN_OR_RETURN(peak.bytes_per_s, BytesPerSecond(threads));
  return peak;
}

std::string PeakFolder(const Flags& flags) {
  return flags.cache_dir.empty() ? UserCacheFolder() : flags.cache_dir;
}

absl::StatusOr<MachinePeak> PeakOf(int threads, Precision precision, const std::string& folder) {
  if (folder.empty()) return MeasurePeak(threads, precision);
  const std::string path = absl::StrCat(folder, "/machine-peak.json");
  const std::string key = KeyOf(threads, precision);
  Json all = ReadFile(path);
  MachinePeak best;
  int measured = 0;
  if (const auto it = all.find(key); it != all.end() && it->is_object()) {
    best = {it->value("flops_per_s", 0.0), it->value("bytes_per_s", 0.0)};
    measured = it->value("measured", 1);
    if (measured >= kMeasurements && best.flops_per_s > 0 && best.bytes_per_s > 0) return best;
  }
  TENON_ASSIGN_OR_RETURN(const MachinePeak now, MeasurePeak(threads, precision));
  best.flops_per_s = std::max(best.flops_per_s, now.flops_per_s);
  best.bytes_per_s = std::max(best.bytes_per_s, now.bytes_per_s);
  all[key] = {{"flops_per_s", best.flops_per_s},
              {"bytes_per_s", best.bytes_per_s},
              {"measured", measured + 1}};
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  // Written beside it and renamed: concurrent readers see the old file or the new one.
  const std::string fresh = absl::StrCat(path, ".", std::hash<std::string>()(key) % 100000);
  if (std::ofstream out(fresh); out << all.dump(1, ' ', false, Json::error_handler_t::replace)) {
    out.close();
    std::filesystem::rename(fresh, path, ignored);
  }
  return best;
}

}  // namespace tenon
