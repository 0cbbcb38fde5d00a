#include "kernels/audio/wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "env/status.h"

namespace tenon {
namespace {

constexpr int64_t kPcm = 1, kBits = 16;

constexpr size_t kFormatBytes = 16;

template <typename T>
T Take(absl::string_view& bytes) {
  T v;
  std::memcpy(&v, bytes.data(), sizeof v);
  bytes.remove_prefix(sizeof v);
  return v;
}

struct Wav {
  int64_t channels = 0;
  int64_t rate = 0;
  absl::string_view samples;

  int64_t count() const { return static_cast<int64_t>(samples.size()) / (channels * 2); }
};

absl::StatusOr<Wav> ParseWav(absl::string_view file) {
  constexpr size_t kRiffBytes = 12, kHeaderBytes = 8;
  if (file.size() < kRiffBytes || file.substr(0, 4) != "RIFF" || file.substr(8, 4) != "WAVE") {
    return InvalidArgument("contents is not a WAV file");
  }
  file.remove_prefix(kRiffBytes);
  Wav wav;
  bool has_data = false;
  while (file.size() >= kHeaderBytes && !has_data) {
    const absl::string_view id = file.substr(0, 4);
    file.remove_prefix(4);
    const size_t size = Take<uint32_t>(file);
    if (wav.channels == 0) {
      if (id != "fmt ") return InvalidArgument("the WAV file does not begin with its format");
      if (size < kFormatBytes || size > file.size()) return InvalidArgument("a bad WAV format");
      absl::string_view format = file.substr(0, size);
      const int64_t kind = Take<uint16_t>(format);
      wav.channels = Take<uint16_t>(format);
      wav.rate = Take<uint32_t>(format);
      const int64_t bytes_per_second = Take<uint32_t>(format), frame = Take<uint16_t>(format),
                    bits = Take<uint16_t>(format);
      if (kind != kPcm || bits != kBits || wav.channels < 1 || frame != 2 * wav.channels ||
          bytes_per_second != frame * wav.rate) {
        return InvalidArgument("only 16-bit PCM WAV files are read");
      }
    } else if (id == "data") {
      if (size > file.size()) return InvalidArgument("the WAV file ends within its samples");
      wav.samples = file.substr(0, size);
      has_data = true;
    } else if (size > file.size()) {
      return InvalidArgument("the WAV file ends within a chunk");
    }
    file.remove_prefix(size);
  }
  if (!has_data) return InvalidArgument("the WAV file has no samples");
  return wav;
}

template <typename T>
void Append(std::string& out, int64_t value) {
  const T v = static_cast<T>(value);
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> DecodeWavKernel(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  return MakeKernel([planned](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Wav wav, ParseWav(*run.input<std::string>(0)));
    const int64_t samples = planned.dim(0) < 0 ? wav.count() : planned.dim(0);
    const int64_t channels = planned.dim(1) < 0 ? wav.channels : planned.dim(1);
    void* memory = run.output(0);
    if (!planned.IsComplete()) {
      TENON_ASSIGN_OR_RETURN(memory, run.AllocateOutput(0, Shape({samples, channels})));
    }
    float* out = static_cast<float*>(memory);
    for (int64_t i = 0; i < samples; ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        int16_t v = 0;  // past the end
        if (i < wav.count()) {
          // Missing channels repeat the file's last one.
          const int64_t at = i * wav.channels + std::min(c, wav.channels - 1);
          std::memcpy(&v, wav.samples.data() + 2 * at, sizeof v);
        }
        *out++ = static_cast<float>(v) / 32768.0f;
      }
    }
    *run.output<int32_t>(1) = static_cast<int32_t>(wav.rate);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> EncodeWavKernel(PrepareContext& p) {
  const int64_t samples = p.input_shape(0).dim(0), channels = p.input_shape(0).dim(1);
  constexpr int64_t kHeader = 36;
  if (channels < 1 || channels > UINT16_MAX / 2 ||
      samples > (UINT32_MAX - kHeader) / (2 * channels)) {
    return InvalidArgument("no WAV file of ", samples, " samples of ", channels, " channels");
  }
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t rate = *run.input<int32_t>(1), bytes = samples * channels * 2;
    if (rate <= 0) return InvalidArgument("sample_rate must be positive, but is ", rate);
    std::string& out = *run.output<std::string>(0);
    out = "RIFF";
    Append<uint32_t>(out, kHeader + bytes);
    out += "WAVEfmt ";
    Append<uint32_t>(out, static_cast<int64_t>(kFormatBytes));
    Append<uint16_t>(out, kPcm);
    Append<uint16_t>(out, channels);
    Append<uint32_t>(out, rate);
    Append<uint32_t>(out, rate * channels * 2);
    Append<uint16_t>(out, channels * 2);
    Append<uint16_t>(out, kBits);
    out += "data";
    Append<uint32_t>(out, bytes);
    for (int64_t i = 0; i < samples * channels; ++i) {
      const float v = std::round(run.input<float>(0)[i] * 32768.0f);
      Append<int16_t>(out,
                      static_cast<int64_t>(std::isnan(v) ? 0 : std::clamp(v, -32768.0f, 32767.0f)));
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
