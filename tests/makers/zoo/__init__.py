"""The models that people run: architectures of other packages, with random weights."""

# Which module of zoo/ makes a network, by a function of the same name.
MODULES = {
    "hugging_face": ["bert", "distilbert", "gpt2_prefill", "gpt2_decode", "t5",
                     "vit", "swin", "segformer", "mobilevit", "wav2vec2",
                     "whisper"],
    "llama": ["prefill", "decode"],
    "keras_networks": ["convnext", "mobilenetv3", "efficientnetv2", "lstm",
                       "gru", "bilstm", "unet3d", "espcn", "dcgan", "wavenet"],
    "detection": ["yolo", "deeplab"],
    "click_rates": ["deepfm", "din"],
}


def _full_name(module: str, function: str) -> str:
  return f"{module}_{function}" if module == "llama" else function


NETWORKS = {_full_name(m, f): (m, f) for m, fs in MODULES.items() for f in fs}
