// What models take and give, models in memory, and fed tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "include/tenon/tenon.h"
#include "tests/support/source_dir.h"
#include "tests/unit/include/c_api_support.h"

namespace tenon::c_api_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = 2 * (x + d), z = unused + 1, where d defaults to 10.
constexpr char kGraph[] = R"(
  versions { producer: 1882 }
  node { name: "x" op: "Placeholder"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
  node { name: "ten" op: "Const"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 10 } } } }
  node { name: "d" op: "PlaceholderWithDefault" input: "ten"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape {} } } }
  node { name: "unused" op: "Placeholder"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape {} } } }
  node { name: "two" op: "Const"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }
  node { name: "sum" op: "AddV2" input: "x" input: "d"
    attr { key: "T" value { type: DT_FLOAT } } }
  node { name: "y" op: "Mul" input: "sum" input: "two"
    attr { key: "T" value { type: DT_FLOAT } } }
  node { name: "z" op: "AddV2" input: "unused" input: "two"
    attr { key: "T" value { type: DT_FLOAT } } }
)";

tenon_model* ParsedGraph() {
  tenon_model* model = nullptr;
  EXPECT_EQ(Message(tenon_model_parse(kGraph, sizeof(kGraph) - 1, &model)), "");
  return model;
}

tenon_session* SessionOf(const tenon_model* model, const char* fetches,
                         const char* feeds = nullptr) {
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.fetches = fetches;
  options.feeds = feeds;
  tenon_session* session = nullptr;
  EXPECT_EQ(Message(tenon_session_create_from_model(model, &options, &session)), "");
  return session;
}

struct Feed {
  const char* name;
  std::vector<int64_t> dims;
  std::vector<float> values;
};

// The elements of the only output asked for, or the error.
struct Result {
  std::vector<float> values;
  std::string error;
};
Result RunNamed(tenon_session* session, const std::vector<Feed>& feeds, const char* output) {
  std::vector<const char*> names;
  std::vector<tenon_tensor*> inputs;
  for (const Feed& feed : feeds) {
    names.push_back(feed.name);
    inputs.push_back(FloatTensor(feed.dims, feed.values));
  }
  tenon_tensor* result = nullptr;
  Result run;
  run.error = Message(tenon_session_run_with(session, nullptr, names.data(), inputs.data(),
                                             static_cast<int>(inputs.size()), &output, &result, 1));
  for (tenon_tensor* input : inputs) tenon_tensor_free(input);
  if (!run.error.empty()) return run;
  const float* data = static_cast<const float*>(tenon_tensor_data(result));
  run.values.assign(data, data + tenon_tensor_num_elements(result));
  tenon_tensor_free(result);
  return run;
}

TEST(CApiModel, SignaturesOfASavedModel) {
  tenon_model* model = nullptr;
  const std::string path = SourcePath("tests/models/mlp/saved_model");
  ASSERT_EQ(Message(tenon_model_open(path.c_str(), &model)), "");
  EXPECT_STREQ(tenon_model_format(model), "SavedModel");
  const int serving = tenon_model_default_signature(model);
  ASSERT_GE(serving, 0);
  EXPECT_STREQ(tenon_model_signature_name(model, serving), "serving_default");
  EXPECT_STREQ(tenon_model_signature_method(model, serving), "tensorflow/serving/predict");
  ASSERT_EQ(tenon_model_num_inputs(model, serving), 1);
  tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
  ASSERT_EQ(Message(tenon_model_input(model, serving, 0, &spec)), "");
  EXPECT_STREQ(spec.name, "features");
  EXPECT_THAT(spec.tensor, HasSubstr(":0"));
  EXPECT_EQ(spec.dtype, TENON_FLOAT);
  EXPECT_THAT(std::vector<int64_t>(spec.dims, spec.dims + spec.rank), ElementsAre(-1, 16));
  ASSERT_EQ(Message(tenon_model_output(model, serving, 0, &spec)), "");
  EXPECT_STREQ(spec.name, "output_0");
  EXPECT_THAT(std::vector<int64_t>(spec.dims, spec.dims + spec.rank), ElementsAre(-1, 1));
  EXPECT_THAT(Message(tenon_model_output(model, serving, 1, &spec)), HasSubstr("no output 1"));
  EXPECT_THAT(Message(tenon_model_input(model, 99, 0, &spec)), HasSubstr("no signature 99"));
  EXPECT_EQ(tenon_model_signature_name(model, -1), nullptr);
  tenon_model_free(model);
  EXPECT_THAT(Message(tenon_model_open("/no/such/model", &model)), HasSubstr("/no/such/model"));
}

