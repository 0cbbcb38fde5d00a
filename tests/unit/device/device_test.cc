// The sample plug-in (tests/plugin/apu) in Tenon's own runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "ops/control/on_device.h"
#include "ops/op.h"
#include "tests/support/source_dir.h"
#include "tests/unit/device/apu_test.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeviceTest : public ApuTest {
 protected:
  Endpoint Input(const std::string& name, DType dtype = DType::kFloat) {
    Node node;
    node.op = "Placeholder";
    node.name = name;
    node.attrs["dtype"] = dtype;
    node.attrs["shape"] = Shape::Unknown();
    const NodeId id = *graph_.AddNode(std::move(node));
    graph_.AddInput({name, id});
    return {id, 0};
  }
  Endpoint Op(const std::string& op, const std::string& name, std::vector<Endpoint> inputs,
              AttrMap attrs = {{"T", DType::kFloat}}, const std::string& device = "") {
    Node node;
    node.op = op;
    node.name = name;
    node.device = device;
    node.inputs.assign(inputs.begin(), inputs.end());
    node.attrs = std::move(attrs);
    EXPECT_TRUE(CompleteAttrs(*FindOp(op).info, node).ok());
    return {*graph_.AddNode(std::move(node)), 0};
  }
  void Output(Endpoint e) { graph_.AddOutput({graph_.node(e.node).name, e}); }
  std::unique_ptr<Session> Make(const std::string& device = "APU:0") {
    return MakeSession(graph_, device);
  }

  Graph graph_;
};

TEST_F(DeviceTest, IsListedAndFoundByName) {
  const auto device = DeviceRegistry::Global().Find("apu");
  ASSERT_TRUE(device.ok()) << device.status();
  const DeviceInfo info = (*device)->Describe();
  EXPECT_EQ(info.name, "APU:0");
  EXPECT_EQ(info.platform, "SAMPLE_APU");
  EXPECT_EQ(info.source, ApuPath());
  EXPECT_EQ(info.total_bytes, int64_t{1} << 30);
  EXPECT_EQ(*DeviceRegistry::Global().Find("CPU:0"), nullptr);
  EXPECT_THAT(std::string(DeviceRegistry::Global().Find("GPU:3").status().message()),
              HasSubstr("no device 'GPU:3'; devices are CPU:0, APU:0"));
}

TEST_F(DeviceTest, CopiesOnlyWhereTheDeviceChanges) {
  const Endpoint x = Op("Neg", "negative", {Input("x")});
  const Endpoint a = Op("Relu", "a", {x});
  const Endpoint same = Op("Reshape", "same", {a, Op("Shape", "shape", {x})},
                           {{"T", DType::kFloat}, {"Tshape", DType::kInt32}});
  const Endpoint b = Op("Relu", "b", {same});
  Output(Op("Neg", "y", {b}));
  const ApuCounts since;
  {
    const auto session = Make();
    EXPECT_EQ(session->nodes_on_devices(), 2);
    for (int run = 1; run <= 3; ++run) {
      const auto out = Run(*session, {Floats({-1, 2, -3, 0})});
      ASSERT_EQ(out.size(), 1u);
      EXPECT_THAT(out[0].flat<float>(), ElementsAre(-1, 0, -3, 0));
      EXPECT_EQ(since("kernel_runs"), 2 * run);
      EXPECT_EQ(since("copies_to_device"), run);
      EXPECT_EQ(since("copies_to_host"), run);
      // Both kernels overwrite their input.
      EXPECT_EQ(since("allocations"), run);
      EXPECT_EQ(since("blocks_in_use"), 0);
    }
  }
  EXPECT_EQ(since("kernels_made"), 2);
  EXPECT_EQ(since("kernels_deleted"), 2);
  EXPECT_EQ(since("bytes_in_use"), 0);
  EXPECT_EQ(since("streams_in_use"), 0);
  EXPECT_EQ(since("events_in_use"), 0);
}

TEST_F(DeviceTest, ATensorIsCopiedOnceForAllItsReaders) {
  const Endpoint x = Input("x");
  const Endpoint a = Op("Relu", "a", {x});
  const Endpoint b = Op("Relu", "b", {x});
  const Endpoint c = Op("Relu", "c", {a});  // `a` has another reader: no kernel may overwrite it
  Output(Op("Neg", "d", {a}));
  Output(Op("Exp", "e", {a}));
  Output(a);
  Output(Op("AddV2", "f", {b, c}));
  const auto session = Make();
  const ApuCounts since;
  const auto out = Run(*session, {Floats({-1, 2})});
  ASSERT_EQ(out.size(), 4u);
  EXPECT_THAT(out[0].flat<float>(), ElementsAre(0, -2));
  EXPECT_THAT(out[2].flat<float>(), ElementsAre(0, 2));
  EXPECT_THAT(out[3].flat<float>(), ElementsAre(0, 4));
  EXPECT_EQ(since("copies_to_device"), 1);
  EXPECT_EQ(since("copies_to_host"), 3);  // a, b, c
  EXPECT_EQ(since("blocks_in_use"), 0);
}

