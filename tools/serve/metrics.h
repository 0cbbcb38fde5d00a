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

// What is counted of one signature of a version; its series end with it. Times are in microseconds.
class SignatureMetrics {
 public:
  virtual ~SignatureMetrics() = default;
  // One run for `requests` requests with `rows` rows; 0 rows: the model's rows are not free.
  virtual void Ran(int requests, int64_t rows, double microseconds) = 0;
  // A request waited for its run.
  virtual void Queued(double microseconds) = 0;
  // Tensors were made from a request that had arrived.
  virtual void Parsed(double microseconds) = 0;
  // An answer was made from tensors and given to the network.
  virtual void Answered(double microseconds) = 0;
};

class Metrics {
 public:
  static Metrics& Get();

  // `api`: "Predict"; `entrypoint`: "GRPC" or "REST".
  void Request(absl::string_view model, absl::string_view api, absl::string_view entrypoint,
               const absl::Status& status, double microseconds);
  // Finding series by their labels takes longer than adding to them, so it is done once. A version
  // that is loaded again while it is still held has the same ones.
  std::shared_ptr<SignatureMetrics> For(const std::string& model, int64_t version,
                                        const std::string& signature);
  void WarmUp(const std::string& path, const absl::Status& status, double microseconds);
  // 1 if available, otherwise 0.
  void Available(const std::string& model, int64_t version, bool available);
  void Bytes(const std::string& model, int64_t version, int64_t bytes);
  // Ends the series of an unloaded version: of WarmUp, Available and Bytes.
  void Unloaded(const std::string& model, int64_t version, const std::string& path);
  void QueueLength(int64_t jobs);

  std::string Text() const;

 private:
  Metrics();
  struct Families;
  std::shared_ptr<Families> families_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_METRICS_H_
