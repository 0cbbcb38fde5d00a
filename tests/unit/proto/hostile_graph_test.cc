// Inconsistent graphs give an error that names the file and the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "load_testing.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* name;
  const char* graph;
  const char* error;
};

class HostileGraph : public testing::TestWithParam<Case> {};

TEST_P(HostileGraph, IsRefused) {
  LoadOptions options;
  options.fetches = {"y"};
  const auto model = LoadText(GetParam().graph, options);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument) << model.status();
  EXPECT_THAT(std::string(model.status().message()), HasSubstr(GetParam().error));
  EXPECT_THAT(std::string(model.status().message()), HasSubstr("graph.pbtxt"));
}

#define X "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
#define FLOAT "attr { key: 'T' value { type: DT_FLOAT } } "

INSTANTIATE_TEST_SUITE_P(
    Cases, HostileGraph,
    testing::Values(
        Case{"Cycle",
             "node { name: 'y' op: 'Relu' input: 'z' " FLOAT "} node { name: 'z' op: 'Relu' input: "
             "'y' " FLOAT "}",
             "is on a cycle"},
        Case{"SelfCycle", "node { name: 'y' op: 'Relu' input: 'y' " FLOAT "}",
             "node 'y' (Relu) is on a cycle"},
        Case{"ControlCycle", X "node { name: 'y' op: 'Relu' input: 'x' input: '^y' " FLOAT "}",
             "node 'y' (Relu) is on a cycle"},
        Case{"MissingInput", "node { name: 'y' op: 'Relu' input: 'gone' " FLOAT "}",
             "node 'y' (Relu): there is no node 'gone'"},
        Case{"MissingControl", X "node { name: 'y' op: 'Relu' input: 'x' input: '^gone' " FLOAT "}",
             "node 'y' (Relu): there is no node 'gone'"},
        Case{"FewInputs",
             X "node { name: 'y' op: 'BatchNormWithGlobalNormalization' input: 'x' " FLOAT
               "attr { key: 'variance_epsilon' value { f: 1 } } "
               "attr { key: 'scale_after_normalization' value { b: true } } }",
             "node 'y' (BatchNormWithGlobalNormalization): has 1 inputs, but takes 5"},
        Case{"Duplicate", X X "node { name: 'y' op: 'Relu' input: 'x' " FLOAT "}",
             "two nodes are named 'x'"},
        Case{"NoName", X "node { op: 'Relu' input: 'x' " FLOAT "}", "a node (Relu) has no name"},
        Case{"NoOp", "node { name: 'y' }", "node 'y' (): has no op"},
        Case{"PortTooHigh", X "node { name: 'y' op: 'Relu' input: 'x:1' " FLOAT "}", "no output 1"},
        Case{"PortAbsurd", X "node { name: 'y' op: 'Relu' input: 'x:99999999999' " FLOAT "}",
             "node 'y' (Relu): 'x:99999999999' is not an input"},
        Case{"PortNegative", X "node { name: 'y' op: 'Relu' input: 'x:-1' " FLOAT "}",
             "node 'y' (Relu): 'x:-1' is not an input"},
        Case{"TooFewInputs", X "node { name: 'y' op: 'AddV2' input: 'x' " FLOAT "}",
             "node 'y' (AddV2): has 1 inputs, but takes 2"},
        Case{"TooManyInputs", X "node { name: 'y' op: 'Relu' input: 'x' input: 'x' " FLOAT "}",
             "node 'y' (Relu): has 2 inputs, but takes 1"},
        Case{"SwitchWithoutPredicate",
             X "node { name: 's' op: 'Switch' input: 'x' " FLOAT "}"
               "node { name: 'y' op: 'Merge' input: 's' input: 's:1' " FLOAT
               "  attr { key: 'N' value { i: 2 } } }",
             "node 's' (Switch): has 1 inputs, but takes 2"},
        Case{"WrongDType",
             X
             "node { name: 'y' op: 'Relu' input: 'x' attr { key: 'T' value { type: DT_INT32 } } }",
             "node 'y' (Relu): input 0 must be int32, but node 'x' (Placeholder) gives float"},
        Case{"MissingAttribute", X "node { name: 'y' op: 'Reshape' input: 'x' input: 'x' }",
             "node 'y' (Reshape)"},
        Case{"WrongAttributeKind",
             X "node { name: 'y' op: 'Relu' input: 'x' attr { key: 'T' value { i: 3 } } }",
             "attribute 'T' is not of kind type"},
        Case{"DataAfterControl",
             X "node { name: 'y' op: 'AddV2' input: 'x' input: '^x' input: 'x' " FLOAT "}",
             "node 'y' (AddV2): input 'x' comes after a control input"},
        Case{"FetchMissing", X, "output 'y': there is no node 'y'"},
        Case{"PrivateOp", X "node { name: 'y' op: '_MklNativeRelu' input: 'x' " FLOAT "}",
             "node 'y' (_MklNativeRelu): is a private op"},
        Case{"Garbage", "this is not a graph", "line 1"},
        Case{"TooDeep",
             "node { name: 'y' op: 'f' attr { key: 'a' value { func { attr { key: 'a' value { func "
             "{ attr { value { list { func { attr { value { bogus } } } } } } } } } } } }",
             "line 1"},
        Case{"Empty", "versions { producer: 1 }", "it has no nodes"}),
    [](const auto& param) { return param.param.name; });

// An op that Tenon does not have, whose name begins like a table op's.
TEST(HostileTable, AFindOfTooFewInputs) {
  const auto model = LoadText(
      "node { name: 't' op: 'MutableHashTableV2' attr { key: 'key_dtype' value { type: DT_INT64 } }"
      " attr { key: 'value_dtype' value { type: DT_FLOAT } } } "
      "node { name: 'y' op: 'LookupTableFindV9' input: 't' }",
      Lenient());
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument) << model.status();
}

// Text with deeper nesting than any model has must not exhaust the stack.
TEST(HostileText, DeepNesting) {
  std::string text = "node { name: 'y' op: 'f' ";
  for (int i = 0; i < 100000; ++i) text += "attr { key: 'a' value { func { ";
  const auto model = LoadText(text, {});
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument) << model.status();
}

TEST(HostileFile, WhatIsNoModel) {
  const ScratchPath path("file");
  WriteFile(path.str(), "");
  EXPECT_THAT(std::string(LoadModel(path.str(), {}).status().message()), HasSubstr("is empty"));
  WriteFile(path.str(), std::string("PK\3\4") + std::string(100, '\0'));
  EXPECT_EQ(LoadModel(path.str(), {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tenon
