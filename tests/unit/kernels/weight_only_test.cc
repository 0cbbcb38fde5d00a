// Products with weights in panels, on every instruction set, compared with sums in double.
#include "kernels/matmul/weight_only.h"

#include <Eigen/Core>
#include <cstring>

#include "kernels/matmul/panel_layout.h"
#include "kernels/matmul/panel_product_simd.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct Problem {
  DType dtype;
  int bits;
  DType scales;  // kInvalid: none
  bool zeros;
  bool transposed;
  int64_t m, k, n, group;
  friend void PrintTo(const Problem& p, std::ostream* os) {
    *os << Name(p.dtype) << p.bits << " scales " << static_cast<int>(p.scales)
        << (p.zeros ? "z" : "") << (p.transposed ? "t " : " ") << p.m << "x" << p.k << "x" << p.n
        << "/" << p.group;
  }
};

class WeightOnlyTest : public TargetTest<Problem> {};

void Fill(Tensor& t, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const float v = uniform(random);
    switch (t.dtype()) {
      case DType::kFloat:
        t.data<float>()[i] = v;
        break;
      case DType::kBfloat16:
        t.data<bfloat16>()[i] = bfloat16(v);
        break;
      case DType::kHalf:
        t.data<half>()[i] = half(v);
        break;
      default:
        static_cast<uint8_t*>(t.raw())[i] = static_cast<uint8_t>(random());
    }
  }
}

// Zeros are small integers, which every dtype of scales represents.
void FillZeros(Tensor& t, std::mt19937& random) {
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const float v = static_cast<float>(static_cast<int>(random() % 17) - 8);
    if (t.dtype() == DType::kFloat) t.data<float>()[i] = v;
    if (t.dtype() == DType::kBfloat16) t.data<bfloat16>()[i] = bfloat16(v);
    if (t.dtype() == DType::kHalf) t.data<half>()[i] = half(v);
  }
}

