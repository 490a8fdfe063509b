"""The operations of graph nodes, grouped by the stage that owns them.

The order of the members decides between equal candidates, so every pass is deterministic. `GroupOp`
holds the sets that rules and passes use.
"""

from __future__ import annotations

from enum import auto

from weft.base.members import Member


class Ops(Member, int):
    """The operation of a node."""

    # bookkeeping: never rendered
    NOOP = auto()  # does nothing; a placeholder
    SINK = auto()  # the root that gathers all outputs
    UNIQUE = auto()  # a fresh number that distinguishes buffers
    DEVICE = auto()  # the name of a device
    KERNEL = auto()  # one grouped kernel in the tensor graph; arg holds its AST
    # buffers
    COPY = auto()  # (value, DEVICE): the same bytes elsewhere
    BUFFER = auto()  # (DEVICE, UNIQUE): storage of arg elements
    BUFFER_VIEW = auto()  # a contiguous window of a buffer, possibly reinterpreted
    MSELECT = auto()  # one shard of a value that lives on several devices
    MSTACK = auto()  # single-device values combined to one sharded value
    # hints to the scheduler
    CONTIGUOUS = auto()  # materialise here, row-major
    CONTIGUOUS_BACKWARD = auto()  # identity; CONTIGUOUS on the gradient
    DETACH = auto()  # identity that stops gradients
    FUSE = auto()  # keep everything below in one kernel
    # movement: no data moves
    RESHAPE = auto()  # arg: the new shape
    PERMUTE = auto()  # arg: the order of the old axes
    EXPAND = auto()  # arg: the new shape; axes of size one are repeated
    PAD = auto()  # arg: ((before, after), ...) zeros
    SHRINK = auto()  # arg: ((start, stop), ...)
    FLIP = auto()  # arg: one bool per axis
    MULTI = auto()  # marks a value as sharded
    # views
    VIEW = auto()  # any chain of movement; arg: a ShapeTracker
    VALID = auto()  # where the mask of a ShapeTracker holds
    # storage inside kernels
    DEFINE_GLOBAL = auto()  # kernel argument; arg: its slot
    DEFINE_LOCAL = auto()  # memory shared by a workgroup
    DEFINE_REG = auto()  # registers: accumulators and small stacks
    # symbolic integers
    DEFINE_VAR = auto()  # arg: Var(name, low, high)
    BIND = auto()  # (variable, constant)
    SPECIAL = auto()  # an index the hardware provides; arg: its name
    # reductions
    REDUCE_AXIS = auto()  # over tensor axes; arg: Reduce(op, axes)
    REDUCE = auto()  # (value, range, ...): over ranges, inside kernels; arg: the operation
    FILL = auto()  # (store, ..., range, ...): fills a local array over ranges that it closes
    # vectors
    GEP = auto()  # picks lanes; arg: their numbers
    VECTORIZE = auto()  # builds a vector of scalars
    CAT = auto()  # joins vectors
    # unary
    CAST = auto()  # converts the value
    BITCAST = auto()  # reinterprets the bits
    EXP2 = auto()
    LOG2 = auto()
    SIN = auto()
    SQRT = auto()
    RECIP = auto()  # 1 / x
    NEG = auto()
    TRUNC = auto()  # toward zero, a float stays a float
    # memory
    LOAD = auto()
    STORE = auto()
    ASSIGN = auto()  # (destination, value): the destination after the write
    WMMA = auto()  # a tensor core's multiply-add
    INDEX = auto()  # (pointer, index[, gate])
    # binary
    ADD = auto()
    MUL = auto()
    SHL = auto()
    SHR = auto()
    IDIV = auto()  # integers, toward zero
    MAX = auto()  # NaN wins
    MOD = auto()  # sign of the dividend
    CMPLT = auto()
    CMPNE = auto()
    CMPEQ = auto()
    XOR = auto()
    OR = auto()
    AND = auto()
    THREEFRY = auto()  # (counter, key) of 64 bits: one block of the generator
    SUB = auto()
    FDIV = auto()  # floats
    POW = auto()
    # ternary
    WHERE = auto()
    MULACC = auto()  # a * b + c, rounded once where the target can
    # control
    BARRIER = auto()
    RANGE = auto()  # (end,): a loop; arg: RangeArg(id, kind)
    IF = auto()
    ENDRANGE = auto()
    ENDIF = auto()
    # constants and escapes
    IOTA = auto()  # 0, 1, 2, ...: arg elements, each its own index
    VCONST = auto()  # arg: one value per lane
    CONST = auto()
    CUSTOM = auto()  # a raw statement; arg: format string
    CUSTOMI = auto()  # a raw expression; arg: format string
    # derivatives
    CUSTOM_VJP = auto()  # (value, argument): value, with the gradient rule that arg names
    # between work items
    COMMIT = auto()  # closes a group of asynchronous copies; arg: name
    WAIT = auto()  # arg: (n, name): until all but the last n groups of copies are complete
    DOT = auto()  # (words, words[, sum]): sum + products of what both hold, in lanes; arg: PairDot
    SHUFFLE = auto()  # the value of the lane of the warp whose number is XORed with arg
    # between devices
    COLLECTIVE = auto()  # (value, ..., DEVICE): its share of an exchange; arg: Collective
    # on the host
    HOST_CALL = auto()  # (value, ...): the results of a host function; arg: HostCall


class GroupOp:
    """Sets of operations."""

    Unary = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.SQRT, Ops.RECIP, Ops.NEG, Ops.TRUNC})
    Comparison = frozenset({Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ})
    Binary = frozenset(
        {
            Ops.ADD, Ops.MUL, Ops.SHL, Ops.SHR, Ops.IDIV, Ops.MAX, Ops.MOD, Ops.CMPLT, Ops.CMPNE,
            Ops.CMPEQ, Ops.XOR, Ops.OR, Ops.AND, Ops.THREEFRY, Ops.SUB, Ops.FDIV, Ops.POW,
        }
    )  # fmt: skip
    Ternary = frozenset({Ops.WHERE, Ops.MULACC})
    ALU = Unary | Binary | Ternary
    Elementwise = ALU | {Ops.CAST, Ops.BITCAST}
    Movement = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.FLIP})
    Irreducible = frozenset({Ops.CONST, Ops.DEFINE_VAR, Ops.SPECIAL, Ops.RANGE})
    Commutative = frozenset(
        {Ops.ADD, Ops.MUL, Ops.MAX, Ops.CMPNE, Ops.CMPEQ, Ops.XOR, Ops.AND, Ops.OR}
    )
    Associative = frozenset({Ops.ADD, Ops.MUL, Ops.AND, Ops.OR, Ops.MAX})
    Idempotent = frozenset({Ops.OR, Ops.AND, Ops.MAX})
    # not zero for zero sources, so padding must not move below them
    UnsafePad = frozenset(
        {Ops.RECIP, Ops.LOG2, Ops.EXP2, Ops.IDIV, Ops.MOD, Ops.POW, Ops.FDIV, Ops.CMPEQ}
    )
    Identity = frozenset({Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.FUSE, Ops.NOOP, Ops.CUSTOM_VJP})
    # schedule items that are carried out without a compiled program
    Meta = frozenset({Ops.COPY, Ops.BUFFER_VIEW, Ops.COLLECTIVE, Ops.HOST_CALL})
    Defines = frozenset({Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG})
    All = frozenset(Ops)
