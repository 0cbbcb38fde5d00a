// Reports: their schemas, and that their numbers are those of the session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "include/tenon/tenon.h"
#include "tests/support/source_dir.h"
#include "tests/unit/include/c_api_support.h"

namespace tenon::c_api_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// The document, which it frees.
Json Take(tenon_status* status, tenon_text* text) {
  EXPECT_EQ(Message(status), "");
  const Json json = Json::parse(std::string(tenon_text_data(text), tenon_text_size(text)));
  tenon_text_free(text);
  return json;
}

class CApiReports : public ::testing::Test {
 protected:
  void SetUp() override {
    tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
    options.onednn_opts = 1;
    ASSERT_EQ(Message(tenon_session_create(path_.c_str(), &options, &session_)), "");
    options_.profile = tenon_profile_create();
  }
  void TearDown() override {
    tenon_profile_free(options_.profile);
    tenon_session_free(session_);
  }
  std::string Run(int64_t rows, int64_t columns = 16) {
    tenon_tensor* input =
        FloatTensor({rows, columns}, std::vector<float>(static_cast<size_t>(rows * columns), 1));
    tenon_tensor* output = nullptr;
    const std::string message = Message(
        tenon_session_run_with(session_, &options_, nullptr, &input, 1, nullptr, &output, 1));
    tenon_tensor_free(output);
    tenon_tensor_free(input);
    return message;
  }
  const std::string path_ = SourcePath("tests/models/mlp/saved_model");
  tenon_session* session_ = nullptr;
  tenon_run_options options_ = TENON_RUN_OPTIONS_INIT;
};

TEST_F(CApiReports, OfASession) {
  ASSERT_EQ(Run(2), "");
  ASSERT_EQ(Run(5), "");
  ASSERT_EQ(Run(5), "");
  tenon_text* text = nullptr;
  tenon_status* status = tenon_session_report(session_, &text);
  const Json report = Take(status, text);
  EXPECT_EQ(report["schema"], "tenon.session");
  EXPECT_EQ(report["version"], 1);
  EXPECT_EQ(report["onednn_opts"], true);
  const Json& rewriting = report["rewriting"];
  EXPECT_EQ(rewriting["status"], "");
  EXPECT_GT(rewriting["ops_before"]["MatMul"], 0);
  int fired = 0;
  for (const Json& phase : rewriting["phases"]) {
    for (const Json& rule : phase["rules"]) fired += rule["fired"].get<int>();
  }
  EXPECT_GT(fired, 0);
  ASSERT_EQ(report["plans"].size(), 2);
  EXPECT_EQ(report["plans"][0]["inputs"][0]["name"], "features");
  EXPECT_EQ(report["plans"][0]["inputs"][0]["dtype"], "float");
  EXPECT_EQ(report["plans"][0]["inputs"][0]["shape"], Json({2, 16}));
  EXPECT_EQ(report["plans"][1]["inputs"][0]["shape"], Json({5, 16}));
  EXPECT_GT(report["plans"][1]["steps"], 0);
  EXPECT_EQ(report["plan_cache"]["misses"], 2);
  EXPECT_EQ(report["plan_cache"]["hits"], 1);

  tenon_memory memory = TENON_MEMORY_INIT;
  ASSERT_EQ(Message(tenon_session_memory(session_, &memory)), "");
  EXPECT_EQ(report["memory"]["weights"], memory.weights);
  EXPECT_EQ(report["memory"]["packed"], memory.packed);
  EXPECT_GT(memory.weights + memory.packed, 0);
  EXPECT_GT(memory.plans, 0);
  memory.size = 0;
  EXPECT_THAT(Message(tenon_session_memory(session_, &memory)), HasSubstr("size"));
}

