#include <gtest/gtest.h>

#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Names = std::vector<std::string>;

struct EinsumCase {
  const char* equation;
  Shape a, b;
  bool accelerated = true;
};

const EinsumCase kCases[] = {
    {"abc,cde->abde", {2, 5, 24}, {24, 3, 8}},
    {"abcd,cde->abe", {2, 5, 3, 8}, {3, 8, 24}},
    {"aecd,abcd->acbe", {2, 7, 3, 16}, {2, 5, 3, 16}},
    {"acbe,aecd->abcd", {2, 3, 5, 7}, {2, 7, 3, 16}},
    {"BTNH,BSNH->BNTS", {1, 128, 12, 64}, {1, 128, 12, 64}},
    {"BNTS,BSNH->BTNH", {2, 4, 32, 32}, {2, 32, 4, 16}},
    {"ij,jk->ik", {3, 4}, {4, 5}},
    {"ij,kj->ki", {3, 4}, {5, 4}},
    {"ij,kj->ik", {1, 4}, {5, 4}},
    {"ji,jk->ki", {4, 3}, {4, 5}},
    {"i,j->ij", {3}, {4}},
    {"i,i->", {5}, {5}},
    {"bi,bij->bj", {2, 3}, {2, 3, 4}},
    {"...ij,...jk->...ik", {2, 1, 3, 4}, {3, 4, 5}},
    {"...d,de->...e", {2, 3, 4}, {4, 5}},
    {"abcd,abed->abce", {2, 3, 1, 8}, {2, 3, 5, 8}},
    {"abc,adc->bd", {4, 2, 3}, {4, 5, 3}},  // the sum over a and c is not contiguous in b
    {"ab,b->a", {4, 6}, {6}},
    {"ij,ij->ij", {3, 4}, {3, 4}},
    {"bthf,bhf->bth", {2, 7, 3, 19}, {2, 3, 19}},
    {"bthd,bth->bthd", {2, 5, 3, 21}, {2, 5, 3}},
    {"bth,bthd->bthd", {2, 5, 3}, {2, 5, 3, 8}},
    {"bnd,bnd->bn", {3, 11, 33}, {3, 11, 33}},
    {"bijc,bjic->bij", {2, 4, 5, 3}, {2, 5, 4, 3}},
    {"kab,kab->ab", {300, 3, 9}, {300, 3, 9}},
    {"kab,kb->ab", {5, 3, 17}, {5, 17}},
    {"klab,lkb->ab", {4, 5, 3, 17}, {5, 4, 17}},
    {"ab,b->ab", {3, 35}, {35}},
    // Outer products, whose rows are short and which threads split anywhere.
    {"bhd,bmd->bhmd", {7, 61, 12}, {7, 50, 12}},
    {"bhd,bmd->bhmd", {2, 5, 35}, {2, 3, 35}},
    {"bhd,bmd->bhmd", {2, 33, 1}, {2, 20, 1}},
    {"kbhd,kbmd->bhmd", {5, 3, 31, 12}, {5, 3, 40, 12}},
    {"abc,abc->abc", {90, 31, 9}, {90, 31, 9}},
    {"abc,bc->abc", {90, 31, 9}, {31, 9}},
    {"etd,te->td", {8, 6, 19}, {6, 8}},
    {"edt,te->td", {8, 19, 6}, {6, 8}},
    // One tensor or several are transposed first.
    {"ibnd,jbnd->ijbn", {33, 2, 3, 16}, {40, 2, 3, 16}},
    {"ijbn,jbnd->ibnd", {33, 40, 2, 3}, {40, 2, 3, 21}},
    {"ibnd,snd->ibns", {19, 2, 3, 40}, {35, 3, 40}},
    {"abc,dcb->ad", {40, 7, 11}, {38, 11, 7}},
    {"acb,bcd->dac", {21, 5, 30}, {30, 5, 33}},
    {"kabc,bkcd->dabc", {35, 2, 19, 5}, {19, 35, 5, 31}},
    {"i...j,j...k->k...i", {37, 3, 2, 33}, {33, 3, 2, 35}},
    {"i...j,jk...->k...i", {37, 3, 1, 33}, {33, 35, 1, 2}},
    // An operand is summed first.
    {"ijk,kl->l", {2, 3, 4}, {4, 5}},
    {"ijk,kl->jl", {7, 33, 40}, {40, 35}},
    {"jki,lk->jl", {33, 40, 7}, {35, 40}},
    {"ijk,klm->jl", {7, 33, 40}, {40, 35, 3}},
    {"bij,bkl->b", {3, 5, 7}, {3, 4, 5}},
    {"aib,bjk->kab", {5, 9, 21}, {21, 3, 6}},
    {"iajb,bk->ak", {2, 3, 4, 5}, {5, 6}, false},  // over axes that are not adjacent
    {"ii,i->i", {4, 4}, {4}, false},
};

