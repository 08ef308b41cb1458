"""How the documentation is built: `make docs`."""

from assay import __version__

project = "Assay"
author = "The Assay developers"
copyright = author  # noqa: A001 (Sphinx's name)
release = version = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "fieldlist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"Assay {release}"
html_show_sphinx = False
