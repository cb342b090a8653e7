"""The roof: the only place that knows all rooms; a job is a plan, a run folder and findings."""
