"""From the AST of a kernel to a linear program."""
