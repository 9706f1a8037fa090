"""How far ONNX Runtime is from itself: what a model does not determine, nobody else can be held to.

A value next to a rounding edge of a quantized model, or two scores that tie in a detection model, fall to one side or the
other by the order of a sum, and the layers behind make steps or other detections of it.
"""
import numpy as np

from .model import file_name

WAYS = 4
LAST_BIT = 2.0**-23


def moved(model, seed):
    """The model with every weight and scale of f32 moved by its last bit, up or down."""
    import onnx
    random = np.random.default_rng(seed)
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for tensor in changed.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            values = onnx.numpy_helper.to_array(tensor)
            signs = random.choice(np.array([-LAST_BIT, LAST_BIT]), values.shape)
            tensor.CopyFrom(onnx.numpy_helper.from_array((values * (1 + signs)).astype(np.float32), tensor.name))
    return changed


def answers(path, fed):
    """Outputs by the names of their files: of the graph as it is written, not optimized; then with weights moved."""
    import onnx
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = onnx.load(str(path))
    for way in range(WAYS):
        source = (model if way == 0 else moved(model, way)).SerializeToString()
        try:
            session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception:      # its errors have no base of their own; what it does not take has no answers
            return
        given = {i.name: fed[file_name(i.name)] for i in session.get_inputs()}
        yield dict(zip([file_name(o.name) for o in session.get_outputs()], session.run(None, given)))
