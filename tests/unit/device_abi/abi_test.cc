// Tests the C functions that Tenon provides to plug-ins: a plug-in that calls all of them
// (tests/plugin/abi_probe.c) gets the same answers as in TensorFlow, which are in abi_probe.txt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/text.h"
#include "ops/op.h"
#include "runtime/devices/registry.h"
#include "runtime/session/session.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An op from TensorFlow's own tests, as the graphs below use it.
const OpRegistration default_attrs({
    .name = "DefaultAttrs",
    .attrs = "string_val: string = abc; string_list_val: list(string); int_val: int = 123; "
             "int_list_val: list(int); float_val: float = 10; float_list_val: list(float); "
             "bool_val: bool = true; bool_list_val: list(bool); type_val: type = int32; "
             "type_list_val: list(type); shape_val: shape; shape_list_val: list(shape); "
             "tensor_val: tensor; tensor_list_val: list(tensor)",
    .shape = [](ShapeContext&) { return absl::OkStatus(); },
    .eager = false,
});

// As abi_probe.py makes them.
constexpr char kAttributes[] = R"(
%attrs = DefaultAttrs() {string_val="hello", string_list_val=["one", "three", ""], int_val=41,
  int_list_val=[1, -2, 3], float_val=2.5, float_list_val=[0.5, -1.0], bool_val=true,
  bool_list_val=[true, false, true], type_val=bfloat16, type_list_val=[float, int32],
  shape_val=<2,3,4>, shape_list_val=[<2>, <3,4>, <>], tensor_val=float<2>{1.5, -2},
  tensor_list_val=[float<1>{1}, float<2>{2, 3}]} on "/device:APU:0"
target %attrs
)";
constexpr char kOtherAttributes[] = R"(
%attrs_other = DefaultAttrs() {string_val="", string_list_val=[:string], int_val=1099511627776,
  int_list_val=[-1, 1073741824], float_list_val=[:float], bool_val=false, bool_list_val=[:bool],
  type_list_val=[:type], shape_val=<*>, shape_list_val=[<?,3>, <*>], tensor_val=int32<>{1},
  tensor_list_val=[:tensor]} on "/device:APU:0"
target %attrs_other
)";

std::string Values(const std::string& node) {
  std::string text;
  const std::pair<const char*, const char*> inputs[] = {
      {"float", "<2,3>"}, {"float", "<2>"}, {"int32", "<4>"}, {"float", "<3>"}};
  for (int i = 0; i < 4; ++i) {
    const auto [dtype, shape] = inputs[i];
    absl::StrAppend(&text, "in in", i, " = %in", i, "\n%in", i, " = Placeholder() {dtype=", dtype,
                    ", shape=", shape, "}\n%neg", i, " = Neg(%in", i, ") {T=", dtype, "}\n");
  }
  absl::StrAppend(&text, "%", node,
                  " = IdentityN(%neg0, %neg1, %neg2, %neg3) {T=[float, float, int32, float]} on "
                  "\"/device:APU:0\"\n");
  for (int i = 0; i < 4; ++i) absl::StrAppend(&text, "out y", i, " = %", node, ":", i, "\n");
  return text;
}

std::vector<std::string> Lines(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return absl::StrSplit(text.str(), '\n');
}

std::unique_ptr<Session> Make(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  SessionOptions options;
  options.threads = 1;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::vector<Tensor> Feeds() {
  return {Tensor::From<float>(Shape({2, 3}), {1, -2, 3, 4, 5, -6}), Tensor::Vector<float>({7, -8}),
          Tensor::Vector<int32_t>({9, 10, 11, -12}), Tensor::Vector<float>({0.5, 1.5, -2.5})};
}

TEST(PluginAbi, AnswersAsTensorFlow) {
  const auto loaded = DeviceRegistry::Global().Load(TENON_APU_PROBE);
  ASSERT_TRUE(loaded.ok()) << loaded;
  const std::filesystem::path log =
      std::filesystem::path(testing::TempDir()) / absl::StrCat("abi_probe_", getpid());
  std::filesystem::remove(log);
  setenv("PROBE_LOG", log.c_str(), 1);
  for (const char* text : {kAttributes, kOtherAttributes}) {
    const auto attributes = Make(text);
    EXPECT_EQ(attributes->nodes_on_devices(), 1);
    const auto ran = attributes->Run(std::vector<Tensor>());
    ASSERT_TRUE(ran.ok()) << ran.status();
  }

  const auto values = Make(Values("probe"));
  const auto out = values->Run(Feeds());
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT((*out)[0].flat<float>(), ElementsAre(-1, 2, -3, -4, -5, 6));
  EXPECT_THAT((*out)[1].flat<float>(), ElementsAre(-7, 8));
  EXPECT_THAT((*out)[2].flat<int32_t>(), ElementsAre(-9, -10, -11, 12));
  EXPECT_THAT((*out)[3].flat<float>(), ElementsAre(-0.5, -1.5, 2.5));

  absl::Status failed = Make(Values("fail_create"))->Run(Feeds()).status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kFailedPrecondition) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("the probe was told to fail"));
  failed = Make(Values("fail_compute"))->Run(Feeds()).status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kDataLoss) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("the probe lost something"));
  unsetenv("PROBE_LOG");

  const std::vector<std::string> got = Lines(log);
  const std::vector<std::string> want = Lines(SourcePath("tests/plugin/abi_probe.txt"));
  std::filesystem::remove(log);
  ASSERT_GT(want.size(), 500u);
  std::string about;  // the line above with less indentation
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    if (!want[i].starts_with("  ")) about = want[i];
    EXPECT_EQ(got[i], want[i]) << "line " << i + 1 << ", after" << about;
  }
  EXPECT_EQ(got.size(), want.size());
}

}  // namespace
}  // namespace tenon
