#include "tools/serve/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace tenon::serve {
namespace {

using prometheus::Histogram;
using Labels = prometheus::Labels;

// TensorFlow Serving's: 10 µs times powers of 1.8.
Histogram::BucketBoundaries Microseconds() {
  Histogram::BucketBoundaries bounds;
  double bound = 10;
  for (int i = 0; i < 33; ++i, bound *= 1.8) bounds.push_back(bound);
  return bounds;
}

Histogram::BucketBoundaries Powers() { return {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}; }

Labels Joined(Labels labels, const Labels& more) {
  labels.insert(more.begin(), more.end());
  return labels;
}

std::string Copy(absl::string_view text) { return std::string(text); }

}  // namespace

struct Metrics::Families {
  std::mutex mutex;  // guards what follows
  struct Held {
    std::unique_ptr<SignatureMetrics> metrics;
    int holders = 0;
  };
  std::map<std::tuple<std::string, int64_t, std::string>, Held> signatures;
  std::map<std::string, std::set<Histogram*>> warm_ups;  // by path
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests = prometheus::BuildCounter()
                                                          .Name(":tensorflow:serving:request_count")
                                                          .Help("The total number of requests.")
                                                          .Register(registry);
  prometheus::Family<Histogram>& latency =
      prometheus::BuildHistogram()
          .Name(":tensorflow:serving:request_latency")
          .Help("Time from a request's arrival to its answer, in microseconds.")
          .Register(registry);
  prometheus::Family<Histogram>& runtime = prometheus::BuildHistogram()
                                               .Name(":tensorflow:serving:runtime_latency")
                                               .Help("Time of a run of the model, in microseconds.")
                                               .Register(registry);
  prometheus::Family<Histogram>& warm_up = prometheus::BuildHistogram()
                                               .Name(":tensorflow:serving:model_warmup_latency")
                                               .Help("Time of warming up a model, in microseconds.")
                                               .Register(registry);
  prometheus::Family<Histogram>& queue = prometheus::BuildHistogram()
                                             .Name("tenon_queue_microseconds")
                                             .Help("Time that a request waited for a worker.")
                                             .Register(registry);
  prometheus::Family<Histogram>& parse =
      prometheus::BuildHistogram()
          .Name("tenon_parse_microseconds")
          .Help("Time that it took to make tensors from a request.")
          .Register(registry);
  prometheus::Family<Histogram>& answer =
      prometheus::BuildHistogram()
          .Name("tenon_answer_microseconds")
          .Help("Time that it took to make an answer from tensors and to send it.")
          .Register(registry);
  prometheus::Family<Histogram>& rows = prometheus::BuildHistogram()
                                            .Name("tenon_run_rows")
                                            .Help("Rows of a run, if the model has free rows.")
                                            .Register(registry);
  prometheus::Family<Histogram>& batched = prometheus::BuildHistogram()
                                               .Name("tenon_run_requests")
                                               .Help("Requests that one run served.")
                                               .Register(registry);
  prometheus::Family<prometheus::Gauge>& available =
      prometheus::BuildGauge()
          .Name("tenon_model_available")
          .Help("1 if this version of the model answers requests.")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& bytes = prometheus::BuildGauge()
                                                     .Name("tenon_model_bytes")
                                                     .Help("Bytes that a loaded model holds.")
                                                     .Register(registry);
  prometheus::Gauge& queue_length = prometheus::BuildGauge()
                                        .Name("tenon_queue_length")
                                        .Help("Requests that wait for a worker.")
                                        .Register(registry)
                                        .Add({});
};

Metrics::Metrics() : families_(std::make_shared<Families>()) {}

Metrics& Metrics::Get() {
  static Metrics* const metrics = new Metrics;
  return *metrics;
}

