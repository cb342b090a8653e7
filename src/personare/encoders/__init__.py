"""Pretrained networks that more than one room listens with: sound in, numbers out, run by onnxruntime."""
