"""Answering planners with networks: in batches on one processor core, or on a GPU.

On a processor networks run in ONNX Runtime: measured on one core it needs about half of torch's time for a batch of
one and four fifths for a batch of 64, and unlike torch its answer to an input does not depend, to the bit, on what
else is in the batch. That is why an episode is the same whatever is played beside it. On a GPU torch is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from noveltree.learning.architecture import Architecture, Convolution, Dense, Weights
from noveltree.learning.deployment import check_device

#: From a batch of inputs to a batch of outputs.
Inference = Callable[[NDArray[np.generic]], NDArray[np.float32]]
#: Inputs evaluated at once at most, which bounds memory; larger batches are no faster per input.
LARGEST_BATCH = 128


def make_inference(
    architecture: Architecture, weights: Weights, *, softmax: bool = False, device: str = "cpu"
) -> Inference:
    """A network as a function, with one thread."""
    make = _on_cpu if device == "cpu" else partial(_on_gpu, device=device)
    infer = make(architecture, weights, softmax)

    def in_batches(inputs: NDArray[np.generic]) -> NDArray[np.float32]:
        if len(inputs) <= LARGEST_BATCH:
            return infer(inputs)
        firsts = range(0, len(inputs), LARGEST_BATCH)
        return np.concatenate([infer(inputs[first : first + LARGEST_BATCH]) for first in firsts])

    return in_batches


def _on_cpu(architecture: Architecture, weights: Weights, softmax: bool) -> Inference:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    model = to_onnx(architecture, weights, softmax=softmax)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def infer(batch: NDArray[np.generic]) -> NDArray[np.float32]:
        answer: NDArray[np.float32] = session.run(None, {"input": batch})[0]
        return answer

    return infer


def _on_gpu(architecture: Architecture, weights: Weights, softmax: bool, *, device: str) -> Inference:
    check_device(device)
    import torch

    from noveltree.learning.networks import Network

    network = Network(architecture, weights, device=device)

    def infer(batch: NDArray[np.generic]) -> NDArray[np.float32]:
        with torch.inference_mode():
            output = network(torch.from_numpy(batch))
            answer: NDArray[np.float32] = (output.softmax(1) if softmax else output).cpu().numpy()
            return answer

    return infer


def to_onnx(architecture: Architecture, weights: Weights, *, softmax: bool = False) -> bytes:
    """The network as an ONNX model with a batch of any size."""
    nodes: list[Any] = []
    constants: list[Any] = []

    def add(operator: str, *inputs: str, **attributes: Any) -> str:
        output = f"{operator}{len(nodes)}"
        nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def constant(name: str, array: NDArray[np.float32]) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    current = add("Cast", "input", to=TensorProto.FLOAT) if architecture.input.image else "input"
    flat = not architecture.input.image
    for number, layer in enumerate(architecture.layers):
        weight, bias = f"{number}.weight", f"{number}.bias"
        # The first layer's weights are scaled instead of its inputs, which are more.
        scaled = weights[weight] if number else weights[weight] * np.float32(architecture.scale)
        parameters = constant(weight, scaled), constant(bias, weights[bias])
        if number:
            current = add("Relu", current)
        match layer:
            case Convolution():
                current = add("Conv", current, *parameters, strides=[layer.stride] * 2)
            case Dense():
                current = current if flat else add("Flatten", current)
                flat = True
                current = add("Gemm", current, *parameters, transB=1)
    if softmax:
        current = add("Softmax", current, axis=1)
    element = TensorProto.UINT8 if architecture.input.image else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("input", element, ["batch", *architecture.input.shape])],
        [helper.make_tensor_value_info(current, TensorProto.FLOAT, ["batch", architecture.outputs])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    serialized: bytes = model.SerializeToString()
    return serialized
