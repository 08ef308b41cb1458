"""Input files of other programs that can be measured as a study, one a file: `study(text)`."""
