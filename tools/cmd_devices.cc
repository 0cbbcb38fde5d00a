// tenon devices: lists the CPU and the devices of plug-ins.
#include <CLI/CLI.hpp>
#include <memory>

#include "env/cpu.h"
#include "env/flags.h"
#include "env/status.h"
#include "runtime/devices/registry.h"
#include "tools/command.h"
#include "tools/model_args.h"
#include "tools/table.h"

namespace tenon {
namespace {

struct DevicesArgs {
  std::vector<std::string> plugins;
  bool markdown = false;
};

std::string MemoryText(const DeviceInfo& info) {
  if (info.total_bytes < 0) return "";
  return absl::StrCat(info.free_bytes >> 20, " of ", info.total_bytes >> 20, " MiB free");
}

absl::Status PrintDevices(const DevicesArgs& args) {
  TENON_ASSIGN_OR_RETURN(const Flags flags, Flags::FromEnvironment());
  DeviceRegistry& plugins = DeviceRegistry::Global();
  TENON_RETURN_IF_ERROR(plugins.LoadAll(flags.plugin_path));
  for (const std::string& path : args.plugins) TENON_RETURN_IF_ERROR(plugins.Load(path));
  Table table({"device", "platform", "hardware", "memory", "kernels", "from"});
  table.Add({"CPU:0", "oneDNN", absl::StrCat(AvailableCpus(), " CPUs"), "", "", "Tenon"});
  for (const Device* device : plugins.devices()) {
    const DeviceInfo info = device->Describe();
    const std::string hardware =
        info.vendor.empty() ? info.hardware : absl::StrCat(info.vendor, " ", info.hardware);
    table.Add({info.name, info.platform, hardware, MemoryText(info),
               absl::StrCat(plugins.CountKernels(info.type)), info.source});
  }
  Print(table, args.markdown);
  return absl::OkStatus();
}

}  // namespace

Command AddDevicesCommand(CLI::App& parent) {
  auto args = std::make_shared<DevicesArgs>();
  CLI::App* app = parent.add_subcommand("devices", "Lists the CPU and the devices of plug-ins");
  AddPluginArg(*app, args->plugins);
  AddMarkdownArg(*app, args->markdown);
  return {app, [args] { return PrintDevices(*args); }};
}

}  // namespace tenon