TEST(CApiModel, AllSignaturesInOrder) {
  tenon_model* model = nullptr;
  const std::string path = SourcePath("tests/models/steps/order/saved_model");
  ASSERT_EQ(Message(tenon_model_open(path.c_str(), &model)), "");
  ASSERT_GT(tenon_model_num_signatures(model), 1);
  for (int i = 1; i < tenon_model_num_signatures(model); ++i) {
    EXPECT_LT(std::string(tenon_model_signature_name(model, i - 1)),
              std::string(tenon_model_signature_name(model, i)));
  }
  tenon_model_free(model);
}

TEST(CApiModel, GraphDefInMemory) {
  tenon_model* model = ParsedGraph();
  EXPECT_STREQ(tenon_model_format(model), "GraphDef text");
  ASSERT_EQ(tenon_model_num_signatures(model), 1);
  EXPECT_STREQ(tenon_model_signature_name(model, 0), "");
  ASSERT_EQ(tenon_model_num_inputs(model, 0), 3);  // those with a default come last
  tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
  ASSERT_EQ(Message(tenon_model_input(model, 0, 0, &spec)), "");
  EXPECT_STREQ(spec.name, "x");
  EXPECT_STREQ(spec.tensor, "x:0");
  EXPECT_EQ(spec.rank, 2);
  EXPECT_EQ(spec.optional, 0);
  ASSERT_EQ(Message(tenon_model_input(model, 0, 2, &spec)), "");
  EXPECT_STREQ(spec.name, "d");
  EXPECT_EQ(spec.optional, 1);
  ASSERT_EQ(tenon_model_num_outputs(model, 0), 2);
  ASSERT_EQ(Message(tenon_model_output(model, 0, 0, &spec)), "");
  EXPECT_STREQ(spec.name, "y:0");
  EXPECT_EQ(spec.dtype, TENON_FLOAT);
  EXPECT_EQ(spec.rank, -1);  // no weights are loaded, and nothing is inferred
  tenon_session* session = SessionOf(model, "y:0");
  tenon_model_free(model);  // the session does not need it
  EXPECT_THAT(RunNamed(session, {{"x", {1, 2}, {1, 2}}}, "y:0").values, ElementsAre(22, 24));
  tenon_session_free(session);
  EXPECT_THAT(Message(tenon_model_parse("\x01\x02", 2, &model)), HasSubstr("GraphDef"));
  EXPECT_THAT(Message(tenon_model_parse(nullptr, 0, &model)), HasSubstr("empty"));
}

TEST(CApiModel, OutputsOfASession) {
  tenon_model* model = ParsedGraph();
  tenon_session* session = SessionOf(model, "y");
  tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
  ASSERT_EQ(Message(tenon_session_output(session, 0, &spec)), "");
  EXPECT_STREQ(spec.name, "y");
  EXPECT_EQ(spec.dtype, TENON_FLOAT);
  ASSERT_EQ(spec.rank, 2);  // inferred from the shape of x
  EXPECT_THAT(std::vector<int64_t>(spec.dims, spec.dims + 2), ElementsAre(-1, 2));
  EXPECT_EQ(tenon_session_output_dtype(session, 0), TENON_FLOAT);
  EXPECT_EQ(tenon_session_output_shape(session, 1, nullptr), -1);
  EXPECT_EQ(tenon_session_output_dtype(session, 1), 0);
  EXPECT_THAT(Message(tenon_session_output(session, 1, &spec)), HasSubstr("no output 1"));
  ASSERT_EQ(Message(tenon_session_input(session, 1, &spec)), "");
  EXPECT_STREQ(spec.name, "d");
  EXPECT_EQ(spec.optional, 1);
  tenon_session_free(session);
  tenon_model_free(model);
}

