// Reads and writes WAV files of 16-bit PCM samples, which represent [-1, 1).
#ifndef TENON_KERNELS_AUDIO_WAV_H_
#define TENON_KERNELS_AUDIO_WAV_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A file's bytes (a scalar string) to float [samples, channels] and the sample rate; cut or padded
// to the planned shape if that is known. InvalidArgument if the file is not 16-bit PCM.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeWavKernel(PrepareContext& p);

// Float [samples, channels], clamped to [-1, 1), and a sample rate to the bytes of a file.
// InvalidArgument if the sizes do not fit the header or the rate is not positive.
absl::StatusOr<std::unique_ptr<Kernel>> EncodeWavKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_AUDIO_WAV_H_
