// The quantizer: a small network with any weights, options and samples. A quantized graph runs.
#include <cmath>

#include "graph/text.h"
#include "runtime/quantize/quantizer.h"
#include "runtime/session/session.h"
#include "tests/fuzz/targets/draw.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/interpreter.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

// Layers that the quantizer converts, joins, or has to leave.
const char* const kNetworks[] = {
    R"(in x = %x
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,3>{random 1 -1 1}}
%b = Const() {value=float<3>{1, 0, -1}}
%m = MatMul(%x, %w)
%a = BiasAdd(%m, %b)
%r = Relu(%a)
%v = Const() {value=float<3,2>{random 2 -1 1}}
%y = MatMul(%r, %v)
out y = %y)",
    R"(in x = %x
%x = Placeholder() {dtype=float, shape=<?,5,5,3>}
%w = Const() {value=float<3,3,3,4>{random 1 -1 1}}
%c = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
%b = Const() {value=float<4>{random 3 -1 1}}
%a = BiasAdd(%c, %b)
%r = Relu6(%a)
%p = MaxPool(%r) {ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"}
%d = Const() {value=float<3,3,4,1>{random 2 -1 1}}
%e = DepthwiseConv2dNative(%p, %d) {strides=[1, 1, 1, 1], padding="SAME"}
%s = AddV2(%e, %p)
out y = %s)",
    R"(in x = %x
%x = Placeholder() {dtype=float, shape=<?,2,6>}
%w = Const() {value=float<6,6>{random 1 -1 1}}
%q = BatchMatMulV2(%x, %w)
%axis = Const() {value=int32<>{2}}
%j = ConcatV2(%q, %x, %axis) {N=2}
%v = Const() {value=float<12,2>{random 2 -1 1}}
%y = BatchMatMulV2(%j, %v)
%t = Softmax(%y)
out y = %t)"};

Graph Network(ByteReader& bytes) {
  Graph graph = *ParseGraph(kNetworks[bytes.Below(std::size(kNetworks))]);
  if (const absl::Status s = testing::CompleteGraph(graph); !s.ok()) FuzzFailure(s.ToString());
  Rewriter rewriter(graph);
  const Magnitudes numbers = bytes.Bool() ? Magnitudes::kAbsurd : Magnitudes::kSmall;
  for (const NodeId id : graph.NodeIds()) {
    const Tensor* value = graph.node(id).attr<Tensor>("value");
    if (value == nullptr || value->dtype() != DType::kFloat || bytes.Bool()) continue;
    const Shape shape = value->shape();
    rewriter.SetAttr(id, "value", DrawTensor(bytes, DType::kFloat, shape, numbers));
  }
  return graph;
}

QuantizeOptions DrawOptions(ByteReader& bytes) {
  QuantizeOptions options;
  options.flags = *DefaultOptions(/*threads=*/1).flags;
  options.threads = 1;
  options.range.method = static_cast<RangeMethod>(bytes.Below(4));
  options.range.percentile = bytes.Bool() ? 99.0 : static_cast<double>(bytes.Byte()) / 2;
  options.equalize = bytes.Bool();
  options.batch = static_cast<int64_t>(bytes.Below(5));
  options.max_error = bytes.Bool() ? 0.1 : 0;
  options.keep_first = bytes.Byte() == 1;
  options.keep_last = bytes.Byte() == 1;
  if (bytes.Byte() == 1) options.keep.push_back(std::string(bytes.Take(1)));
  return options;
}

int FuzzQuantize(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  const Graph graph = Network(bytes);
  const QuantizeOptions options = DrawOptions(bytes);
  Shape shape = *graph.FindNode("x")->attr<Shape>("shape");
  shape.set_dim(0, static_cast<int64_t>(bytes.Below(6)));
  const Magnitudes numbers = bytes.Bool() ? Magnitudes::kAbsurd : Magnitudes::kSmall;
  const Tensor samples = DrawTensor(bytes, DType::kFloat, shape, numbers);
  const auto quantized = Quantize(graph, {{"x", samples}}, options);
  if (!quantized.ok()) {
    if (absl::IsInternal(quantized.status())) FuzzFailure(quantized.status().ToString());
    return 0;
  }
  for (const LayerReport& layer : quantized->report.layers) {
    if (!layer.kept.empty()) continue;
    const bool sane = std::isfinite(layer.low) && std::isfinite(layer.high);
    if (!sane || layer.low > layer.high) FuzzFailure("the range of layer " + layer.name);
  }
  const auto session = Session::Create(quantized->graph, DefaultOptions(/*threads=*/1));
  if (!session.ok()) FuzzFailure(session.status().ToString());
  const auto outputs = (*session)->Run(std::vector<Tensor>{samples});
  if (!outputs.ok()) {
    FuzzFailure(absl::StrCat(outputs.status().ToString(), "\n", PrintGraph(quantized->graph)));
  }
  return 0;
}

const FuzzTarget kTarget("quantize", FuzzQuantize);

}  // namespace
}  // namespace tenon
