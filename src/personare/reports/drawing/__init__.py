"""Our own pictures: shapes on a sheet, axes and panels that lay them out, and the files they become, SVG and PDF."""
