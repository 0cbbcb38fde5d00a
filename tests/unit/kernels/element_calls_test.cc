// XLA's ops that call functions of scalars: windows against plain loops, scatters with known
// functions against those that call them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text.h"
#include "kernels/interface/types.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

std::vector<Tensor> RunText(const std::string& text, const std::vector<Tensor>& inputs,
                            bool rewrite, std::string* ops = nullptr) {
  auto graph = ParseGraph(text);
  if (!graph.ok()) ADD_FAILURE() << graph.status() << "\n" << text;
  SessionOptions options;
  options.threads = 2;
  options.flags = Flags();
  options.flags->onednn_opts = rewrite;
  auto session = Session::Create(*std::move(graph), options);
  if (!session.ok()) ADD_FAILURE() << session.status() << "\n" << text;
  if (ops != nullptr)
    *ops = absl::StrJoin((*session)->report().rewrite.ops_after, " ", absl::PairFormatter(":"));
  auto y = (*session)->Run(inputs);
  if (!y.ok()) ADD_FAILURE() << y.status() << "\n" << text;
  return y.ok() ? *std::move(y) : std::vector<Tensor>();
}

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(bits_() % static_cast<uint64_t>(n)); }
  Tensor Floats(const Shape& shape, bool with_nan) {
    Tensor t = *Tensor::Allocate(DType::kFloat, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      t.data<float>()[i] = with_nan && Below(40) == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                      : static_cast<float>(Below(64)) - 31.0f;
    }
    return t;
  }

 private:
  std::mt19937_64 bits_;
};

void ExpectSame(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const float a = got.data<float>()[i], b = want.data<float>()[i];
    ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
        << what << "\nelement " << i << ": " << a << ", but should be " << b;
  }
}

struct TestWindow {
  int64_t size, stride, base, dilation, low, high;
};

