"""Whether the run can be trusted: noise, missing measurements, slow nodes, predictions that failed."""
