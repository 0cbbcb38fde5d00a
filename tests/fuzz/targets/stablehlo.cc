// StableHLO modules: MLIR bytecode, as an XlaCallModule has it. The node gets the inputs and
// outputs that the module's main states, so that a module that is read is also lowered, planned and
// run.
#include "proto/stablehlo/module.h"
#include "tests/fuzz/targets/byte_reader.h"
#include "tests/fuzz/targets/model_bytes.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/checkpoint_index.h"

namespace tenon {
namespace {

// A node's attribute, in GraphDef's encoding.
std::string Attr(const std::string& key, const std::string& value) {
  return BytesField(5, BytesField(1, key) + BytesField(2, value));
}
std::string Node(const std::string& name, const std::string& op, const std::string& rest) {
  return BytesField(1, BytesField(1, name) + BytesField(2, op) + rest);
}
std::string ShapeText(const Shape& shape) {
  std::string dims;
  for (const int64_t dim : shape.dims()) dims += BytesField(2, NumberField(1, dim));
  return dims;
}

int FuzzStableHlo(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  const int64_t version = 10 - static_cast<int64_t>(bytes.Below(7));
  const uint8_t form = bytes.Byte();
  const bool platforms = (form & 1) != 0, token = (form & 2) != 0;
  const std::string module(bytes.Rest());
  const auto read = stablehlo::ReadModule(module);
  if (!read.ok()) {
    if (read.status().message().empty()) FuzzFailure("an error without a message");
    if (absl::IsInternal(read.status())) FuzzFailure(read.status().ToString());
    return 0;
  }
  std::string graph, inputs, input_types, output_types;
  if (const stablehlo::Function* main = read->Find("main"); main != nullptr) {
    const auto type_of = [&](const stablehlo::Type& t) { return static_cast<int64_t>(t.dtype); };
    size_t n = 0;
    for (const stablehlo::ValueId arg : main->body.args) {
      if (n++ < size_t{platforms} + token) continue;  // given by import
      const stablehlo::Type& type = read->type(arg);
      const std::string name = "x" + std::to_string(n);
      graph += Node(name, "Placeholder",
                    Attr("dtype", NumberField(6, type_of(type))) +
                        Attr("shape", BytesField(7, ShapeText(type.shape))));
      inputs += BytesField(3, name);
      input_types += NumberField(6, type_of(type));
    }
    for (const stablehlo::TypePtr& type : main->type->results) {
      if (type->kind == stablehlo::Type::Kind::kTensor) {
        output_types += NumberField(6, type_of(*type));
      }
    }
  }
  std::string attrs = Attr("version", NumberField(3, version)) +
                      Attr("module", BytesField(2, module)) +
                      Attr("Tin", BytesField(1, input_types)) +
                      Attr("Tout", BytesField(1, output_types)) + Attr("Sout", BytesField(1, ""));
  if (platforms) {
    attrs += Attr("platforms", BytesField(1, BytesField(2, "CUDA") + BytesField(2, "CPU")));
  }
  if (token) attrs += Attr("has_token_input_output", NumberField(5, 1));
  return RunModelBytes(graph + Node("call", "XlaCallModule", inputs + attrs));
}

const FuzzTarget kTarget("stablehlo", FuzzStableHlo);

}  // namespace
}  // namespace tenon
