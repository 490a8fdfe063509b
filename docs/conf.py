"""Settings of the documentation site: `sphinx-build -W -b html docs docs/_build` builds it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

import weft  # noqa: E402

project = "weft"
author = "the weft developers"
copyright = author
release = version = weft.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "weft_docs",
]
exclude_patterns = ["_build", "jupyter_execute", "README.md"]
highlight_language = "none"
pygments_style = "friendly"

# Pages in Markdown. A page whose front matter says `file_format: mystnb` is executed.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_in_temp = True
nb_merge_streams = True
nb_ipywidgets_js = {}

# The API reference, from docstrings
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {
    name: name
    for name in (
        "ArrayLike", "Axes", "DTypeLike", "DeviceLike", "Index", "Number", "Padding", "ShapeLike",
        "Size",
    )
}  # fmt: skip
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = "weft"
html_static_path = ["_static"]
html_css_files = ["weft.css"]
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "weft", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "glossary": [], "settings": []},
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"tutorial": [], "changelog": [], "benchmarks": []}

# `sphinx-build -b linkcheck` asks for every external address: see README.md.
linkcheck_timeout = 20
linkcheck_anchors = False
linkcheck_ignore = [r"(\.\./)*source/"]  # pages that the builder of HTML alone writes
