// tenon bench: measures warm latency, and time per op.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "env/cpu.h"
#include "env/flags.h"
#include "env/status.h"
#include "include/c_api_profile.h"
#include "runtime/explore/machine_peak.h"
#include "tools/command.h"
#include "tools/eager_model.h"
#include "tools/model_args.h"
#include "tools/profile.h"
#include "tools/progress.h"
#include "tools/random_inputs.h"

namespace tenon {
namespace {

struct BenchArgs {
  ModelArgs model;
  std::string inputs;
  std::vector<std::string> shapes;
  int64_t batch = 1;
  double seconds = 2;
  bool json = false;
  bool profile = false;
  std::string by = "op";
  std::string trace;  // a file
  bool eager = false;
  int streams = 1;
};

struct Timing {
  double min_ms = 0, median_ms = 0, p99_ms = 0, mean_ms = 0;
  size_t n = 0;
  double runs_per_s = 0;
};

Timing Summarize(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  Timing t;
  t.n = ms.size();
  if (ms.empty()) return t;
  t.min_ms = ms.front();
  t.median_ms = ms[ms.size() / 2];
  t.p99_ms = ms[std::min(ms.size() - 1,
                         static_cast<size_t>(std::ceil(0.99 * static_cast<double>(ms.size()))))];
  for (double v : ms) t.mean_ms += v / static_cast<double>(ms.size());
  t.runs_per_s = 1000 / t.mean_ms;  // of one thread
  return t;
}

// How far a measurement is, between two runs.
void ShowMeasuring(Progress& progress, double end_ms, double seconds) {
  progress.Show("measuring", 1 - (end_ms - NowMs()) / (seconds * 1000));
}

// `model` is a Session or an EagerModel, here and below.
template <typename M>
absl::StatusOr<Timing> Measure(M& model, absl::Span<const Tensor> inputs, double seconds) {
  std::vector<double> ms;
  Progress progress;
  const double end = NowMs() + seconds * 1000;
  do {
    const double start = NowMs();
    TENON_RETURN_IF_ERROR(model.Run(inputs).status());
    ms.push_back(NowMs() - start);
    ShowMeasuring(progress, end, seconds);
  } while (NowMs() < end);
  return Summarize(std::move(ms));
}

constexpr int kWaitMs = 100;  // between two looks at the clock, while others run

// Measures with `streams` threads, each with one run at a time; the times are of single runs.
absl::StatusOr<Timing> MeasureStreams(Session& session, absl::Span<const Tensor> inputs,
                                      int streams, double seconds) {
  std::vector<std::vector<double>> ms(static_cast<size_t>(streams));
  std::vector<absl::Status> status(static_cast<size_t>(streams));
  const double start = NowMs(), end = start + seconds * 1000;
  std::vector<std::thread> callers;
  for (size_t s = 0; s < ms.size(); ++s) {
    callers.emplace_back([&, s] {
      do {
        const double begin = NowMs();
        if (status[s] = session.Run(inputs).status(); !status[s].ok()) return;
        ms[s].push_back(NowMs() - begin);
      } while (NowMs() < end);
    });
  }
  {
    Progress progress;
    for (; progress.seen() && NowMs() + kWaitMs < end; ShowMeasuring(progress, end, seconds)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kWaitMs));
    }
  }
  for (std::thread& caller : callers) caller.join();
  const double elapsed_s = (NowMs() - start) / 1000;
  std::vector<double> all;
  for (size_t s = 0; s < ms.size(); ++s) {
    TENON_RETURN_IF_ERROR(status[s]);
    all.insert(all.end(), ms[s].begin(), ms[s].end());
  }
  Timing t = Summarize(std::move(all));
  t.runs_per_s = static_cast<double>(t.n) / elapsed_s;
  return t;
}

absl::StatusOr<MachinePeak> PeakFor(const BenchArgs& args, const Session& session) {
  const Flags& flags = session.flags();
  TENON_ASSIGN_OR_RETURN(const Precision precision,
                         ResolvePrecision(PrecisionOf(args.model), flags));
  return PeakOf(session.threads(), precision, PeakFolder(flags));
}

