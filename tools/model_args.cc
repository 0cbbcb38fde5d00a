#include "tools/model_args.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "absl/strings/str_split.h"
#include "env/flags.h"
#include "env/status.h"
#include "runtime/devices/placement.h"
#include "runtime/devices/registry.h"

namespace tenon {

void AddModelArgs(CLI::App& app, ModelArgs& args) {
  app.add_option("MODEL", args.path, "SavedModel folder, or GraphDef file (.pb, .pbtxt)")
      ->required();
  app.add_option("--signature", args.signature, "signature of a SavedModel (serving_default)");
  app.add_option("--fetch", args.fetch, "tensors to compute instead of the outputs: a:0,b:0");
  AddPluginArg(app, args.plugins);
  app.add_option("--device", args.device,
                 "plug-in's device, which runs the nodes that it has a kernel for (tenon devices)");
}

void AddPluginArg(CLI::App& app, std::vector<std::string>& plugins) {
  app.add_option("--plugin", plugins,
                 "device plug-in to load, or a folder of them (also: TENON_PLUGIN_PATH)")
      ->allow_extra_args(false);
}

void AddSessionArgs(CLI::App& app, ModelArgs& args) {
  app.add_option("--threads", args.threads, "threads per op")->check(CLI::Range(1, 1024));
  app.add_option("--cache-dir", args.cache_dir,
                 "folder for the disk cache of rewritten graphs and packed weights "
                 "(TENON_CACHE_DIR)");
  app.add_option("--memory-limit", args.memory_limit,
                 "the most bytes that weights, plans and runs may take, as 500M or 2G (powers of "
                 "1024); more is an error that names the node")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  AddPrecisionArg(app, args);
}

void AddPrecisionArg(CLI::App& app, ModelArgs& args) {
  app.add_option("--precision", args.precision,
                 "bf16: contractions and the ops between them compute in bfloat16 "
                 "(fp32, or as TF_SET_ONEDNN_FPMATH_MODE says)")
      ->check(CLI::IsMember({"fp32", "bf16"}));
}

std::optional<Precision> PrecisionOf(const ModelArgs& args) {
  if (args.precision.empty()) return std::nullopt;
  return args.precision == "bf16" ? Precision::kBfloat16 : Precision::kFloat;
}

namespace {

LoadOptions LoadOptionsOf(const ModelArgs& args) {
  LoadOptions options;
  options.signature = args.signature;
  options.fetches = absl::StrSplit(args.fetch, ',', absl::SkipWhitespace());
  options.more_feeds = args.feeds;
  return options;
}

absl::StatusOr<const Device*> LoadPlugins(const ModelArgs& args) {
  TENON_ASSIGN_OR_RETURN(const Flags flags, Flags::FromEnvironment());
  DeviceRegistry& plugins = DeviceRegistry::Global();
  TENON_RETURN_IF_ERROR(plugins.LoadAll(flags.plugin_path));
  for (const std::string& path : args.plugins) TENON_RETURN_IF_ERROR(plugins.Load(path));
  if (args.device.empty()) return nullptr;
  return plugins.Find(args.device);
}

}  // namespace

absl::StatusOr<Model> OpenModel(const ModelArgs& args, bool allow_missing_ops) {
  LoadOptions options = LoadOptionsOf(args);
  options.allow_missing_ops = allow_missing_ops;
  TENON_ASSIGN_OR_RETURN(const Device* device, LoadPlugins(args));
  TENON_ASSIGN_OR_RETURN(Model model, LoadModel(args.path, options));
  TENON_RETURN_IF_ERROR(PlaceOnDevices(model.graph, device).status());
  return model;
}

absl::StatusOr<OpenedSession> OpenSession(const ModelArgs& args) {
  const double start = NowMs();
  SessionOptions options;
  options.threads = args.threads;
  options.precision = PrecisionOf(args);
  TENON_ASSIGN_OR_RETURN(options.flags, Flags::FromEnvironment());
  options.cache_dir = args.cache_dir;
  options.plugins = args.plugins;
  options.device = args.device;
  options.memory_limit = static_cast<int64_t>(args.memory_limit);
  OpenedSession opened;
  TENON_ASSIGN_OR_RETURN(opened.session, Session::Load(args.path, LoadOptionsOf(args), options));
  TENON_RETURN_IF_ERROR(opened.session->report().status);
  if (const std::string& note = opened.session->report().note; !note.empty()) {
    std::fprintf(stderr, "tenon: %s\n", note.c_str());
  }
  opened.load_ms = NowMs() - start;
  return opened;
}

void NoteFallbacks(const Session& session) {
  const DiskCacheReport report = session.disk_cache();
  if (report.state == DiskCacheReport::State::kFailed) {
    std::fprintf(stderr, "tenon: nothing is kept for the next start: %s\n",
                 std::string(report.status.message()).c_str());
  }
  if (const absl::Status split = session.split_status(); !split.ok()) {
    std::fprintf(stderr, "tenon: the batch is not split: %s\n",
                 std::string(split.message()).c_str());
  }
}

double NowMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace tenon
