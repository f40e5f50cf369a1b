"""The BERT encoder as an ONNX graph with int8 weights, built directly from numpy arrays.

The word embedding, two thirds of the model, stays outside: a session that holds it takes long to load. The graph takes
summed embeddings, so its file is 21 MB and loads in 20 ms. Nodes are ONNX Runtime's own fused operators, so nothing is
left to optimise at load; a plain Add and LayerNormalization are in it because they are several times faster on CPU
than the fused SkipLayerNormalization (onnxruntime 1.32).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from knowledge.encoders.base import Floats
from knowledge.encoders.weights import E5Weights

_WEIGHT_RANGE = 63
"""Weights take 7 bits. CPUs without VNNI add pairs of products in 16 bits: 2 * 255 * 63 fits, with 127 it overflows.
The mean cosine to float32 falls from 0.9990 to 0.9988."""
_EXACT_CHANNELS = 1
_OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
_IR_VERSION = 9


def build_model(weights: E5Weights) -> onnx.ModelProto:
    """The graph: `embeddings` (batch, length, hidden) float32 and `lengths` (batch,) int32 -> `hidden`, same shape.

    Rows past a text's length are padding: no token attends to them, and what stands there has no meaning.
    """
    return _GraphBuilder(weights).model()


class _GraphBuilder:
    def __init__(self, weights: E5Weights) -> None:
        self._config = weights.config
        self._tensors = weights.tensors
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def model(self) -> onnx.ModelProto:
        hidden = self._config.hidden_size
        self._constant("split", np.array([hidden] * 3, np.int64))
        x = self._layer_norm("embeddings", "emb.ln")
        for layer in range(self._config.num_hidden_layers):
            x = self._layer(f"l{layer}", x)
        self._node("Identity", [x], "hidden")
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [
                helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["batch", "length", hidden]),
                helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
            ],
            [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["batch", "length", hidden])],
            self._constants,
        )
        return helper.make_model(graph, opset_imports=_OPSETS, ir_version=_IR_VERSION)

    def _layer(self, name: str, x: str) -> str:
        """Post-norm transformer layer."""
        weight = np.concatenate([self._tensors[f"{name}.{part}.w"] for part in "qkv"])
        bias = np.concatenate([self._tensors[f"{name}.{part}.b"] for part in "qkv"])
        parts = [f"{name}.{part}" for part in "qkv"]
        self._node("Split", [self._linear(x, f"{name}.qkv", weight, bias), "split"], *parts, axis=2)
        heads = self._config.num_attention_heads
        context = self._fused("MultiHeadAttention", [*parts, "", "lengths"], f"{name}.context", num_heads=heads)
        x = self._layer_norm(self._node("Add", [self._stored(context, f"{name}.ao"), x], f"{name}.sum"), f"{name}.aln")
        x = self._node("Add", [self._feed_forward(name, x), x], f"{name}.sum2")
        return self._layer_norm(x, f"{name}.oln")

    def _feed_forward(self, name: str, x: str) -> str:
        """Two linear layers with GELU; the channels that weigh most on the output are computed in float32.

        Their activations are up to ten times larger than all others, so one scale for all of a batch's activations
        would round the others away (LLM.int8(), Dettmers et al. 2022, arXiv:2208.07339). They are the columns of the
        second matrix with the largest norm, so no text is needed to find them.
        """
        first, bias, second = (self._tensors[f"{name}.{part}"] for part in ("fi.w", "fi.b", "fo.w"))
        exact = np.argsort(-np.linalg.norm(second, axis=0))[:_EXACT_CHANNELS]
        rest = np.ones(len(first), np.float32)
        rest[exact] = 0.0
        inner = self._linear(x, f"{name}.fi", first * rest[:, None], bias * rest)
        out = self._linear(
            self._fused("Gelu", [inner], f"{name}.gelu"), f"{name}.fo", second * rest, self._tensors[f"{name}.fo.b"]
        )
        up = self._node(
            "MatMul", [x, self._constant(f"{name}.up.w", np.ascontiguousarray(first[exact].T))], f"{name}.up"
        )
        up = self._node("Add", [up, self._constant(f"{name}.up.b", bias[exact])], f"{name}.up_sum")
        up = self._fused("Gelu", [up], f"{name}.up_gelu")
        down = self._constant(f"{name}.down.w", np.ascontiguousarray(second[:, exact].T))
        return self._node("Add", [out, self._node("MatMul", [up, down], f"{name}.down")], f"{name}.ffn")

    def _stored(self, x: str, name: str) -> str:
        return self._linear(x, name, self._tensors[f"{name}.w"], self._tensors[f"{name}.b"])

    def _linear(self, x: str, name: str, weight: Floats, bias: Floats) -> str:
        """x W^T + b; int8 weights with a scale for each output, activations quantised as they come."""
        scale = np.abs(weight).max(axis=1) / _WEIGHT_RANGE
        scale[scale == 0] = 1.0
        quantised = np.rint(weight / scale[:, None]).astype(np.int8)
        inputs = [
            x,
            self._constant(f"{name}.w", np.ascontiguousarray(quantised.T)),
            self._constant(f"{name}.scale", scale.astype(np.float32)),
            "",
            self._constant(f"{name}.b", bias),
        ]
        return self._fused("DynamicQuantizeMatMul", inputs, name)

    def _layer_norm(self, x: str, name: str) -> str:
        gain = self._constant(f"{name}.w", self._tensors[f"{name}.w"])
        bias = self._constant(f"{name}.b", self._tensors[f"{name}.b"])
        epsilon = self._config.layer_norm_eps
        return self._node("LayerNormalization", [x, gain, bias], name, axis=-1, epsilon=epsilon)

    def _constant(self, name: str, values: np.ndarray) -> str:
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def _node(self, operator: str, inputs: list[str], *outputs: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(operator, inputs, list(outputs), **attributes))
        return outputs[0]

    def _fused(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(operator, inputs, [output], domain="com.microsoft", **attributes))
        return output
