// Counters and histograms in Prometheus' text form. Those of TensorFlow Serving have its names and
// labels, so that dashboards keep working; times there are in microseconds.
#ifndef TENON_TOOLS_SERVE_METRICS_H_
#define TENON_TOOLS_SERVE_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tenon::serve {

class Metrics {
 public:
  static Metrics& Get();

  // `api`: "Predict"; `entrypoint`: "GRPC" or "REST".
  void Request(absl::string_view model, absl::string_view api, absl::string_view entrypoint,
               const absl::Status& status, double microseconds);
  // One run of a model for `requests` requests with `rows` rows.
  void Run(absl::string_view model, int64_t version, absl::string_view signature, int requests,
           int64_t rows, double microseconds);
  void Queued(absl::string_view model, double microseconds);
  void WarmUp(const std::string& path, const absl::Status& status, double microseconds);
  // 1 if available, otherwise 0.
  void Available(const std::string& model, int64_t version, bool available);
  void Bytes(const std::string& model, int64_t version, int64_t bytes);
  void QueueLength(int64_t jobs);

  std::string Text() const;

 private:
  Metrics();
  struct Families;
  std::shared_ptr<Families> families_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_METRICS_H_
