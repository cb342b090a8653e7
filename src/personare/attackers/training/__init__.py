"""Attackers that are really trained: speech of other people in, a hostile ear as an ONNX file out (extra 'neural')."""