void Metrics::Request(absl::string_view model, absl::string_view api, absl::string_view entrypoint,
                      const absl::Status& status, double microseconds) {
  // Finding series by their labels takes longer than adding to them, and they stay for ever; as a
  // rule the next request is like the last one.
  struct Last {
    std::string model, api, entrypoint;
    absl::StatusCode code;
    prometheus::Counter* requests = nullptr;
    Histogram* latency = nullptr;  // null: not for errors
  };
  thread_local Last last;
  if (last.requests == nullptr || last.code != status.code() || last.model != model ||
      last.api != api || last.entrypoint != entrypoint) {
    last = {Copy(model), Copy(api), Copy(entrypoint), status.code()};
    last.requests = &families_->requests.Add(
        {{"model_name", last.model}, {"status", absl::StatusCodeToString(status.code())}});
    if (status.ok()) {
      last.latency = &families_->latency.Add(
          {{"model_name", last.model}, {"API", last.api}, {"entrypoint", last.entrypoint}},
          Microseconds());
    }
  }
  last.requests->Increment();
  if (last.latency != nullptr) last.latency->Observe(microseconds);
}

std::shared_ptr<SignatureMetrics> Metrics::For(const std::string& model, int64_t version,
                                               const std::string& signature) {
  class Series final : public SignatureMetrics {
   public:
    Series(Families& f, const std::string& model, const Labels& labels)
        : families_(f),
          runtime_(f.runtime.Add(Joined(labels, {{"API", "Predict"}, {"runtime", "Tenon"}}),
                                 Microseconds())),
          parse_(f.parse.Add(labels, Microseconds())),
          answer_(f.answer.Add(labels, Microseconds())),
          rows_(f.rows.Add({{"model_name", model}}, Powers())),
          requests_(f.batched.Add({{"model_name", model}}, Powers())),
          queue_(f.queue.Add({{"model_name", model}}, Microseconds())) {}
    ~Series() override {
      // Otherwise every reload would leave some behind.
      families_.runtime.Remove(&runtime_);
      families_.parse.Remove(&parse_);
      families_.answer.Remove(&answer_);
    }
    void Ran(int requests, int64_t rows, double microseconds) override {
      runtime_.Observe(microseconds);
      if (rows > 0) rows_.Observe(static_cast<double>(rows));
      requests_.Observe(requests);
    }
    void Queued(double microseconds) override { queue_.Observe(microseconds); }
    void Parsed(double microseconds) override { parse_.Observe(microseconds); }
    void Answered(double microseconds) override { answer_.Observe(microseconds); }

   private:
    Families& families_;
    Histogram &runtime_, &parse_, &answer_;  // of this signature
    Histogram &rows_, &requests_, &queue_;   // of the model
  };
  const auto key = std::make_tuple(model, version, signature);
  const std::lock_guard<std::mutex> lock(families_->mutex);
  Families::Held& held = families_->signatures[key];
  if (held.holders++ == 0) {
    held.metrics = std::make_unique<Series>(
        *families_, model,
        Labels{
            {"model_name", model}, {"version", absl::StrCat(version)}, {"signature", signature}});
  }
  return {held.metrics.get(), [this, key](SignatureMetrics*) {
            const std::lock_guard<std::mutex> ending(families_->mutex);
            const auto at = families_->signatures.find(key);
            if (--at->second.holders == 0) families_->signatures.erase(at);
          }};
}

void Metrics::WarmUp(const std::string& path, const absl::Status& status, double microseconds) {
  Histogram& series = families_->warm_up.Add(
      {{"model_path", path}, {"status", absl::StatusCodeToString(status.code())}}, Microseconds());
  series.Observe(microseconds);
  const std::lock_guard<std::mutex> lock(families_->mutex);
  families_->warm_ups[path].insert(&series);
}

void Metrics::Available(const std::string& model, int64_t version, bool available) {
  families_->available.Add({{"model_name", model}, {"version", absl::StrCat(version)}})
      .Set(available ? 1 : 0);
}

void Metrics::Bytes(const std::string& model, int64_t version, int64_t bytes) {
  families_->bytes.Add({{"model_name", model}, {"version", absl::StrCat(version)}})
      .Set(static_cast<double>(bytes));
}

void Metrics::Unloaded(const std::string& model, int64_t version, const std::string& path) {
  const Labels labels{{"model_name", model}, {"version", absl::StrCat(version)}};
  families_->available.Remove(&families_->available.Add(labels));
  families_->bytes.Remove(&families_->bytes.Add(labels));
  const std::lock_guard<std::mutex> lock(families_->mutex);
  for (Histogram* const series : families_->warm_ups[path]) families_->warm_up.Remove(series);
  families_->warm_ups.erase(path);
}

void Metrics::QueueLength(int64_t jobs) { families_->queue_length.Set(static_cast<double>(jobs)); }

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace tenon::serve
