// What a loop costs beside its kernels: an iteration of an empty loop, of one with a small body,
// and one that replaces a row of a matrix (it should not depend on the matrix's rows).
#include <benchmark/benchmark.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

// COUNT iterations over %x; the body's result for it is %y.
constexpr char kLoop[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=SHAPE}
%zero = Const() {dtype=int32, value=int32<>{0}}
%n = Const() {dtype=int32, value=int32<>{COUNT}}
%loop = While(%zero, %n, %x) {T=[int32, int32, float], cond=@condition, body=@body}
%rows = Const() {dtype=int32, value=int32<1>{0}}
%y = Gather(%loop:2, %rows) {Tparams=float, Tindices=int32, validate_indices=true}
out y = %y
function condition {
  in i = %i
  in n = %n
  in x = %x
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=SHAPE}
  %r = Less(%i, %n) {T=int32}
  out r = %r
}
function body {
  in i = %i
  in n = %n
  in x = %x
  %i = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=SHAPE}
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next = AddV2(%i, %one) {T=int32}
  BODY
  out i = %next
  out n = %n
  out x = %y
}
)";

void Measure(benchmark::State& state, int64_t rows, const std::string& body, const char* result) {
  constexpr int kCount = 1000;
  const Shape shape({rows, 64});
  const std::string text =
      absl::StrReplaceAll(kLoop, {{"SHAPE", absl::StrCat("<", rows, ",64>")},
                                  {"COUNT", absl::StrCat(kCount)},
                                  {"BODY", body},
                                  {"out x = %y", absl::StrCat("out x = ", result)}});
  auto graph = ParseGraph(text);
  SessionOptions options;
  options.threads = 1;
  auto session = Session::Create(*std::move(graph), options);
  Tensor x = *Tensor::Allocate(DType::kFloat, shape);
  for (float& v : x.flat<float>()) v = 0.5f;
  for (auto _ : state) {
    const auto got = (*session)->Run(std::vector<Tensor>{x});
    if (!got.ok()) state.SkipWithError(std::string(got.status().message()).c_str());
  }
  state.counters["iteration"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kCount),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void EmptyLoop(benchmark::State& state) { Measure(state, 1, "", "%x"); }
BENCHMARK(EmptyLoop);

void SmallBody(benchmark::State& state) {
  Measure(state, 1, "%t = Tanh(%x) {T=float}\n%y = Sub(%t, %x) {T=float}", "%y");
}
BENCHMARK(SmallBody);

void UpdateRow(benchmark::State& state) {
  Measure(state, state.range(0),
          absl::StrCat("%size = Const() {dtype=int32, value=int32<>{", state.range(0),
                       "}}\n%at = FloorMod(%i, %size) {T=int32}\n"
                       "%shape = Const() {dtype=int32, value=int32<2>{1, 1}}\n"
                       "%index = Reshape(%at, %shape) {T=int32, Tshape=int32}\n"
                       "%row = Const() {dtype=float, value=float<1,64>{= 2}}\n"
                       "%y = TensorScatterUpdate(%x, %index, %row) {T=float, Tindices=int32}"),
          "%y");
}
BENCHMARK(UpdateRow)->RangeMultiplier(4)->Range(16, 16384);

}  // namespace
}  // namespace tenon

BENCHMARK_MAIN();
