"""Pretrained networks that several packages use: audio in, numbers out, run by onnxruntime; imports only ``core``."""
