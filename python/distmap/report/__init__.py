"""The report: results of the benches as one HTML page (python -m distmap.report, or `distmap report`). Needs
matplotlib."""
