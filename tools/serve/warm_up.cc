#include "tools/serve/warm_up.h"

#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tools/serve/log.h"
#include "tools/serve/metrics.h"
#include "tools/serve/thread_choice.h"

namespace tenon::serve {
namespace {

constexpr int kMostRecords = 1000;
constexpr uint64_t kMostRecordBytes = uint64_t{1} << 30;

// Reads a TFRecord file: each record is its length in 8 bytes, 4 bytes of checksum, the record, 4
// bytes of checksum. Checksums are not compared: a damaged record does not parse or run.
absl::Status ReplayFile(Predictor& predictor, const std::shared_ptr<Servable>& servable,
                        const std::string& path, std::ifstream& file, int iterations) {
  for (int records = 0;; ++records) {
    char head[12], checksum[4];
    if (!file.read(head, sizeof(head))) {
      if (file.gcount() == 0) return absl::OkStatus();
      return absl::DataLossError(absl::StrCat(path, " is cut off"));
    }
    if (records == kMostRecords) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Number of warmup records exceeds the maximum (", kMostRecords, ") at ", path));
    }
    uint64_t size;
    std::memcpy(&size, head, sizeof(size));
    std::string record;
    if (size <= kMostRecordBytes) record.resize(size);
    if (size > kMostRecordBytes || !file.read(record.data(), static_cast<std::streamsize>(size)) ||
        !file.read(checksum, sizeof(checksum))) {
      return absl::DataLossError(absl::StrCat(path, " is cut off"));
    }
    tensorflow::serving::PredictionLog log;
    if (!log.ParseFromString(record)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Failed to parse warmup record ", records, " from ", path));
    }
    for (int i = 0; i < iterations; ++i) {
      const absl::Status status = predictor.Replay(servable, log);
      if (!status.ok()) {
        return absl::Status(status.code(), absl::StrCat("warmup record ", records, " of ", path,
                                                        ": ", status.message()));
      }
    }
  }
}

absl::Status RunOnZeros(Predictor& predictor, const std::shared_ptr<Servable>& servable) {
  auto job = std::make_unique<Job>();
  job->servable = servable;
  job->runnable = servable->Default();
  auto inputs = ZeroInputs(job->runnable->signature);
  if (!inputs.ok()) return inputs.status();
  job->inputs = *std::move(inputs);
  for (const TensorSpec& spec : job->runnable->signature.outputs) job->outputs.push_back(spec.name);
  const absl::Status status = predictor.scheduler().RunAndWait(std::move(job)).status();
  if (status.code() != absl::StatusCode::kResourceExhausted) return status;
  // Either the queue was full, which says nothing about the model, or its memory does not suffice.
  return servable
      ->Run(*servable->Default(), *ZeroInputs(servable->Default()->signature), {},
            std::chrono::nanoseconds(0))
      .status();
}

}  // namespace

absl::Status WarmUp(Predictor& predictor, const std::shared_ptr<Servable>& servable,
                    int iterations) {
  const auto start = Clock::now();
  const std::string path =
      absl::StrCat(servable->path(), "/assets.extra/tf_serving_warmup_requests");
  std::ifstream file(path, std::ios::binary);
  const bool recorded = file.is_open();
  const absl::Status status =
      recorded ? ReplayFile(predictor, servable, path, file, std::max(1, iterations))
               : RunOnZeros(predictor, servable);
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  Metrics::Get().WarmUp(servable->path(), status, took.count());
  if (recorded || status.ok()) return status;
  if (status.code() == absl::StatusCode::kResourceExhausted) return status;  // no request would fit
  LogInfo("not warmed up", {{"model", servable->name()},
                            {"version", absl::StrCat(servable->version())},
                            {"reason", std::string(status.message())}});
  return absl::OkStatus();
}

}  // namespace tenon::serve
