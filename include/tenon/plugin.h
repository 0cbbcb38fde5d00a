/* The former name of device_plugin.h and device_plugin_tools.h. */
#include "device_plugin.h"
#include "device_plugin_tools.h"
