// Post-training static quantization: takes a float graph and samples; returns a graph of standard
// TensorFlow ops with QuantizeV2/Dequantize pairs, and the loss of accuracy.
#ifndef TENON_RUNTIME_QUANTIZE_QUANTIZER_H_
#define TENON_RUNTIME_QUANTIZE_QUANTIZER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "env/flags.h"
#include "graph/graph.h"
#include "runtime/quantize/range.h"
#include "runtime/session/session.h"

namespace tenon {

struct QuantizeOptions {
  Flags flags;
  int threads = 0;
  RangeOptions range;
  bool equalize = true;  // cross-layer equalization (equalize.h)
  int64_t batch = 0;     // samples per run; 0: the model's fixed batch size, or 8
  // Layers with a larger relative error stay in fp32; 0: no limit. A usual error is .01; with a
  // very large one, inputs have scales too different for one range.
  double max_error = 0.3;
  bool keep_first = false, keep_last = false;
  std::vector<std::string> keep;  // names of layers that stay in fp32
  // The class of each sample: top-1 is counted in the first output of rank 2.
  std::optional<Tensor> labels;
  std::function<void(absl::string_view stage, int64_t done, int64_t total)> progress;
};

struct LayerReport {
  std::string name, op;
  std::string kept;  // why it stays in fp32; empty: int8
  // sqrt(sum (fp32 - int8)^2 / sum fp32^2) of the layer's products on exact inputs; -1: not
  // measured.
  double error = -1;
  DType data = DType::kInvalid;  // dtype of the integers that it reads, which represent [low, high]
  float low = 0, high = 0;
};

struct OutputReport {
  std::string name;
  double error = 0;  // the same error, for the whole model
  double correlation = 0;
};

struct QuantizeReport {
  std::vector<LayerReport> layers;
  std::vector<OutputReport> outputs;  // those of dtype float
  int64_t samples = 0, left_out = 0;
  std::optional<double> top1_before, top1_after;  // of 1
};

struct Quantized {
  Graph graph;
  QuantizeReport report;
};

// `graph` is as loaded. InvalidArgument for samples or labels that do not match, FailedPrecondition
// if there is nothing to quantize.
absl::StatusOr<Quantized> Quantize(Graph graph, std::vector<NamedTensor> samples,
                                   const QuantizeOptions& options);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_QUANTIZER_H_
