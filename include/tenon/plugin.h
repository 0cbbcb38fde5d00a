/* The former name of device_plugin.h. */
#include "device_plugin.h"
