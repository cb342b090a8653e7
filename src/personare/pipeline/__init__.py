"""The one way anything is measured: a study becomes content-addressed stages, and those become findings."""
