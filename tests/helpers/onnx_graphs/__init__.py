"""Random ONNX graphs that are valid, and their values by other evaluators.

    drawing = draw_graph(seed)  # 1 to 12 nodes, and the expected value of each output

| module | what it holds |
|---|---|
| `drawing.py` | a graph that grows by one node at a time |
| `evaluators.py` | values of one node by the package `onnx` and by ONNX Runtime |
| `comparison.py` | the check of one seed |
| the others | families of operators |
"""