absl::Status PrintProfile(const BenchArgs& args, Session& session, absl::Span<const Tensor> inputs,
                          const MachinePeak& peak) {
  TENON_ASSIGN_OR_RETURN(const ProfileBy by, ProfileByFromName(args.by));
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, session.PlanFor(inputs));
  Profile profile(*plan);
  Progress progress;
  const double start = NowMs(), end = start + args.seconds * 1000;
  do {
    TENON_RETURN_IF_ERROR(session.Run(inputs, {.observer = &profile}).status());
    profile.EndRun();
    progress.Show("profiling", (NowMs() - start) / (end - start));
  } while (NowMs() < end);
  progress.Clear();
  std::printf("%s\n", profile.Text(by, peak).c_str());
  if (const CacheStats functions = session.function_plan_stats(); functions.misses > 0) {
    std::printf("loops and branches: %lld plans made in %d runs; %lld kernels prepared in all\n",
                static_cast<long long>(functions.misses), profile.runs(),
                static_cast<long long>(session.kernel_stats().misses));
  }
  return absl::OkStatus();
}

// A few runs, as a trace that Perfetto and chrome://tracing read.
absl::Status WriteTrace(const std::string& path, Session& session,
                        absl::Span<const Tensor> inputs) {
  constexpr int kRuns = 3;
  tenon_profile profile;
  for (int i = 0; i < kRuns; ++i) {
    const auto outputs = session.Run(inputs, {.observer = &profile});
    profile.EndRun(outputs.ok());
    TENON_RETURN_IF_ERROR(outputs.status());
  }
  std::ofstream out(path);
  out << profile.TraceText() << "\n";
  out.close();
  if (!out) return InvalidArgument("cannot write '", path, "'");
  return absl::OkStatus();
}

using Json = nlohmann::ordered_json;

Json ToJson(const Timing& t, const Flags& flags) {
  return {{"min_ms", t.min_ms}, {"median_ms", t.median_ms},
          {"p99_ms", t.p99_ms}, {"mean_ms", t.mean_ms},
          {"n", t.n},           {"onednn_opts", flags.onednn_opts ? 1 : 0},
          {"cpu", CpuName()}};
}

// Prints it in one line, replacing bytes that are not UTF-8 (in a CPU's name).
void Print(const Json& json) {
  std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

// Lets caches, frequencies and the thread pool settle before timing.
template <typename M>
absl::StatusOr<Timing> Warm(M& model, absl::Span<const Tensor> inputs, double seconds) {
  TENON_RETURN_IF_ERROR(Measure(model, inputs, std::min(0.2, seconds / 4)).status());
  return Measure(model, inputs, seconds);
}

absl::StatusOr<Timing> WarmStreams(Session& session, absl::Span<const Tensor> inputs, int streams,
                                   double seconds) {
  if (streams == 1) return Warm(session, inputs, seconds);
  const double warm_up = std::min(0.2, seconds / 4);
  TENON_RETURN_IF_ERROR(MeasureStreams(session, inputs, streams, warm_up).status());
  return MeasureStreams(session, inputs, streams, seconds);
}

absl::Status BenchEager(const BenchArgs& args) {
  SessionOptions options;
  options.threads = args.model.threads;
  TENON_ASSIGN_OR_RETURN(options.flags, Flags::FromEnvironment());
  TENON_ASSIGN_OR_RETURN(Model loaded, OpenModel(args.model));
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<EagerModel> model,
                         EagerModel::Create(std::move(loaded.graph), options));
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         InputsFor(*model, args.inputs, args.shapes, args.batch));
  TENON_ASSIGN_OR_RETURN(const Timing t, Warm(*model, inputs, args.seconds));
  if (args.json) {
    Json json = ToJson(t, *options.flags);
    json["eager"] = 1;
    Print(json);
    return absl::OkStatus();
  }
  std::printf("%zu runs, op by op: min %.4f ms, median %.4f ms, p99 %.4f ms\n", t.n, t.min_ms,
              t.median_ms, t.p99_ms);
  return absl::OkStatus();
}

// Of a run, without the bodies of loops and branches; a multiply-add counts as two.
double FlopsOf(const Plan& plan) {
  double sum = 0;
  for (const StepInfo& step : plan.Describe()) sum += step.flops;
  return sum;
}

