// Finds other plug-ins of this TensorFlow that have a graph optimizer.
//
// TensorFlow accepts one per device type, and terminates the process at the second one. TensorFlow
// 2.21 also terminates the process if two plug-in optimizers apply to a graph and do not request
// the same settings of its own passes, because it computes a negative length while formatting the
// warning. So if another plug-in is installed, Tenon requests the same settings as that one.
#ifndef TENON_TF_PLUGIN_OTHER_PLUGINS_H_
#define TENON_TF_PLUGIN_OTHER_PLUGINS_H_

#include <string>
#include <vector>

#include "tensorflow/c/experimental/grappler/grappler.h"

namespace tenon::plugin {

struct OtherPlugin {
  std::string file;
  std::string device_type;
  TP_OptimizerConfigs configs;
};

// Plug-ins that are already loaded, and those in this plug-in's folder, which are about to be. Asks
// each of them (and this one too, if it is loaded) what it tells TensorFlow.
std::vector<OtherPlugin> OtherPlugins();

// A device type that no device has, a new one at each call: an optimizer registered for it is never
// called.
const char* NoDevice();

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_OTHER_PLUGINS_H_