TEST_P(WeightOnlyTest, SumsProducts) {
  const Problem& p = GetCase();
  std::mt19937 random(11);
  const int64_t groups = (p.k + p.group - 1) / p.group;
  const int64_t rows = p.bits == 4 ? groups * p.group / 2 : p.k;
  const auto matrix = [&](int64_t down, int64_t right) {
    return p.transposed ? Shape({right, down}) : Shape({down, right});
  };
  Node node = MakeNode("_MklNativeWeightOnlyMatMul");
  node.attrs["bits"] = int64_t{p.bits};
  node.attrs["group"] = p.group;
  node.attrs["transposed"] = p.transposed;
  node.attrs["num_scales"] = int64_t{p.scales != DType::kInvalid};
  node.attrs["num_zeros"] = int64_t{p.zeros};
  node.attrs["num_args"] = int64_t{0};
  std::vector<Tensor> inputs = {Uniform(Shape({p.m, p.k}), 3)};
  inputs.push_back(*Tensor::Allocate(p.dtype, matrix(rows, p.n)));
  Fill(inputs[1], random);
  if (p.scales != DType::kInvalid) {
    inputs.push_back(*Tensor::Allocate(p.scales, matrix(groups, p.n)));
    Fill(inputs[2], random);
  }
  if (p.zeros) {
    inputs.push_back(*Tensor::Allocate(p.scales, matrix(groups, p.n)));
    FillZeros(inputs[3], random);
  }

  const auto w = DescribeWeightOnly(AttrReader(node), inputs[1].shape(),
                                    inputs.size() > 2 ? inputs[2].shape() : Shape());
  ASSERT_TRUE(w.ok()) << w.status();
  std::vector<float> expanded(static_cast<size_t>(w->rows * w->columns));
  ExpandWeights(*w, p.dtype, inputs[1].raw(), p.scales, w->scaled ? inputs[2].raw() : nullptr,
                w->zeros ? inputs[3].raw() : nullptr, expanded.data());

  std::vector<std::unique_ptr<Constant>> constants;
  std::vector<Constant*> pointers = {nullptr};
  std::vector<TensorSpec> in = {{DType::kFloat, inputs[0].shape(), nullptr}};
  for (size_t i = 1; i < inputs.size(); ++i) {
    constants.push_back(std::make_unique<Constant>(inputs[i]));
    pointers.push_back(constants.back().get());
    in.push_back({inputs[i].dtype(), inputs[i].shape(), nullptr});
  }
  const std::vector<TensorSpec> out = {{DType::kFloat, Shape({p.m, p.n}), nullptr}};
  Flags flags;
  Services services;
  services.flags = &flags;
  for (const int threads : {1, 3}) {
    services.threads = threads;
    PrepareContext prepare(node, in, pointers, out, services);
    auto kernel = WeightOnlyPanels(prepare);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    Tensor y = *Tensor::Allocate(DType::kFloat, out[0].shape);
    Tensor scratch =
        *Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(prepare.scratch_bytes())}));
    std::memset(scratch.raw(), 0xff, scratch.bytes());
    std::vector<const void*> from(inputs.size(), nullptr);  // weights are not read when it runs
    from[0] = inputs[0].raw();
    std::vector<void*> to = {y.raw()};
    RunContext run(from.data(), to.data(), scratch.raw());
    ASSERT_TRUE((*kernel)->Run(run).ok());
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0, size = 0;
        for (int64_t t = 0; t < p.k; ++t) {
          const int64_t at = p.transposed ? j * w->rows + t : t * w->columns + j;
          const double a = inputs[0].data<float>()[i * p.k + t];
          sum += a * static_cast<double>(expanded[static_cast<size_t>(at)]);
          // With zeros, (q - z) is summed as q and z apart.
          double largest = std::abs(static_cast<double>(expanded[static_cast<size_t>(at)]));
          if (p.zeros) largest += 16;
          size += std::abs(a) * largest;
        }
        EXPECT_NEAR(static_cast<double>(y.data<float>()[i * p.n + j]), sum,
                    size * static_cast<double>(p.k + 4) * 6e-8)
            << i << ", " << j << " on " << threads << " threads";
      }
    }
    for (const auto& constant : constants) {
      EXPECT_TRUE(constant->ReleasePlain());
      const auto plain = constant->Plain();
      ASSERT_TRUE(plain.ok()) << plain.status();
      EXPECT_TRUE(Identical(*plain, inputs[1 + static_cast<size_t>(&constant - constants.data())]));
    }
  }
}

std::vector<Problem> Problems() {
  std::vector<Problem> all;
  constexpr DType kNone = DType::kInvalid;
  const int64_t sizes[][3] = {{1, 1, 1},   {1, 40, 65}, {2, 33, 7},  {3, 64, 64},
                              {5, 96, 31}, {8, 72, 17}, {9, 65, 70}, {17, 300, 130}};
  for (const auto& [m, k, n] : sizes) {
    for (const bool transposed : {false, true}) {
      all.push_back({DType::kBfloat16, 16, kNone, false, transposed, m, k, n, k});
      all.push_back({DType::kHalf, 16, kNone, false, transposed, m, k, n, k});
      all.push_back({DType::kInt8, 8, DType::kFloat, false, transposed, m, k, n, 32});
      all.push_back({DType::kInt8, 8, DType::kHalf, true, transposed, m, k, n, 5});
      all.push_back({DType::kUint8, 8, DType::kBfloat16, true, transposed, m, k, n, k});
      all.push_back({DType::kUint8, 4, DType::kHalf, false, transposed, m, k, n, 32});
      all.push_back({DType::kUint8, 4, DType::kBfloat16, true, transposed, m, k, n, 8});
      all.push_back({DType::kUint8, 4, DType::kFloat, false, transposed, m, k, n, (k + 1) / 2 * 2});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Problems, WeightOnlyTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::ValuesIn(Problems())));

}  // namespace
}  // namespace tenon
