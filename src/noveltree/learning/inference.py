"""Answering planners with networks: in batches on one processor core, or on a GPU.

On a processor networks run in ONNX Runtime: measured on one core it needs about half of torch's time for a batch of
one and four fifths for a batch of 64, and unlike torch its answer to an input does not depend, to the bit, on what
else is in the batch. That is why an episode is the same whatever is played beside it. On a GPU torch is used.

The graph of an architecture is built once, without weights: new weights take a session of their own over the same
graph, some milliseconds instead of some dozen.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from noveltree.learning.architecture import Affine, Architecture, Convolution, Dense, Head, Weights
from noveltree.learning.deployment import check_device

Outputs = dict[str, NDArray[np.float32]]
#: From a batch of inputs, and the names of some heads, to a batch of outputs of each of these.
Inference = Callable[[NDArray[np.generic], Sequence[str]], Outputs]
#: Inputs evaluated at once at most, which bounds memory; larger batches are no faster per input.
LARGEST_BATCH = 128


def make_inference(architecture: Architecture, weights: Weights, *, device: str = "cpu") -> Inference:
    """A network as a function, with one thread."""
    infer = _on_cpu(architecture, weights) if device == "cpu" else _on_gpu(architecture, weights, device)
    scalars = {head.name for head in architecture.heads if head.kind in ("scalar", "expected")}

    def in_batches(inputs: NDArray[np.generic], heads: Sequence[str]) -> Outputs:
        firsts = range(0, max(1, len(inputs)), LARGEST_BATCH)
        batches = [infer(inputs[first : first + LARGEST_BATCH], heads) for first in firsts]
        outputs = (
            batches[0] if len(batches) == 1 else [np.concatenate(parts) for parts in zip(*batches, strict=True)]
        )
        return {
            head: output[:, 0] if head in scalars else output for head, output in zip(heads, outputs, strict=True)
        }

    return in_batches


def remembering(infer: Inference, *, inputs: int = 4_096) -> Inference:
    """The same network, which remembers what it has said of the last `inputs` different inputs.

    Actions often differ in nothing that is seen, and a lookahead comes to the same screens again and again.
    """
    known: dict[tuple[bytes, Sequence[str]], Outputs] = {}

    def infer_once(batch: NDArray[np.generic], heads: Sequence[str]) -> Outputs:
        keys = [(hashlib.blake2b(one.tobytes(), digest_size=16).digest(), heads) for one in batch]
        new = {key: number for number, key in enumerate(keys) if key not in known}
        if new:
            outputs = infer(batch[list(new.values())], heads)
            for number, key in enumerate(new):
                known[key] = {head: outputs[head][number].copy() for head in heads}
        answers = [known[key] for key in keys]
        for key in dict.fromkeys(keys):  # what was asked for last is forgotten last
            known[key] = known.pop(key)
        while len(known) > inputs:
            del known[next(iter(known))]
        return {head: np.stack([answer[head] for answer in answers]) for head in heads}

    return infer_once


_Infer = Callable[[NDArray[np.generic], Sequence[str]], list[NDArray[np.float32]]]


def _on_cpu(architecture: Architecture, weights: Weights) -> _Infer:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The first layer's weights are scaled instead of its inputs, which are more.
    scaled = {**weights, "0.weight": weights["0.weight"] * np.float32(architecture.scale)}
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for array in scaled.values()]
    options.add_external_initializers(list(scaled), values)
    session = onnxruntime.InferenceSession(_graph(architecture), options, providers=["CPUExecutionProvider"])

    def infer(batch: NDArray[np.generic], heads: Sequence[str]) -> list[NDArray[np.float32]]:
        outputs: list[NDArray[np.float32]] = session.run(list(heads), {"input": batch})
        return outputs

    return infer


def _on_gpu(architecture: Architecture, weights: Weights, device: str) -> _Infer:
    check_device(device)
    import torch

    from noveltree.learning.networks import Network

    network = Network(architecture, weights, device=device)
    kinds = {head.name: head for head in architecture.heads}

    def answer(head: Head, outputs: torch.Tensor) -> torch.Tensor:
        match head.kind:
            case "softmax":
                return outputs.softmax(1)
            case "expected":
                return outputs.softmax(1) @ torch.from_numpy(head.supports[:, None]).to(outputs.device)
            case "scalar" | "hidden" | "latents":
                return outputs

    def infer(batch: NDArray[np.generic], heads: Sequence[str]) -> list[NDArray[np.float32]]:
        with torch.inference_mode():
            outputs = network(torch.from_numpy(batch))
            return [answer(kinds[name], outputs[name]).cpu().numpy() for name in heads]

    return infer


@cache
def _graph(architecture: Architecture) -> bytes:
    """The network as an ONNX model for a batch of any size, whose weights are given to each session."""
    nodes: list[Any] = []

    def add(operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or f"{operator}{len(nodes)}"
        nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def convolve(layer: Convolution, number: int) -> str:
        strides, pads = [layer.stride] * 2, [layer.padding] * 4
        return add("Conv", current, f"{number}.weight", f"{number}.bias", strides=strides, pads=pads)

    current = add("Cast", "input", to=TensorProto.FLOAT) if architecture.input.image else "input"
    flat = not architecture.input.image
    hidden = next((head.name for head in architecture.heads if head.kind == "hidden"), None)
    for number, layer in enumerate(architecture.trunk):
        parameters = f"{number}.weight", f"{number}.bias"
        match layer:
            case Convolution():
                current = convolve(layer, number)
            case Affine():
                current = add("Add", add("Mul", current, parameters[0]), parameters[1])
            case Dense():
                current = current if flat else add("Flatten", current)
                flat = True
                current = add("Gemm", current, *parameters, transB=1)
        output = hidden if number == len(architecture.trunk) - 1 else None
        if architecture.slope:
            current = add("LeakyRelu", current, output=output, alpha=architecture.slope)
        else:
            current = add("Relu", current, output=output)
    constants = []
    for number, head in enumerate(architecture.trained_heads, start=len(architecture.trunk)):
        if isinstance(head.layer, Convolution):
            add("Flatten", convolve(head.layer, number), output=head.name)
            continue
        scalar = head.kind == "scalar"
        output = add(
            "Gemm", current, f"{number}.weight", f"{number}.bias", transB=1, output=head.name if scalar else None
        )
        if not scalar:
            output = add("Softmax", output, axis=1, output=head.name if head.kind == "softmax" else None)
        if head.kind == "expected":
            supports = f"{number}.supports"
            constants.append(numpy_helper.from_array(head.supports[:, None], supports))
            add("MatMul", output, supports, output=head.name)
    element = TensorProto.UINT8 if architecture.input.image else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("input", element, ["batch", *architecture.input.shape])],
        [
            helper.make_tensor_value_info(head.name, TensorProto.FLOAT, ["batch", None])
            for head in architecture.heads
        ],
        [*constants, *(_given_later(name, shape) for name, shape in architecture.weight_shapes().items())],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    serialized: bytes = model.SerializeToString()
    return serialized


def _given_later(name: str, shape: tuple[int, ...]) -> Any:
    """An array whose numbers every session brings with it."""
    tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "given to the session"), ("length", str(4 * math.prod(shape)))):
        tensor.external_data.add(key=key, value=value)
    return tensor
