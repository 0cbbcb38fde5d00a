// StableHLO modules: damaged bytes are refused or read, and ops without a lowering are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/example_proto/wire.h"
#include "proto/import/call_module.h"
#include "proto/import/model.h"
#include "proto/stablehlo/cursor.h"
#include "proto/stablehlo/module.h"
#include "proto/stablehlo/op_attributes.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

// The messages and texts in field `number` of a message.
std::vector<absl::string_view> Fields(absl::string_view message, uint32_t number) {
  std::vector<absl::string_view> found;
  WireReader in(message);
  for (WireField f; in.Next(f);) {
    if (f.number == number && f.is_bytes()) found.push_back(f.bytes);
  }
  return found;
}

// The XlaCallModule of a test model: of the first function of its first graph that has one.
Node CallOf(const std::string& model) {
  std::ifstream file(SourcePath("tests/models/jax/" + model + "/saved_model/saved_model.pb"));
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string bytes = stream.str();
  const absl::string_view library = Fields(Fields(Fields(bytes, 2).at(0), 2).at(0), 2).at(0);
  for (absl::string_view function : Fields(library, 1)) {
    for (absl::string_view def : Fields(function, 3)) {
      if (Fields(def, 2).at(0) != "XlaCallModule") continue;
      Node node;
      node.name = "call";
      node.op = "XlaCallModule";
      node.inputs.resize(Fields(def, 3).size());
      node.attrs["version"] = int64_t{10};
      for (absl::string_view attr : Fields(def, 5)) {
        if (Fields(attr, 1).at(0) != "module") continue;
        node.attrs["module"] = std::string(Fields(Fields(attr, 2).at(0), 2).at(0));
      }
      return node;
    }
  }
  ADD_FAILURE() << model;
  return Node();
}

std::string ModuleOf(const Node& node) { return *node.attr<std::string>("module"); }

absl::Status Lowered(Node node, std::string module) {
  node.attrs["module"] = AttrValue(std::move(module));
  return LowerCallModule(node, "main").status();
}

TEST(StableHlo, ReadsVarints) {
  for (int bytes = 1; bytes <= 9; ++bytes) {
    const int bits = bytes == 9 ? 64 : 7 * bytes;
    const uint64_t value = bits == 64 ? ~uint64_t{5} : (uint64_t{1} << bits) - 3;
    std::string encoded;
    if (bytes == 9) {
      encoded = std::string(1, '\0');
      for (int i = 0; i < 8; ++i) encoded += static_cast<char>(value >> 8 * i);
    } else {
      uint64_t word = (value << 1 | 1) << (bytes - 1);
      if (bytes == 8) word = value << 8 | 0x80;
      for (int i = 0; i < bytes; ++i) encoded += static_cast<char>(word >> 8 * i);
    }
    stablehlo::Cursor in(encoded);
    uint64_t read = 0;
    ASSERT_TRUE(in.Varint(read)) << bytes;
    EXPECT_EQ(read, value) << bytes;
    EXPECT_TRUE(in.done());
    stablehlo::Cursor cut(absl::string_view(encoded).substr(0, encoded.size() - 1));
    EXPECT_FALSE(cut.Varint(read)) << bytes;
  }
}

TEST(StableHlo, KnowsAttributesByVersion) {
  EXPECT_EQ(stablehlo::AttributesOf("compare_v1"), "compare_type comparison_direction");
  EXPECT_EQ(stablehlo::AttributesOf("add_v1"), "");
  EXPECT_EQ(stablehlo::AttributesOf("tanh_v2"), "result_accuracy");
  EXPECT_EQ(stablehlo::WithoutVersion("log_plus_one_v2"), "log_plus_one");
  EXPECT_EQ(stablehlo::WithoutVersion("_v2"), "");
  EXPECT_EQ(stablehlo::WithoutVersion("v2"), "v2");
  EXPECT_EQ(stablehlo::WithoutVersion(""), "");
}

TEST(StableHlo, ReadsFunctions) {
  const std::string bytes = ModuleOf(CallOf("flow"));
  const auto module = stablehlo::ReadModule(bytes);
  ASSERT_TRUE(module.ok()) << module.status();
  const stablehlo::Function* main = module->Find("main");
  ASSERT_NE(main, nullptr);
  ASSERT_EQ(main->body.args.size(), 2u);
  EXPECT_EQ(module->type(main->body.args[0]).dtype, DType::kFloat);
  EXPECT_EQ(module->type(main->body.args[0]).shape, Shape({3, 4}));
  EXPECT_EQ(module->type(main->body.args[1]).shape, Shape());
  EXPECT_EQ(main->body.ops.back().name, "return");
}

TEST(StableHlo, RefusesTruncatedModules) {
  const std::string bytes = ModuleOf(CallOf("flow"));
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(stablehlo::ReadModule(absl::string_view(bytes).substr(0, n)).ok()) << n;
  }
}

// No flipped byte crashes, reads outside of the bytes, or takes long; most are errors.
TEST(StableHlo, SurvivesFlippedBytes) {
  for (const char* model : {"flow", "indexing"}) {
    const Node node = CallOf(model);
    const std::string bytes = ModuleOf(node);
    ASSERT_TRUE(Lowered(node, bytes).ok()) << model << ": " << Lowered(node, bytes);
    for (size_t i = 0; i < bytes.size(); i += 5) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ "\x01\x80\xff\x04"[i % 4]);
      (void)Lowered(node, std::move(damaged));
    }
  }
}

TEST(StableHlo, NamesOpsThatItDoesNotHave) {
  const Node node = CallOf("flow");
  std::string bytes = ModuleOf(node);
  const size_t at = bytes.find("multiply_v1");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 8, "multipla");
  const absl::Status status = Lowered(node, std::move(bytes));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("StableHLO's 'multipla'"));
}

TEST(StableHlo, RefusesOtherPlatforms) {
  Node node = CallOf("flow");
  node.attrs["platforms"] = std::vector<std::string>{"CUDA", "TPU"};
  const absl::Status status = LowerCallModule(node, "main").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("for CUDA, TPU, not for CPU"));
}

TEST(StableHlo, RefusesUnknownVersionsAndTexts) {
  Node node = CallOf("flow");
  const std::string bytes = ModuleOf(node);
  EXPECT_THAT(std::string(Lowered(node, "module {}").message()), HasSubstr("no MLIR bytecode"));
  std::string newer = bytes;
  newer[4] = 0x7f;  // the format's version
  EXPECT_THAT(std::string(Lowered(node, newer).message()), HasSubstr("bytecode of version 63"));
  node.inputs.clear();
  EXPECT_THAT(std::string(Lowered(node, bytes).message()), HasSubstr("gives 0 inputs"));
  node.attrs["version"] = int64_t{3};
  EXPECT_THAT(std::string(Lowered(node, bytes).message()), HasSubstr("version 3"));
}

// Keras assigns the statistics of a batch norm their own values: they are constants all the same.
TEST(StableHlo, FreezesVariablesThatKeepTheirValues) {
  const auto model = LoadModel(SourcePath("tests/models/jax/cnn/saved_model"), {});
  ASSERT_TRUE(model.ok()) << model.status();
  for (NodeId id : model->graph.NodeIds()) {
    EXPECT_NE(model->graph.node(id).op, "VarHandleOp") << model->graph.node(id).name;
  }
}

}  // namespace
}  // namespace tenon
