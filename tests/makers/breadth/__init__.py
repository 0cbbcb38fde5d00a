"""Smaller networks of many kinds, with random weights: what zoo/ has no relative of."""

# Which module of breadth/ builds a network, by a function of the same name.
MODULES = {
    "pictures": ["srresnet", "style", "pix2pix", "unet", "resnext",
                 "shufflenet", "large_kernels", "squeeze", "pyramid", "mixer",
                 "vae"],
    "sound": ["quartznet", "conformer", "keywords", "demucs", "tcn", "ecg",
              "griffin_lim"],
    "sequences": ["performer", "linformer", "experts", "text_cnn", "seq2seq",
                  "state_space"],
    "structures": ["pointnet", "graph_network", "c3d", "convlstm", "eegnet",
                   "nerf", "siren", "tabular", "suppression"],
    "language": ["albert", "roberta", "electra", "mpnet", "roformer", "convbert",
                 "mobilebert", "funnel", "deberta", "deberta_v2", "xlnet", "xlm",
                 "longformer", "esm", "bart", "marian", "led", "gptj", "opt", "mistral",
                 "ctrl"],
    "seeing": ["data2vec", "deit", "cvt", "efficientformer", "convnextv2", "regnet",
               "sam", "clip", "hubert", "speech_to_text"],
}

NETWORKS = {f: (m, f) for m, functions in MODULES.items() for f in functions}