class Einsum : public testing::TestWithParam<EinsumCase> {};

TEST_P(Einsum, MatchesReference) {
  const EinsumCase& c = GetParam();
  const AttrMap attrs{{"T", DType::kFloat}, {"N", 2}, {"equation", c.equation}};
  const std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, c.a, 1),
                                      RandomTensor(DType::kFloat, c.b, 2)};
  for (const std::vector<int>& constants : {std::vector<int>{}, {0}, {1}}) {
    SCOPED_TRACE(c.equation);
    ExpectNativeMatches("Einsum", attrs, inputs, {.threads = 2, .constants = constants}, 64,
                        c.accelerated);
  }
}

struct UnaryCase {
  const char* equation;
  Shape a;
  DType dtype = DType::kFloat;
  bool accelerated = true;
};

TEST(EinsumOfOne, MatchesReference) {
  const UnaryCase cases[] = {
      {"ij->ji", {67, 130}},
      {"ij->ij", {3, 5}},
      {"nhwpqc->nhpwqc", {2, 7, 5, 3, 3, 4}},
      {"b...c->c...b", {3, 4, 5, 6}},
      {"ij->ji", {33, 17}, DType::kDouble},
      {"ij->ji", {33, 17}, DType::kBfloat16},
      {"ijk->kji", {5, 9, 4}, DType::kDouble},
      {"ijk->ik", {9, 33, 20}},
      {"ijk->ki", {9, 33, 20}},
      {"ij->j", {300, 21}},
      {"ij->i", {300, 21}},
      {"ijkl->lj", {4, 5, 6, 7}},  // after a transpose
      {"ijkl->jl", {4, 5, 6, 7}},
      {"ij->", {31, 33}},
      {"abc->", {31, 3, 7}},
      {"ij->i", {5, 1}},
      {"ij->i", {5, 3}, DType::kBfloat16, false},
      {"ii->i", {4, 4}, DType::kFloat, false},
      {"i->ii", {4}, DType::kFloat, false},
      {"ij->i", {5, 0}, DType::kFloat, false},
  };
  for (const UnaryCase& c : cases) {
    SCOPED_TRACE(c.equation);
    const AttrMap attrs{{"T", c.dtype}, {"N", 1}, {"equation", c.equation}};
    for (const int threads : {1, 3}) {
      ExpectNativeMatches("Einsum", attrs, {RandomTensor(c.dtype, c.a, 1)}, {.threads = threads},
                          64, c.accelerated);
    }
  }
}

