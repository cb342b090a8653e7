"""From a run folder to the sections of its report: what was measured, in words, tables, pictures and sounds."""
