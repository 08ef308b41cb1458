"""The gallery of docs/gallery: its packed runs and the output on its pages, from one table (gallery.toml)."""