absl::Status Bench(const BenchArgs& args) {
  if (args.eager) return BenchEager(args);
  ModelArgs model = args.model;
  if (args.streams > 1) {
    // Divides the available threads.
    if (model.threads == 0) model.threads = AvailableCpus();
    model.threads = std::max(1, model.threads / args.streams);
  }
  TENON_ASSIGN_OR_RETURN(OpenedSession opened, OpenSession(model));
  Session& session = *opened.session;
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         InputsFor(session, args.inputs, args.shapes, args.batch));

  const double start = NowMs();
  TENON_RETURN_IF_ERROR(session.Run(inputs).status());
  const double first_ms = NowMs() - start;
  NoteFallbacks(session);
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, session.PlanFor(inputs));
  TENON_ASSIGN_OR_RETURN(const Timing t, WarmStreams(session, inputs, args.streams, args.seconds));
  MachinePeak peak;
  if (args.profile) {
    TENON_ASSIGN_OR_RETURN(peak, PeakFor(args, session));
    TENON_RETURN_IF_ERROR(PrintProfile(args, session, inputs, peak));
  }
  if (!args.trace.empty()) TENON_RETURN_IF_ERROR(WriteTrace(args.trace, session, inputs));

  if (args.json) {
    Json json = ToJson(t, session.flags());
    json["first_ms"] = first_ms;
    json["load_ms"] = opened.load_ms;
    json["rewrite_ms"] = session.report().rewrite.ms;
    json["runs_per_s"] = t.runs_per_s;
    json["streams"] = args.streams;
    json["threads"] = session.threads();
    json["small_team_runs"] = session.small_team_runs();
    json["steps"] = plan->stats().steps;
    json["flops"] = FlopsOf(*plan);
    if (args.profile) json["peak_flops_per_s"] = peak.flops_per_s;
    json["arena_bytes"] = plan->stats().arena_bytes;
    json["peak_rss_mb"] = static_cast<double>(PeakResidentBytes()) / (1 << 20);
    Print(json);
    return absl::OkStatus();
  }
  std::printf("load %.1f ms, first run %.1f ms, %d steps, arena %.1f MB, peak memory %.0f MB\n",
              opened.load_ms, first_ms, plan->stats().steps,
              static_cast<double>(plan->stats().arena_bytes) / (1 << 20),
              static_cast<double>(PeakResidentBytes()) / (1 << 20));
  std::printf("%zu runs, %d threads: min %.3f ms, median %.3f ms, p99 %.3f ms\n", t.n,
              session.threads(), t.min_ms, t.median_ms, t.p99_ms);
  if (const int64_t fewer = session.small_team_runs(); fewer > 0) {
    std::printf("%lld runs used fewer threads: other programs kept CPUs busy\n",
                static_cast<long long>(fewer));
  }
  if (args.streams > 1) std::printf("%d streams: %.2f runs/s\n", args.streams, t.runs_per_s);
  return absl::OkStatus();
}

}  // namespace

Command AddBenchCommand(CLI::App& parent) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* app = parent.add_subcommand("bench", "Measures warm latency");
  AddModelArgs(*app, args->model);
  AddSessionArgs(*app, args->model);
  app->add_option("--inputs", args->inputs, ".npz with the inputs; by default, seeded random ones");
  app->add_option("--batch", args->batch, "size of an unknown first dimension (1)")
      ->check(CLI::Range(1, 1 << 30));
  app->add_option("--shape", args->shapes, "shape of a random input: NAME=1,224,224,3")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--seconds", args->seconds, "how long to measure (2)")
      ->check(CLI::Range(0.0, 86400.0));
  app->add_flag("--json", args->json, "print a JSON object as the last line");
  CLI::Option* profile = app->add_flag("--profile", args->profile, "print where the time goes");
  app->add_option("--by", args->by,
                  "a line of the profile for each op (default), implementation, "
                  "scope or node")
      ->check(CLI::IsMember({"op", "implementation", "scope", "node"}))
      ->needs(profile);
  CLI::Option* trace = app->add_option(
      "--trace", args->trace, "file for a trace of a few runs, for Perfetto or chrome://tracing");
  app->add_flag("--eager", args->eager,
                "one eager call per node; without graph rewriting or planning")
      ->excludes(profile)
      ->excludes(trace);
  app->add_option("--streams", args->streams,
                  "concurrent runs over shared weights; --threads is divided among them")
      ->check(CLI::Range(1, 1024))
      ->excludes(profile)
      ->excludes(trace);
  return {app, [args] { return Bench(*args); }};
}

}  // namespace tenon