TEST(CApiFeeding, ADefaultMayBeFed) {
  tenon_model* model = ParsedGraph();
  tenon_session* session = SessionOf(model, "y");
  const Feed x = {"x", {1, 2}, {1, 2}};
  EXPECT_THAT(RunNamed(session, {x}, "y").values, ElementsAre(22, 24));
  EXPECT_THAT(RunNamed(session, {x, {"d", {}, {1}}}, "y").values, ElementsAre(4, 6));
  EXPECT_THAT(RunNamed(session, {x, {"d:0", {}, {0}}}, "y").values, ElementsAre(2, 4));
  EXPECT_THAT(RunNamed(session, {x}, "y").values, ElementsAre(22, 24));
  // By position, it may be left out at the end.
  tenon_tensor* input = FloatTensor(x.dims, x.values);
  tenon_tensor* output = nullptr;
  EXPECT_EQ(Message(tenon_session_run(session, &input, 1, &output, 1)), "");
  EXPECT_EQ(static_cast<float*>(tenon_tensor_data(output))[0], 22);
  tenon_tensor_free(output);
  tenon_tensor_free(input);
  tenon_session_free(session);
  tenon_model_free(model);
}

TEST(CApiFeeding, WhatNoOutputNeedsMayBeFed) {
  tenon_model* model = ParsedGraph();
  tenon_session* session = SessionOf(model, "y");
  const Feed x = {"x", {1, 2}, {1, 2}}, unused = {"unused", {}, {5}};
  EXPECT_THAT(RunNamed(session, {x, unused}, "y").values, ElementsAre(22, 24));
  EXPECT_THAT(RunNamed(session, {x, {"nobody", {}, {5}}}, "y").error,
              HasSubstr("no input 'nobody'"));
  tenon_session_free(session);
  tenon_model_free(model);
}

TEST(CApiFeeding, AnInnerTensorCutsTheGraph) {
  tenon_model* model = ParsedGraph();
  tenon_session* session = SessionOf(model, "y", "sum:0");
  ASSERT_EQ(tenon_session_num_inputs(session), 1);
  EXPECT_THAT(RunNamed(session, {{"sum", {3}, {1, 2, 3}}}, "y").values, ElementsAre(2, 4, 6));
  EXPECT_THAT(RunNamed(session, {{"sum:0", {}, {1}}, {"x", {1, 2}, {1, 2}}}, "y").values,
              ElementsAre(2));
  tenon_session_free(session);
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.feeds = "nobody";
  EXPECT_THAT(Message(tenon_session_create_from_model(model, &options, &session)),
              HasSubstr("no tensor 'nobody'"));
  tenon_model_free(model);
}

// A session that comes from the disk cache takes and tells the same.
TEST(CApiFeeding, ThroughTheDiskCache) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "c_api_cache";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder / "graph.pbtxt", cache = folder / "cache";
  std::ofstream(path) << kGraph;
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.cache_dir = cache.c_str();
  options.fetches = "y";
  for (const char* state : {"written", "read"}) {
    tenon_session* session = nullptr;
    ASSERT_EQ(Message(tenon_session_create(path.c_str(), &options, &session)), "");
    const Feed x = {"x", {1, 2}, {1, 2}}, unused = {"unused", {}, {5}};
    EXPECT_THAT(RunNamed(session, {x, unused}, "y").values, ElementsAre(22, 24));
    EXPECT_THAT(RunNamed(session, {x, {"d", {}, {1}}}, "y").values, ElementsAre(4, 6));
    EXPECT_EQ(tenon_session_output_shape(session, 0, nullptr), 2);
    tenon_text* report = nullptr;
    ASSERT_EQ(Message(tenon_session_report(session, &report)), "");
    EXPECT_THAT(tenon_text_data(report), HasSubstr(std::string("{\"state\":\"") + state));
    tenon_text_free(report);
    tenon_session_free(session);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tenon::c_api_test
