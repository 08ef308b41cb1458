"""The words of Assay: frozen records, units and errors. Imports nothing else of ours."""
