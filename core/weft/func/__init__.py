"""Functions of functions: vmap and derivatives, with the names of `torch.func`: see README.md.

from weft import func

func.vmap(f), func.grad(f), func.jacrev(f), func.hessian(f)
"""

from __future__ import annotations

from weft.func.ensembles import stack_module_state
from weft.func.gradients import grad, grad_and_value, jvp, value_and_grad, vjp
from weft.func.jacobians import hessian, jacfwd, jacrev
from weft.func.vmap import vmap
from weft.nn import utils

functional_call = utils.stateless.functional_call
"""`weft.nn.utils.stateless.functional_call`."""

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "stack_module_state", "value_and_grad", "vjp", "vmap",
]  # fmt: skip
