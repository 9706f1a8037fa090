"""Models changed after export by ONNX Runtime's own tools: quantized, fused, in other floats."""
from functools import partial

import torch

from . import more, other, text, vision
from .model import DYNAMO, EXPORTERS, TORCHSCRIPT, Derived, Model

STEP = 1 / 127     # of the range of an output of 8 bits


def dynamic(path, new, cases, **options):
    """Weights of 8 bits; activations are quantized as they come."""
    from onnxruntime.quantization import quantize_dynamic
    quantize_dynamic(str(path), str(new), **options)


def static(path, new, cases, form="QDQ", **options):
    """Weights and activations of 8 bits, with ranges from the cases."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    class Reader(CalibrationDataReader):

        def __init__(self):
            self.left = list(cases)

        def get_next(self):
            return self.left.pop() if self.left else None

    quantize_static(str(path), str(new), Reader(), quant_format=QuantFormat[form], nodes_to_exclude=masks(path), **options)


def masks(path):
    """Names of the nodes that make or take scores with a mask, which are -inf and have no range of 8 bits."""
    import onnx
    nodes = onnx.load(str(path)).graph.node
    made = {output: node for node in nodes for output in node.output}
    found = set()
    for softmax in (node for node in nodes if node.op_type == "Softmax"):
        add = made.get(softmax.input[0])
        if add is not None and add.op_type == "Add":
            wheres = {made[name].name for name in add.input if name in made and made[name].op_type == "Where"}
            found |= {softmax.name, add.name, *wheres}
    return sorted(found)


def matmul_bits(path, new, cases, form="QOperator", **options):
    """Products with weights of 4 or 8 bits, in blocks with a scale each."""
    import onnx
    from onnxruntime.quantization import QuantFormat
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    model = onnx.load(str(path))
    if form == "QDQ":       # 4 bits are elements since opset 21
        model = onnx.version_converter.convert_version(model, 21)
    quantizer = MatMulNBitsQuantizer(model, quant_format=QuantFormat[form], **options)
    quantizer.process()
    quantizer.model.save_model_to_file(str(new), False)


def halved(path, new, cases):
    """Floats of 16 bits, with f32 inputs and outputs."""
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16
    onnx.save(convert_float_to_float16(onnx.load(str(path)), keep_io_types=True), str(new))


def fused(path, new, cases, kind):
    """The fusions of onnxruntime.transformers, with their operators of com.microsoft."""
    from onnxruntime.transformers.optimizer import optimize_model
    model = optimize_model(str(path), model_type=kind, num_heads=4, hidden_size=32, opt_level=0)
    model.save_model_to_file(str(new))


def optimized(path, new, cases):
    """What ONNX Runtime itself makes of a model before it runs it, but for layouts of one machine."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(new)
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def quantized(name, base, change, tolerance=STEP, exporters=EXPORTERS, **options):
    return Derived(name, "quantized", base,
                   partial(change, **options) if options else change, tolerance, exporters)


def other_form(name, base, change, tolerance=1e-4, exporters=EXPORTERS, **options):
    return Derived(name, "fused by ONNX Runtime", base,
                   partial(change, **options) if options else change, tolerance, exporters)


QUANTIZED = [
    quantized("bert-dynamic8", "bert", dynamic),
    quantized("gpt2-past-dynamic8", "gpt2-past", dynamic),
    quantized("llama-past-dynamic8", "llama-past", dynamic, per_channel=True),
    quantized("lstm-dynamic8", "lstm", dynamic),
    quantized("t5-dynamic8", "t5", dynamic),
    quantized("mobilenet_v2-qdq", "mobilenet_v2", static),
    quantized("resnet18-qdq", "resnet18", static, per_channel=True),
    quantized("resnet18-qoperator", "resnet18", static, form="QOperator"),
    quantized("vit-qdq", "vit", static),
    quantized("bert-qdq", "bert", static),
    quantized("llama-past-4bit", "llama-past", matmul_bits, 1e-4, block_size=16, is_symmetric=True),
    quantized("llama-past-4bit-asymmetric", "llama-past", matmul_bits, 1e-4, block_size=32,
              is_symmetric=False),
    quantized("llama-past-4bit-qdq", "llama-past", matmul_bits, 1e-4, form="QDQ", block_size=16,
              is_symmetric=True),
    quantized("qwen3-past-8bit", "qwen3-past", matmul_bits, 1e-4, bits=8, block_size=32, is_symmetric=True),
]

FUSED = [
    other_form("bert-fused", "bert", fused, kind="bert"),
    other_form("gpt2-past-fused", "gpt2-past", fused, kind="gpt2"),
    other_form("vit-fused", "vit", fused, kind="vit"),
    other_form("bert-optimized", "bert", optimized),
    other_form("llama-past-optimized", "llama-past", optimized),
    other_form("resnet18-optimized", "resnet18", optimized),
    other_form("mobilenet_v3-optimized", "mobilenet_v3_small", optimized),
    other_form("sd_unet-optimized", "sd_unet", optimized),
    other_form("t5-optimized", "t5", optimized),
]


def cast(make, dtype):
    return make().to(dtype)


def cast_inputs(inputs, dtype, **sizes):

    def of(value):
        if isinstance(value, tuple):
            return tuple(map(of, value))
        return value.to(dtype) if value.is_floating_point() else value

    return {name: of(value) for name, value in inputs(**sizes).items()}


def in_floats(row, suffix, dtype, tolerance):
    return Model(f"{row.name}-{suffix}", "floats", partial(cast, row.make, dtype),
                 partial(cast_inputs, row.inputs, dtype), row.dynamic, row.sizes, tolerance)


def named(*names):
    rows = {row.name: row for row in (*vision.MODELS, *other.MODELS, *text.MODELS, *more.MODELS)}
    return [rows[name] for name in names]


FLOATS = [
    *(in_floats(row, "f16", torch.float16, 1e-2)
      for row in named("resnet18", "convnext", "bert", "llama-past", "sd_unet", "gpt2")),
    *(in_floats(row, "bf16", torch.bfloat16, 5e-2)
      for row in named("resnet18", "bert", "llama-past", "qwen3-past")),
    Derived("resnet18-converted-f16", "floats", "resnet18", halved, 1e-2),
    Derived("bert-converted-f16", "floats", "bert", halved, 1e-2),
]

MODELS = QUANTIZED + FUSED + FLOATS
