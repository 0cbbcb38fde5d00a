"""Trained networks that packages on PyPI carry: other people's files, of TensorFlow 1.0 to 2.x."""

# Which module of trained/ exports a network, by a function of the same name.
MODULES = {
    "saved_models": ["basic_pitch", "jaeger"],
    "keras_files": ["spliceai", "deepcut", "fer", "nakdimon", "rnnmorph",
                    "seeker_tokens", "seeker_bases", "shakkala_small",
                    "shakkala_middle", "shakkala_large"],
    "graphs": ["deepbrain", "fool_segmenter", "fool_tagger", "fool_names",
               "chicksexer", "musicnn_mtt", "musicnn_msd", "musicvgg_mtt",
               "musicvgg_msd"],
}

NETWORKS = {f: (m, f) for m, functions in MODULES.items() for f in functions}