// Positions in row-major order.
bool NextIndex(std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

Tensor PlainWindows(const Tensor& x, float init, const std::vector<TestWindow>& windows,
                    const Shape& out, const std::function<float(float, float)>& combine) {
  Tensor y = *Tensor::Allocate(DType::kFloat, out);
  std::vector<int64_t> sizes, outs, at(windows.size(), 0);
  for (const TestWindow& w : windows) sizes.push_back(w.size);
  for (int d = 0; d < out.rank(); ++d) outs.push_back(out.dim(d));
  for (int64_t i = 0; i < y.num_elements(); ++i, NextIndex(at, outs)) {
    float sum = init;
    std::vector<int64_t> k(windows.size(), 0);
    do {
      int64_t from = 0;
      bool inside = true;
      for (size_t d = 0; d < windows.size(); ++d) {
        const TestWindow& w = windows[d];
        const int64_t n = x.shape().dim(static_cast<int>(d));
        const int64_t p = at[d] * w.stride + k[d] * w.dilation - w.low;
        inside = inside && p >= 0 && p % w.base == 0 && p / w.base < n;
        from = from * n + (inside ? p / w.base : 0);
      }
      sum = combine(sum, inside ? x.data<float>()[from] : init);
    } while (NextIndex(k, sizes));
    y.data<float>()[i] = sum;
  }
  return y;
}

TEST(ReduceWindow, AsPlainLoops) {
  struct Function {
    const char *op, *init;
    float (*combine)(float, float);
  };
  const Function functions[] = {
      {"AddV2", "0", [](float a, float b) { return a + b; }},
      {"Maximum", "-inf", [](float a, float b) { return std::isnan(a) || a > b ? a : b; }},
      // An initial value that changes results.
      {"Minimum", "5", [](float a, float b) { return std::isnan(a) || a < b ? a : b; }},
  };
  Random random(3);
  int tried = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Function& f = functions[trial % 3];
    const int rank = static_cast<int>(random.Below(3)) + 1;
    Shape in, out;
    std::vector<TestWindow> windows;
    std::vector<int64_t> size, stride, base, dilation, padding;
    bool empty = false;
    for (int d = 0; d < rank; ++d) {
      const bool is_long = rank == 1 || (d == trial % rank && trial % 2 == 0);
      const int64_t n = random.Below(is_long ? 60 : 9);
      TestWindow w{random.Below(n + 3) + 1, random.Below(3) + 1,     random.Below(2) + 1,
                   random.Below(3) + 1,     random.Below(n + 5) - 2, random.Below(n + 5) - 2};
      if (random.Below(3) == 0) w = {1, 1, 1, 1, 0, 0};
      const int64_t padded = w.low + w.high + (n == 0 ? 0 : (n - 1) * w.base + 1);
      const int64_t span = (w.size - 1) * w.dilation + 1;
      const int64_t positions = padded < span ? 0 : (padded - span) / w.stride + 1;
      empty = empty || padded < 0;
      in.push_back(n);
      out.push_back(positions);
      windows.push_back(w);
      size.push_back(w.size);
      stride.push_back(w.stride);
      base.push_back(w.base);
      dilation.push_back(w.dilation);
      padding.insert(padding.end(), {w.low, w.high});
    }
    if (empty) continue;
    ++tried;
    const auto vector = [&](const std::vector<int64_t>& v) {
      return absl::StrCat("Const() {dtype=int64, value=int64<", v.size(), ">{",
                          absl::StrJoin(v, ", "), "}}\n");
    };
    const std::string text = absl::StrCat(
        "in x = %x\n%x = Placeholder() {shape=<*>}\n%init = Const() {value=float<>{", f.init,
        "}}\n%a = ", vector(size), "%b = ", vector(stride), "%c = ", vector(base),
        "%d = ", vector(dilation), "%e = Const() {dtype=int64, value=int64<", rank, ",2>{",
        absl::StrJoin(padding, ", "),
        "}}\n%y = XlaReduceWindow(%x, %init, %a, %b, %c, %d, %e) {T=float, Tindices=int64, "
        "computation=@f}\nout y = %y\nfunction \"f\" {\n  in a = %a  %a = Placeholder()\n  in b = "
        "%b  %b = Placeholder()\n  %r = ",
        f.op, "(%a, %b) {T=float}\n  out r = %r\n}\n");
    const Tensor x = random.Floats(in, trial % 4 == 0);
    const std::vector<Tensor> y = RunText(text, {x}, true);
    ASSERT_EQ(y.size(), 1u);
    const float init = f.init[0] == '-' ? -std::numeric_limits<float>::infinity()
                                        : static_cast<float>(std::atof(f.init));
    ExpectSame(y[0], PlainWindows(x, init, windows, out, f.combine), text);
  }
  EXPECT_GT(tried, 250);
}

TEST(ReduceWindow, OfATensorMuchSmallerThanItsBorder) {
  const std::string text =
      "in x = %x\n%x = Placeholder() {shape=<*>}\n%init = Const() {value=float<>{0}}\n"
      "%a = Const() {dtype=int64, value=int64<1>{3}}\n"
      "%b = Const() {dtype=int64, value=int64<1>{60000000}}\n"
      "%c = Const() {dtype=int64, value=int64<1>{1}}\n"
      "%e = Const() {dtype=int64, value=int64<1,2>{100000000, 100000000}}\n"
      "%y = XlaReduceWindow(%x, %init, %a, %b, %c, %c, %e) {T=float, Tindices=int64, "
      "computation=@f}\nout y = %y\nfunction \"f\" {\n  in a = %a  %a = Placeholder()\n  in b = "
      "%b  %b = Placeholder()\n  %r = AddV2(%a, %b) {T=float}\n  out r = %r\n}\n";
  const std::vector<Tensor> y = RunText(text, {Tensor::Vector<float>({1, 2, 3})}, true);
  ASSERT_EQ(y.size(), 1u);
  ExpectSame(y[0], Tensor::Vector<float>({0, 0, 0, 0}), text);
}

// A packed list of varints below 128.
std::string Packed(int field, const std::vector<int64_t>& values) {
  if (values.empty()) return "";
  std::string bytes = absl::StrCat(absl::Hex(field << 3 | 2, absl::kZeroPad2),
                                   absl::Hex(values.size(), absl::kZeroPad2));
  for (int64_t v : values) absl::StrAppend(&bytes, absl::Hex(v, absl::kZeroPad2));
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 2) absl::StrAppend(&text, "\\x", bytes.substr(i, 2));
  return text;
}

