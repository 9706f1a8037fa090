"""ONNX files as svod, ONNX Runtime and OpenVINO run them: the same file, arrays that are bound, a given number of threads."""
import subprocess

import numpy as np

import svod_runtime


def onnx_runtime(path, inputs, threads=1):
    """A function that runs the model, and its results."""
    import onnxruntime as ort
    flags = ort.SessionOptions()
    flags.intra_op_num_threads, flags.inter_op_num_threads = threads, 1
    session = ort.InferenceSession(path, flags, providers=["CPUExecutionProvider"])
    results = [svod_runtime.aligned(r) for r in session.run(None, inputs)]
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_cpu_input(name, array)
    for port, array in zip(session.get_outputs(), results):
        binding.bind_output(port.name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    return (lambda: session.run_with_iobinding(binding)), results


def open_vino(path, inputs, threads=1):
    """A function that runs the model; None where OpenVINO is not installed or does not take it."""
    try:
        import openvino as ov
        compiled = ov.Core().compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                                         "INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()
        for name, array in inputs.items():
            request.set_tensor(name, ov.Tensor(array, shared_memory=True))
        request.infer()
        return request.infer
    except (ImportError, RuntimeError):
        return None


def compiled(bin_folder, path, plan):
    """None, or the first line of what svodc says."""
    done = subprocess.run([bin_folder / "svodc", "compile", path, "-o", plan], capture_output=True, text=True)
    return done.stderr.strip().splitlines()[0] if done.returncode else None


def loaded(bin_folder, plan, inputs, expected, names, threads=1):
    """The loaded plan, which ran once, and its results."""
    library = bin_folder.resolve().parent / "runtime-min/libsvod-runtime.so"
    instance = svod_runtime.Runtime(library).load(str(plan), threads)
    results = [svod_runtime.aligned(np.zeros_like(e)) for e in expected]
    for name, array in inputs.items():
        instance.bind_input(name, array)
    for name, array in zip(names, results):
        instance.bind_output(name, array)
    instance.run()
    return instance, results
