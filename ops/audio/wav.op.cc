// DecodeWav, EncodeWav: WAV files of 16-bit PCM samples, which represent [-1, 1).
#include "kernels/audio/wav.h"

#include <algorithm>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DecodeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  const int64_t channels = c.attrs().Int("desired_channels", -1);
  const int64_t samples = c.attrs().Int("desired_samples", -1);
  if (channels < -1 || samples < -1) return InvalidArgument("desired sizes must not be below -1");
  Shape out({samples, channels});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  c.set_output(1, Shape());
  return absl::OkStatus();
}

absl::Status EncodeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  c.set_output(0, Shape());
  return absl::OkStatus();
}

const OpRegistration decode_wav_op({
    .name = "DecodeWav",
    .inputs = "contents: string",
    .outputs = "audio: float, sample_rate: int32",
    .attrs = "desired_channels: int = -1; desired_samples: int = -1",
    .shape = DecodeShape,
    .reference = DecodeWavKernel,
});

const OpRegistration encode_wav_op({
    .name = "EncodeWav",
    .inputs = "audio: float, sample_rate: int32",
    .outputs = "contents: string",
    .shape = EncodeShape,
    .reference = EncodeWavKernel,
});

}  // namespace
}  // namespace tenon