TEST_F(DeviceTest, WeightsStayThere) {
  const Endpoint w = Op("Const", "w", {}, {{"dtype", DType::kFloat}, {"value", Floats({-1, 5})}});
  const Endpoint r = Op("Relu", "r", {w});
  Output(Op("AddV2", "y", {r, Input("x")}));
  auto session = Make();
  const ApuCounts since;
  for (int run = 1; run <= 3; ++run) {
    const auto out = Run(*session, {Floats({1, 1})});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_THAT(out[0].flat<float>(), ElementsAre(1, 6));
    EXPECT_EQ(since("copies_to_device"), 1);
    EXPECT_EQ(since("blocks_in_use"), 1);
  }
  session.reset();
  EXPECT_EQ(since("blocks_in_use"), 0);
}

TEST_F(DeviceTest, OnlyWhatItHasAKernelForGoesThere) {
  Output(Op("Relu", "y", {Input("x", DType::kDouble)}, {{"T", DType::kDouble}}));
  const auto session = Make();
  EXPECT_EQ(session->nodes_on_devices(), 0);
  const auto out = Run(*session, {Tensor::Vector<double>({-1, 2})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0].flat<double>(), ElementsAre(0, 2));
}

TEST_F(DeviceTest, IsNotFusedAway) {
  const Endpoint w =
      Op("Const", "w", {},
         {{"dtype", DType::kFloat}, {"value", Tensor::From<float>(Shape({2, 2}), {1, 0, 0, 1})}});
  const Endpoint m = Op("MatMul", "m", {Input("x"), w});
  Output(Op("Relu", "y", {m}));
  for (const char* device : {"", "CPU", "APU"}) {
    const auto session = Make(device);
    const bool there = std::string(device) == "APU";
    EXPECT_EQ(session->nodes_on_devices(), there ? 1 : 0);
    EXPECT_EQ(session->report().rewrite.ops_after.count(kOnDevice), there ? 1u : 0u);
    EXPECT_EQ(session->report().rewrite.ops_after.count("_MklNativeFusedMatMul"), there ? 0u : 1u);
    const auto out = Run(*session, {Tensor::From<float>(Shape({1, 2}), {-1, 2})});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_THAT(out[0].flat<float>(), ElementsAre(0, 2));
  }
}

TEST_F(DeviceTest, ANodeMayAskForItself) {
  const Endpoint x = Input("x");
  const AttrMap attrs = {{"T", DType::kFloat}};
  Output(Op("Relu", "there", {x}, attrs, "/job:localhost/replica:0/task:0/device:APU:0"));
  Output(Op("Relu", "here", {x}, attrs, "/device:CPU:0"));
  Output(Op("Relu", "nowhere", {x}, attrs, "/device:XPU:7"));
  const auto session = Make("");
  EXPECT_EQ(session->nodes_on_devices(), 1);
  for (const Tensor& t : Run(*session, {Floats({-1, 2})})) {
    EXPECT_THAT(t.flat<float>(), ElementsAre(0, 2));
  }
}

TEST_F(DeviceTest, ShapesThatOnlyTheRunKnows) {
  const Endpoint unique =
      Op("Unique", "unique", {Input("x")}, {{"T", DType::kFloat}, {"out_idx", DType::kInt32}});
  Output(Op("Neg", "y", {Op("Relu", "r", {unique})}));
  const auto session = Make();
  const ApuCounts since;
  for (const auto& [x, y] : std::vector<std::pair<std::vector<float>, std::vector<float>>>{
           {{1, 1, -2, 3}, {-1, 0, -3}}, {{4, 4, 4, 4}, {-4}}, {{}, {}}}) {
    const auto out = Run(*session, {Floats(x)});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_THAT(out[0].flat<float>(), ::testing::ElementsAreArray(y));
  }
  EXPECT_EQ(since("kernel_runs"), 2);  // none for empty tensors
  EXPECT_EQ(since("blocks_in_use"), 0);
}

