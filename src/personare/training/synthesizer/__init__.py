"""Training the neural synthesizer (extra 'neural'): features, the network and its losses, the run, the export."""
