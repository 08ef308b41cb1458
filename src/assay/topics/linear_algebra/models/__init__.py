"""Laws of systems of equations, one a file: `fit(known)`."""