TEST_F(DeviceTest, AKernelThatFailsIsNamed) {
  Output(Op("Relu", "broken", {Op("Neg", "n", {Input("x")})}));
  const auto session = Make();
  const ApuCounts since;
  {
    const ApuFails failing("create");
    const std::string error(session->Run(std::vector<Tensor>{Floats({1})}).status().message());
    EXPECT_THAT(error, HasSubstr("node 'broken'"));
    EXPECT_THAT(error, HasSubstr("kernel of APU:0: no APU is free"));
  }
  {
    const ApuFails failing("kernel");
    const std::string error(session->Run(std::vector<Tensor>{Floats({1})}).status().message());
    EXPECT_THAT(error, HasSubstr("node 'broken'"));
    EXPECT_THAT(error, HasSubstr("the APU has lost its way"));
  }
  EXPECT_EQ(since("blocks_in_use"), 0);
  const auto out = Run(*session, {Floats({-1})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0].flat<float>(), ElementsAre(1));
}

TEST_F(DeviceTest, MemoryThatIsNotThereIsAnError) {
  Output(Op("Relu", "large", {Input("x")}));
  const auto session = Make();
  const ApuCounts since;
  auto x = Tensor::Allocate(DType::kFloat, Shape({(int64_t{1} << 28) + 1}));
  ASSERT_TRUE(x.ok());
  const absl::Status status = session->Run(std::vector<Tensor>{*x}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("device APU:0 has no"));
  EXPECT_EQ(since("blocks_in_use"), 0);
}

TEST_F(DeviceTest, SessionsRunAtOnce) {
  Endpoint x = Input("x");
  for (int i = 0; i < 4; ++i) {
    x = Op("Relu", absl::StrCat("relu", i), {Op("Neg", absl::StrCat("neg", i), {x})});
    x = Op("AddV2", absl::StrCat("sum", i), {x, {graph_.inputs()[0].node, 0}});
  }
  Output(x);
  const ApuCounts since;
  {
    const std::vector<std::shared_ptr<Session>> sessions = {Make(), Make()};
    const auto cpu = Make("CPU");
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const Tensor in = Floats({-1.0f * t, 2, 3.0f * i, -4});
          const auto want = cpu->Run(std::vector<Tensor>{in});
          const auto got = sessions[t % 2]->Run(std::vector<Tensor>{in});
          if (!want.ok() || !got.ok() || !Identical((*want)[0], (*got)[0])) ++wrong;
        }
      });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(since("kernel_runs"), 4 * 50 * 4);
  }
  EXPECT_EQ(since("blocks_in_use"), 0);
  EXPECT_EQ(since("streams_in_use"), 0);
}

TEST(PluginAbi, AMovedTensorIsTheTensor) {
  const int64_t dims[] = {4};
  TF_Tensor* const t = TF_AllocateTensor(TF_FLOAT, dims, 1, 16);
  TF_Tensor* const moved = TF_TensorMaybeMove(t);
  EXPECT_EQ(moved, t);  // so that it is deleted once
  TF_DeleteTensor(moved);
}

TEST(PluginAbi, ABitcastCannotGrow) {
  const int64_t dims[] = {4}, large[] = {int64_t{1} << 61};
  TF_Tensor* const from = TF_AllocateTensor(TF_FLOAT, dims, 1, 16);
  TF_Tensor* const to = TF_AllocateTensor(TF_FLOAT, dims, 1, 16);
  TF_Status* const status = TF_NewStatus();
  TF_TensorBitcastFrom(from, TF_COMPLEX128, to, large, 1, status);
  EXPECT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
  const int64_t two[] = {2};
  TF_TensorBitcastFrom(from, TF_DOUBLE, to, two, 1, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK);
  EXPECT_EQ(TF_TensorData(to), TF_TensorData(from));
  TF_DeleteStatus(status);
  TF_DeleteTensor(to);
  TF_DeleteTensor(from);
}

TEST_F(DeviceTest, WhatIsNoPlugInIsRefused) {
  DeviceRegistry& plugins = DeviceRegistry::Global();
  EXPECT_TRUE(plugins.Load(ApuPath()).ok());  // again: nothing happens
  const absl::Status missing = plugins.Load("/nowhere/libapu.so");
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/nowhere/libapu.so"));
  const absl::Status source = plugins.Load(SourcePath("README.md"));
  EXPECT_TRUE(absl::IsInvalidArgument(source)) << source;
  const absl::Status other = plugins.Load(TENON_DEVICE_ABI);
  EXPECT_THAT(std::string(other.message()), HasSubstr("it has no SE_InitPlugin"));
}

}  // namespace
}  // namespace tenon