TEST_F(CApiReports, AProfileOfRuns) {
  ASSERT_EQ(Run(2), "");
  ASSERT_EQ(Run(2), "");
  ASSERT_EQ(Run(5), "");
  EXPECT_NE(Run(5, 15), "");  // a failed run does not count
  EXPECT_EQ(tenon_profile_num_runs(options_.profile), 3);
  tenon_text* text = nullptr;
  tenon_status* status = tenon_profile_report(options_.profile, &text);
  const Json report = Take(status, text);
  EXPECT_EQ(report["schema"], "tenon.profile");
  EXPECT_EQ(report["runs"], 3);
  ASSERT_EQ(report["plans"].size(), 2);
  const Json& plan = report["plans"][0];
  EXPECT_EQ(plan["runs"], 2);
  int64_t ns = 0, flops = 0;
  for (const Json& step : plan["steps"]) {
    EXPECT_NE(step["node"], "");
    EXPECT_LE(step["fastest_ns"].get<int64_t>() * 2, step["ns"].get<int64_t>());
    EXPECT_GT(step["bytes"], 0);
    ns += step["ns"].get<int64_t>();
    flops += step["flops"].get<int64_t>();
  }
  EXPECT_GT(ns, 0);
  EXPECT_GE(plan["ns"].get<int64_t>(), ns);
  EXPECT_GT(flops, 0);

  status = tenon_profile_trace(options_.profile, &text);
  const Json trace = Take(status, text);
  size_t runs = 0, steps = 0;
  double run_begin = 0, run_end = 0, last = 0;
  for (const Json& event : trace["traceEvents"]) {
    EXPECT_EQ(event["ph"], "X");
    const double begin = event["ts"].get<double>(), end = begin + event["dur"].get<double>();
    if (event["cat"] == "run") {
      ++runs;
      run_begin = last = begin;
      run_end = end;
      continue;
    }
    ++steps;
    EXPECT_GE(begin, last - 0.01);  // one after the other, within their run
    EXPECT_GE(begin, run_begin - 0.01);
    EXPECT_LE(end, run_end + 0.01);
    last = end;
  }
  EXPECT_EQ(runs, 3u);
  EXPECT_EQ(steps, 2 * report["plans"][0]["steps"].size() + report["plans"][1]["steps"].size());
  tenon_profile_clear(options_.profile);
  EXPECT_EQ(tenon_profile_num_runs(options_.profile), 0);
}

TEST_F(CApiReports, Explains) {
  tenon_model* model = nullptr;
  ASSERT_EQ(Message(tenon_model_open(path_.c_str(), &model)), "");
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.onednn_opts = 1;
  tenon_text* text = nullptr;
  tenon_status* status = tenon_model_explain(model, &options, nullptr, 0, &text);
  Json report = Take(status, text);
  EXPECT_EQ(report["schema"], "tenon.explanation");
  ASSERT_GT(report["applied"].size(), 0);
  EXPECT_NE(report["applied"][0]["rule"], "");
  EXPECT_GT(report["applied"][0]["diff"].size(), 0);
  ASSERT_GT(report["nodes"].size(), 0);
  const Json node = report["nodes"][0];
  EXPECT_EQ(node["op"], "MatMul");
  EXPECT_EQ(node["accelerated"], true);
  bool fired = false;
  for (const Json& rule : node["rules"]) {
    fired = fired || rule["fired"] == true;
    EXPECT_NE(rule["reason"], "");
    EXPECT_EQ(rule["why"].is_null(), rule["fired"] == true);
  }
  EXPECT_TRUE(fired);

  const std::string name = node["node"];
  const char* one = name.c_str();
  status = tenon_model_explain(model, &options, &one, 1, &text);
  EXPECT_EQ(Take(status, text)["nodes"], Json::array({node}));
  const char* all = "*";
  status = tenon_model_explain(model, &options, &all, 1, &text);
  EXPECT_GT(Take(status, text)["nodes"].size(), report["nodes"].size());
  const char* nobody = "nobody";
  EXPECT_THAT(Message(tenon_model_explain(model, &options, &nobody, 1, &text)),
              HasSubstr("nobody"));
  options.onednn_opts = 0;
  status = tenon_model_explain(model, &options, nullptr, 0, &text);
  report = Take(status, text);
  EXPECT_EQ(report["onednn_opts"], false);
  EXPECT_EQ(report["applied"].size(), 0);
  tenon_model_free(model);
}