TEST(ScatterWithOp, AsByCalls) {
  const char* const functions[] = {
      "  %r = AddV2(%a, %b) {T=float}\n",   "  %r = Sub(%a, %b) {T=float}\n",
      "  %r = Mul(%a, %b) {T=float}\n",     "  %r = Minimum(%b, %a) {T=float}\n",
      "  %r = Maximum(%a, %b) {T=float}\n", "  %r = Identity(%b) {T=float}\n"};
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const int rank = static_cast<int>(random.Below(4)) + 1;
    Shape operand;
    for (int d = 0; d < rank; ++d) operand.push_back(random.Below(6) + 1);
    // Which dimensions are indexed, left out of the slices, or run along with one of the indices.
    std::vector<int64_t> window, inserted, map, batch, indices_batch, kept_sizes;
    Shape indices;
    for (int d = 0; d < rank; ++d) {
      const int64_t kind = random.Below(4);
      if (kind == 0) {
        batch.push_back(d);
        indices_batch.push_back(indices.rank());
        indices.push_back(operand.dim(d));
        continue;
      }
      if (kind != 1) map.push_back(d);
      if (kind == 2) {
        inserted.push_back(d);
      } else {
        kept_sizes.push_back(random.Below(operand.dim(d)) + 1);
      }
    }
    std::shuffle(map.begin(), map.end(), std::mt19937_64(static_cast<uint64_t>(trial)));
    for (int64_t more = random.Below(3); more > 0; --more) indices.push_back(random.Below(5));
    const Shape list = indices;
    const int64_t vector_dim = indices.rank();
    indices.push_back(static_cast<int64_t>(map.size()));
    Shape updates;
    int next_batch = 0;
    size_t next_kept = 0;
    while (next_batch < list.rank() || next_kept < kept_sizes.size()) {
      const bool take_kept =
          next_batch == list.rank() || (next_kept < kept_sizes.size() && random.Below(2) == 0);
      if (take_kept) window.push_back(updates.rank());
      updates.push_back(take_kept ? kept_sizes[next_kept++] : list.dim(next_batch++));
    }
    const std::string numbers =
        absl::StrCat(Packed(1, window), Packed(2, inserted), Packed(3, map), "\\x20\\x0",
                     vector_dim, Packed(5, batch), Packed(6, indices_batch));
    const std::string text = absl::StrCat(
        "in x = %x\nin i = %i\nin u = %u\n%x = Placeholder() {shape=<*>}\n%i = Placeholder() "
        "{dtype=int64, shape=<*>}\n%u = Placeholder() {shape=<*>}\n%y = XlaScatter(%x, %i, %u) "
        "{T=float, Tindices=int64, dimension_numbers=\"",
        numbers,
        "\", indices_are_sorted=false, update_computation=@f}\nout y = %y\nfunction \"f\" {\n  in "
        "a "
        "= %a  %a = Placeholder()\n  in b = %b  %b = Placeholder()\n",
        functions[trial % 6], "  out r = %r\n}\n");
    const Tensor x = random.Floats(operand, trial % 5 == 0), u = random.Floats(updates, true);
    Tensor i = *Tensor::Allocate(DType::kInt64, indices);
    for (int64_t k = 0; k < i.num_elements(); ++k) i.data<int64_t>()[k] = random.Below(8) - 1;
    std::string ops;
    const std::vector<Tensor> with = RunText(text, {x, i, u}, true, &ops);
    ASSERT_NE(ops.find("_XlaScatter:1"), std::string::npos) << ops;
    const std::vector<Tensor> by_calls = RunText(text, {x, i, u}, false);
    ASSERT_EQ(with.size(), 1u);
    ASSERT_EQ(by_calls.size(), 1u);
    ExpectSame(with[0], by_calls[0], text);
  }
}

}  // namespace
}  // namespace tenon
