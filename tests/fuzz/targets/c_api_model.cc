// Calls of the target `c_api` on models.
#include <iterator>

#include "tests/fuzz/targets/c_api.h"
#include "tests/support/source_dir.h"

namespace tenon::c_api_fuzz {
namespace {

// GraphDefs in text form: two inputs, two outputs and a layer; and a variable that a run increases,
// once it has a value.
constexpr char kLayer[] = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } dim { size: 2 } }
    float_val: 1 float_val: 2 float_val: 3 float_val: 4 } } } }
node { name: "m" op: "MatMul" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "y" op: "Relu" input: "m" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "s" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "shape" value { shape { } } } }
node { name: "l" op: "StringLength" input: "s" }
)";
constexpr char kCounter[] = R"(
node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } }
  attr { key: "shared_name" value { s: "v" } } }
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } }
node { name: "a" op: "AssignAddVariableOp" input: "v" input: "x"
  attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "r" op: "ReadVariableOp" input: "v" input: "^a"
  attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "Relu" input: "r" attr { key: "T" value { type: DT_FLOAT } } }
)";

}  // namespace

std::string ModelPath(Objects& o) {
  // A layer with weights, a decoder with variables, one that is fed back, strings, and no models.
  const char* const paths[] = {"mlp/saved_model",
                               "generate/variables",
                               "generate/feedback",
                               "text/words/saved_model",
                               "loader/frozen_mlp/graph.pb",
                               "loader/frozen_mlp/graph.pbtxt",
                               "mlp",
                               "no/such/model"};
  const size_t index = o.bytes.Below(std::size(paths) + 1);
  return index < std::size(paths) ? SourcePath(std::string("tests/models/") + paths[index]) : "";
}

// The bytes must live as long as the model: a constant.
void ParseModel(Objects& o) {
  const size_t size = o.bytes.Byte() < 240 ? sizeof(kLayer) - 1 : o.bytes.Below(sizeof(kLayer));
  Done(tenon_model_parse(kLayer, size, o.models.Empty(o.bytes)));
}

void OpenModel(Objects& o) {
  const uint8_t how = o.bytes.Byte();
  if (how % 4 == 0) {
    Done(tenon_model_parse(kCounter, sizeof(kCounter) - 1, o.models.Empty(o.bytes)));
  } else if (how == 255) {
    Done(tenon_model_open(nullptr, o.models.Empty(o.bytes)));
  } else {
    const std::string path = ModelPath(o);
    Done(tenon_model_open(path.c_str(), o.models.Empty(o.bytes)));
  }
}

void AskModel(Objects& o) {
  const tenon_model* m = o.models.At(o.bytes);
  if (m == nullptr) return;
  const int signature = static_cast<int>(o.Dim()), index = static_cast<int>(o.Dim());
  (void)tenon_model_format(m);
  (void)tenon_model_num_signatures(m);
  (void)tenon_model_default_signature(m);
  (void)tenon_model_signature_name(m, signature);
  (void)tenon_model_signature_method(m, signature);
  (void)tenon_model_num_inputs(m, signature);
  (void)tenon_model_num_outputs(m, signature);
  tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
  Done(tenon_model_input(m, signature, index, &spec));
  Done(tenon_model_output(m, signature, index, &spec));
}

}  // namespace tenon::c_api_fuzz
