"""Training of networks (extra neural): the loop, its checkpoints, and one package per kind of network."""
