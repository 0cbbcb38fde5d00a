#include "tools/serve/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

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

std::string Copy(absl::string_view text) { return std::string(text); }

}  // namespace

struct Metrics::Families {
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
  const std::string code = absl::StatusCodeToString(status.code());
  families_->requests.Add({{"model_name", Copy(model)}, {"status", code}}).Increment();
  if (!status.ok()) return;
  families_->latency
      .Add({{"model_name", Copy(model)}, {"API", Copy(api)}, {"entrypoint", Copy(entrypoint)}},
           Microseconds())
      .Observe(microseconds);
}

std::unique_ptr<SignatureMetrics> Metrics::For(const std::string& model, int64_t version,
                                               const std::string& signature) {
  class Series final : public SignatureMetrics {
   public:
    Series(Families& f, const std::string& model, const std::string& version,
           const std::string& signature)
        : runtime_(f.runtime.Add({{"model_name", model},
                                  {"API", "Predict"},
                                  {"runtime", "Tenon"},
                                  {"version", version},
                                  {"signature", signature}},
                                 Microseconds())),
          rows_(f.rows.Add({{"model_name", model}}, Powers())),
          requests_(f.batched.Add({{"model_name", model}}, Powers())),
          queue_(f.queue.Add({{"model_name", model}}, Microseconds())),
          parse_(
              f.parse.Add({{"model_name", model}, {"version", version}, {"signature", signature}},
                          Microseconds())),
          answer_(
              f.answer.Add({{"model_name", model}, {"version", version}, {"signature", signature}},
                           Microseconds())) {}
    void Ran(int requests, int64_t rows, double microseconds) override {
      runtime_.Observe(microseconds);
      if (rows > 0) rows_.Observe(static_cast<double>(rows));
      requests_.Observe(requests);
    }
    void Queued(double microseconds) override { queue_.Observe(microseconds); }
    void Parsed(double microseconds) override { parse_.Observe(microseconds); }
    void Answered(double microseconds) override { answer_.Observe(microseconds); }

   private:
    Histogram &runtime_, &rows_, &requests_, &queue_, &parse_, &answer_;
  };
  return std::make_unique<Series>(*families_, model, absl::StrCat(version), signature);
}

void Metrics::WarmUp(const std::string& path, const absl::Status& status, double microseconds) {
  families_->warm_up
      .Add({{"model_path", path}, {"status", absl::StatusCodeToString(status.code())}},
           Microseconds())
      .Observe(microseconds);
}

void Metrics::Available(const std::string& model, int64_t version, bool available) {
  families_->available.Add({{"model_name", model}, {"version", absl::StrCat(version)}})
      .Set(available ? 1 : 0);
}

void Metrics::Bytes(const std::string& model, int64_t version, int64_t bytes) {
  families_->bytes.Add({{"model_name", model}, {"version", absl::StrCat(version)}})
      .Set(static_cast<double>(bytes));
}

void Metrics::QueueLength(int64_t jobs) { families_->queue_length.Set(static_cast<double>(jobs)); }

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace tenon::serve
