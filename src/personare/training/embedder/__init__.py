"""Training a speaker embedder: speech of other people in, a network as an ONNX file out (extra 'neural')."""