// Compares the reference kernel with explicit sums.
TEST(EinsumReference, GivesSumsOfProducts) {
  const auto run = [](const std::string& equation, std::vector<Tensor> inputs) {
    const AttrMap attrs{
        {"T", DType::kFloat}, {"N", static_cast<int64_t>(inputs.size())}, {"equation", equation}};
    absl::StatusOr<RunResult> r = RunNode(MakeNode("Einsum", attrs), inputs, {});
    EXPECT_TRUE(r.ok()) << equation << r.status();
    return r.ok() ? r->outputs[0] : Tensor();
  };
  const Tensor a = Tensor::From<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = Tensor::From<float>({2, 3}, {1, 0, 2, 3, 1, 1});
  const Tensor s = Tensor::From<float>({2, 2}, {1, 2, 3, 4});
  const auto expect = [](const Tensor& got, const Shape& shape, std::vector<float> values) {
    EXPECT_TRUE(Identical(got, Tensor::From<float>(shape, std::move(values))));
  };
  expect(run("ij,kj->ik", {a, b}), {2, 2}, {7, 8, 16, 23});
  expect(run("ij,ij->j", {a, b}), {3}, {13, 5, 12});
  expect(run("ij->ji", {a}), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect(run("ij->", {a}), {}, {21});
  expect(run("ii->", {s}), {}, {5});
  expect(run("ii->i", {s}), {2}, {1, 4});
  expect(run("i->ii", {Tensor::From<float>({2}, {7, 9})}), {2, 2}, {7, 0, 0, 9});
  expect(run("ij,jk->k", {s, s}), {2}, {1 * 4 + 3 * 6, 2 * 4 + 4 * 6});
  expect(run("...,...->...", {a, Tensor::From<float>({1, 3}, {1, 10, 100})}), {2, 3},
         {1, 20, 300, 4, 50, 600});
}

TEST(EinsumErrors, BadEquations) {
  const Tensor a = RandomTensor(DType::kFloat, {2, 3}, 1);
  for (const char* equation :
       {"ij,jk->iz", "ij,jk", "ij->ij", "ijk,jk->i", "ij,ij->i->j", "i1,jk->i", "ij,jk->ik"}) {
    const AttrMap attrs{{"T", DType::kFloat}, {"N", 2}, {"equation", equation}};
    EXPECT_TRUE(absl::IsInvalidArgument(RunNode(MakeNode("Einsum", attrs), {a, a}, {}).status()))
        << equation;
  }
}

TEST(FusedEinsum, BiasOfSeveralDimensionsAndResidual) {
  struct Case {
    const char* equation;
    Shape a, b, bias, output;
  };
  for (const Case& c :
       {Case{"abc,cde->abde", {2, 5, 24}, {24, 3, 8}, {3, 8}, {2, 5, 3, 8}},
        Case{"abcd,cde->abe", {2, 5, 3, 8}, {3, 8, 24}, {24}, {2, 5, 24}},
        Case{"aecd,abcd->acbe", {2, 7, 3, 16}, {2, 5, 3, 16}, {2, 1, 1, 7}, {2, 3, 5, 7}},
        Case{"abc,cde->abde", {2, 5, 24}, {24, 3, 8}, {3, 1}, {2, 5, 3, 8}},
        Case{"ibnd,jbnd->ijbn", {33, 2, 3, 16}, {40, 2, 3, 16}, {3}, {33, 40, 2, 3}},
        Case{"abc,dcb->ad", {40, 7, 11}, {38, 11, 7}, {38}, {40, 38}}}) {
    const AttrMap attrs{{"T", DType::kFloat},
                        {"N", 2},
                        {"num_args", 2},
                        {"equation", c.equation},
                        {"fused_ops", Names{"Add", "Add", "Relu"}}};
    for (bool in_place : {false, true}) {
      SCOPED_TRACE(c.equation);
      ExpectNativeMatches(
          "_FusedEinsum", attrs,
          {RandomTensor(DType::kFloat, c.a, 1), RandomTensor(DType::kFloat, c.b, 2),
           RandomTensor(DType::kFloat, c.bias, 3), RandomTensor(DType::kFloat, c.output, 4)},
          {.threads = 2, .in_place = in_place}, 24);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Einsum, testing::ValuesIn(kCases));

}  // namespace
}  // namespace tenon