// tests/explore_test.py checks the whole document.
TEST_F(CApiReports, Explores) {
  tenon_model* model = nullptr;
  ASSERT_EQ(Message(tenon_model_open(path_.c_str(), &model)), "");
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.onednn_opts = 1;
  options.threads = 1;
  tenon_text* text = nullptr;
  tenon_status* status = tenon_model_explore(model, &options, nullptr, 0, 1, &text);
  Json report = Take(status, text);
  EXPECT_EQ(report["schema"], "tenon.explore");
  EXPECT_EQ(report["version"], 1);
  EXPECT_TRUE(report["steps"].is_null());
  EXPECT_TRUE(report["profile"].is_null());
  EXPECT_GT(report["final"].size(), 0);

  tenon_tensor* input = FloatTensor({1, 16}, std::vector<float>(16, 1));
  status = tenon_model_explore(model, &options, &input, 1, 0.01, &text);
  report = Take(status, text);
  EXPECT_EQ(report["planning"], "");
  EXPECT_EQ(report["steps"].size(), 4);
  EXPECT_GT(report["profile"]["runs"], 0);
  EXPECT_GT(report["machine"]["peak_flops_per_s"], 0);
  EXPECT_THAT(Message(tenon_model_explore(model, &options, nullptr, 1, 0, &text)),
              HasSubstr("null argument"));
  EXPECT_THAT(Message(tenon_model_explore(model, &options, &input, 1, -1, &text)),
              HasSubstr("negative"));
  tenon_tensor_free(input);
  tenon_model_free(model);
}

// tests/unit/runtime/explore_page_test.cc looks into pages.
TEST_F(CApiReports, ExploresAsAPage) {
  tenon_model* model = nullptr;
  ASSERT_EQ(Message(tenon_model_open(path_.c_str(), &model)), "");
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.onednn_opts = 1;
  options.threads = 1;
  tenon_text* text = nullptr;
  const auto take = [&] {
    const std::string page(tenon_text_data(text), tenon_text_size(text));
    tenon_text_free(text);
    return page;
  };
  ASSERT_EQ(
      Message(tenon_model_explore_page(model, &options, nullptr, 0, 0, nullptr, nullptr, &text)),
      "");
  const std::string one = take();
  EXPECT_EQ(one.rfind("<!DOCTYPE html>", 0), 0u);
  tenon_tensor* input = FloatTensor({1, 16}, std::vector<float>(16, 1));
  ASSERT_EQ(Message(tenon_model_explore_page(model, &options, &input, 1, 0, model, nullptr, &text)),
            "");
  EXPECT_GT(take().size(), one.size());
  EXPECT_THAT(
      Message(tenon_model_explore_page(nullptr, &options, nullptr, 0, 0, nullptr, nullptr, &text)),
      HasSubstr("null argument"));
  EXPECT_THAT(
      Message(tenon_model_explore_page(model, &options, &input, -1, 0, nullptr, nullptr, &text)),
      HasSubstr("null argument"));
  tenon_tensor_free(input);
  tenon_model_free(model);
}

TEST(CApiDevices, TheCpuIsOne) {
  tenon_text* text = nullptr;
  tenon_status* status = tenon_devices(nullptr, &text);
  const Json report = Take(status, text);
  EXPECT_EQ(report["schema"], "tenon.devices");
  EXPECT_EQ(report["devices"][0]["name"], "CPU:0");
  EXPECT_TRUE(report["devices"][0]["kernels"].is_null());
  EXPECT_THAT(Message(tenon_devices("/no/such/plugin.so", &text)), HasSubstr("/no/such/plugin.so"));
}

}  // namespace
}  // namespace tenon::c_api_test
