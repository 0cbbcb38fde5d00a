// Models from memory: the bytes of a saved_model.pb or of a GraphDef, binary or text.
#include "tests/fuzz/targets/model_bytes.h"

#include <chrono>
#include <vector>

#include "kernels/interface/types.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

constexpr size_t kMostNodes = 4000;
constexpr int64_t kMostInputElements = 1 << 16;

// Ones, with 2 for dimensions that the model leaves free. Empty: too large, or without elements.
std::vector<Tensor> SmallInputs(const Session& session) {
  std::vector<Tensor> inputs;
  for (const TensorInfo& info : session.inputs()) {
    Shape shape = info.shape.has_rank() ? info.shape : Shape({2, 2});
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) < 0) shape.set_dim(d, 2);
    }
    const auto elements = shape.CheckedElements();
    if (!elements.ok() || *elements > kMostInputElements) return {};
    auto input = Tensor::Allocate(info.dtype, shape);
    if (!input.ok()) return {};
    VisitTypes(NumbersAndBool{}, info.dtype, [&]<typename T>() {
      for (T& v : input->flat<T>()) v = static_cast<T>(1);
    });
    if (IsQuantized(info.dtype)) std::memset(input->raw(), 1, input->bytes());
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

void CheckMessage(const absl::Status& status) {
  if (!status.ok() && status.message().empty()) FuzzFailure("an error without a message");
  if (absl::IsInternal(status)) FuzzFailure(status.ToString());
}

int FuzzModelBytes(const uint8_t* data, size_t size) {
  return RunModelBytes({reinterpret_cast<const char*>(data), size});
}

// The same function, so that each format has a corpus of its own.
const FuzzTarget kSavedModel("saved_model", FuzzModelBytes);
const FuzzTarget kGraphDef("graph_def", FuzzModelBytes);
const FuzzTarget kGraphDefText("graph_def_text", FuzzModelBytes);

}  // namespace

int RunModelBytes(absl::string_view bytes) {
  CheckMessage(InspectParsed(bytes, {}).status());
  LoadOptions load;
  load.allow_missing_ops = bytes.size() % 2 == 0;
  auto model = ParseModel(bytes, load);
  CheckMessage(model.status());
  if (!model.ok()) return 0;
  if (model->graph.num_nodes() > kMostNodes) return -1;
  const auto session = Session::Create(*std::move(model), DefaultOptions(/*threads=*/1));
  CheckMessage(session.status());
  if (!session.ok()) return 0;
  CheckMessage((*session)->report().status);
  const std::vector<Tensor> inputs = SmallInputs(**session);
  if (inputs.size() != (*session)->inputs().size()) return 0;
  (*session)->OutputShapes();
  RunOptions options;
  options.stop.deadline = StopCondition::Clock::now() + std::chrono::seconds(1);
  CheckMessage((*session)->Run(inputs, options).status());
  return 0;
}

}  // namespace tenon
