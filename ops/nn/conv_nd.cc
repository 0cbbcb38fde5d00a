#include "ops/nn/conv_nd.h"

#include <string>
#include <vector>

#include "env/status.h"
#include "graph/attr_reader.h"

namespace tenon {

absl::StatusOr<Node> PlainConv(Node conv) {
  const AttrReader attrs(conv);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, attrs.Ints("strides"));
  if (strides.size() != 4 && strides.size() != 5) {
    return InvalidArgument("only 2 or 3 spatial dimensions have kernels, but there are ",
                           strides.size(), " strides");
  }
  const bool volume = strides.size() == 5;
  const std::string format = attrs.String("data_format", "CHANNELS_LAST");
  if (format != "CHANNELS_LAST" && format != "CHANNELS_FIRST") {
    return InvalidArgument("data_format '", format, "' is not CHANNELS_LAST or CHANNELS_FIRST");
  }
  if (const int64_t groups = attrs.Int("groups", 1); groups != 1) {
    return InvalidArgument("groups must be 1, but are ", groups);
  }
  const bool last = format == "CHANNELS_LAST";
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> dilations, attrs.Ints("dilations"));
  if (dilations.empty()) dilations.assign(strides.size(), 1);
  conv.op = volume ? "Conv3D" : "Conv2D";
  conv.attrs["data_format"] =
      std::string(volume ? (last ? "NDHWC" : "NCDHW") : (last ? "NHWC" : "NCHW"));
  conv.attrs["dilations"] = std::move(dilations);
  conv.attrs.erase("batch_dims");
  conv.attrs.erase("groups");
  return conv;
}

}  // namespace tenon
