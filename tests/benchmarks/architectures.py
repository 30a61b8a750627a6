"""Thirty architectures of transformers on a simulated accelerator, beside the same models on the CPU.

    pip install transformers==5.23.0
    python -m tests.benchmarks.architectures [NAME ...]
    python -m tests.benchmarks.architectures --stray [NAME ...]

Each is built from a tiny random configuration. Forward and backward on a simulated `cuda:0` have to give the CPU's
loss and gradients to 1e-5; every observation of a clash is printed, so that it can be read by hand. With `--stray` each
is run three more times with one random parameter left on the CPU, which has to be reported, with the run going on to
its end.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from devlint.runtime.observation import Observation
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine

TOLERANCE = 1e-5
SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
TEXT = {**SMALL, "vocab_size": 60, "max_position_embeddings": 32}
DECODER = {**TEXT, "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
VISION = {**SMALL, "image_size": 16, "patch_size": 8, "num_channels": 3}
Inputs = dict[str, Any]


def ids(rows: int = 2, columns: int = 7, words: int = 60) -> Tensor:
    return torch.randint(3, words, (rows, columns))


def text() -> Inputs:
    return {"input_ids": ids(), "attention_mask": torch.ones(2, 7, dtype=torch.long)}


def pixels(size: int = 16) -> Inputs:
    return {"pixel_values": torch.randn(2, 3, size, size)}


def sequence_to_sequence() -> Inputs:
    return {"input_ids": ids(), "decoder_input_ids": ids(columns=5)}


def detr() -> Any:
    import transformers as t

    backbone = t.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8, 8, 16], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage4"]
    )
    return t.DetrForObjectDetection(
        t.DetrConfig(
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            backbone_config=backbone,
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            num_queries=4,
        )
    )


def sam() -> Any:
    import transformers as t

    vision = {
        "hidden_size": 16,
        "output_channels": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 8,
        "mlp_dim": 16,
        "global_attn_indexes": [1],
        "window_size": 2,
        "num_pos_feats": 4,
    }
    prompt = {"hidden_size": 8, "image_size": 32, "patch_size": 8, "mask_input_channels": 4}
    mask = {"hidden_size": 8, "mlp_dim": 16, "num_attention_heads": 2, "num_hidden_layers": 2, "iou_head_hidden_dim": 8}
    return t.SamModel(t.SamConfig(vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=mask))


def wav2vec2() -> Any:
    import transformers as t

    return t.Wav2Vec2Model(
        t.Wav2Vec2Config(
            **SMALL,
            conv_dim=(8, 8),
            conv_kernel=(4, 4),
            conv_stride=(2, 2),
            num_feat_extract_layers=2,
            num_conv_pos_embeddings=4,
            num_conv_pos_embedding_groups=2,
            mask_time_prob=0.0,
            layerdrop=0.0,
        )
    )


def clip() -> Any:
    import transformers as t

    return t.CLIPModel(t.CLIPConfig(text_config={**TEXT, "eos_token_id": 2}, vision_config=VISION, projection_dim=8))


def swin() -> Any:
    import transformers as t

    return t.SwinModel(
        t.SwinConfig(image_size=16, patch_size=2, embed_dim=8, depths=[1, 1], num_heads=[2, 2], window_size=4)
    )


def of(model: str, config: str, /, **options: Any) -> Callable[[], Any]:
    def build() -> Any:
        import transformers as t

        return getattr(t, model)(getattr(t, config)(**options))

    return build


T5 = {"vocab_size": 60, "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2}
BART = {
    "vocab_size": 60,
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "max_position_embeddings": 64,
}
WHISPER = {**BART, "num_mel_bins": 8, "max_source_positions": 16, "max_target_positions": 16, "pad_token_id": 0}
GPT2 = {"vocab_size": 60, "n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 2}
EXPERTS = {**DECODER, "num_local_experts": 4, "num_experts_per_tok": 2}

ARCHITECTURES: dict[str, tuple[Callable[[], Any], Callable[[], Inputs]]] = {
    "bert": (of("BertModel", "BertConfig", **TEXT), text),
    "roberta": (of("RobertaModel", "RobertaConfig", **TEXT), text),
    "albert": (of("AlbertModel", "AlbertConfig", **TEXT, embedding_size=8), text),
    "electra": (of("ElectraModel", "ElectraConfig", **TEXT, embedding_size=8), text),
    "deberta-v2": (
        of("DebertaV2Model", "DebertaV2Config", **TEXT, relative_attention=True, pos_att_type=["p2c", "c2p"]),
        text,
    ),
    "distilbert": (
        of("DistilBertModel", "DistilBertConfig", vocab_size=60, dim=16, n_layers=2, n_heads=2, hidden_dim=24),
        text,
    ),
    "modernbert": (of("ModernBertModel", "ModernBertConfig", **TEXT, pad_token_id=0), text),
    "xlnet": (of("XLNetModel", "XLNetConfig", vocab_size=60, d_model=16, n_layer=2, n_head=2, d_inner=16), text),
    "gpt2": (of("GPT2LMHeadModel", "GPT2Config", **GPT2), text),
    "gpt-neox": (of("GPTNeoXForCausalLM", "GPTNeoXConfig", **TEXT), text),
    "opt": (
        of(
            "OPTForCausalLM",
            "OPTConfig",
            vocab_size=60,
            hidden_size=16,
            word_embed_proj_dim=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            ffn_dim=16,
            max_position_embeddings=32,
        ),
        text,
    ),
    "bloom": (of("BloomForCausalLM", "BloomConfig", vocab_size=60, hidden_size=16, n_layer=2, n_head=2), text),
    "llama": (of("LlamaForCausalLM", "LlamaConfig", **DECODER), text),
    "mistral": (of("MistralForCausalLM", "MistralConfig", **DECODER, sliding_window=4), text),
    "gemma2": (of("Gemma2ForCausalLM", "Gemma2Config", **DECODER, head_dim=8, sliding_window=4), text),
    "qwen2": (of("Qwen2ForCausalLM", "Qwen2Config", **DECODER), text),
    "phi3": (of("Phi3ForCausalLM", "Phi3Config", **DECODER), text),
    "mixtral": (of("MixtralForCausalLM", "MixtralConfig", **EXPERTS, output_router_logits=True), text),
    "mamba": (
        of("MambaForCausalLM", "MambaConfig", vocab_size=60, hidden_size=16, state_size=4, num_hidden_layers=2),
        lambda: {"input_ids": ids()},
    ),
    "rwkv": (
        of("RwkvForCausalLM", "RwkvConfig", vocab_size=60, hidden_size=16, num_hidden_layers=2, context_length=16),
        lambda: {"input_ids": ids()},
    ),
    "t5": (of("T5ForConditionalGeneration", "T5Config", **T5, decoder_start_token_id=0), sequence_to_sequence),
    "longt5": (of("LongT5ForConditionalGeneration", "LongT5Config", **T5, local_radius=3), sequence_to_sequence),
    "longt5-tglobal": (
        of(
            "LongT5ForConditionalGeneration",
            "LongT5Config",
            **T5,
            local_radius=3,
            global_block_size=2,
            encoder_attention_type="transient-global",
        ),
        sequence_to_sequence,
    ),
    "bart": (of("BartForConditionalGeneration", "BartConfig", **BART), sequence_to_sequence),
    "whisper": (
        of("WhisperForConditionalGeneration", "WhisperConfig", **WHISPER, decoder_start_token_id=1),
        lambda: {"input_features": torch.randn(2, 8, 32), "decoder_input_ids": ids(columns=5)},
    ),
    "wav2vec2": (wav2vec2, lambda: {"input_values": torch.randn(2, 400)}),
    "vit": (of("ViTModel", "ViTConfig", **VISION), pixels),
    "swin": (swin, pixels),
    "convnext": (of("ConvNextModel", "ConvNextConfig", hidden_sizes=[8, 16], depths=[1, 1], num_stages=2), pixels),
    "dinov2": (of("Dinov2Model", "Dinov2Config", **VISION), pixels),
    "resnet": (
        of("ResNetModel", "ResNetConfig", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"),
        pixels,
    ),
    "segformer": (
        of(
            "SegformerModel",
            "SegformerConfig",
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[2, 1],
            hidden_sizes=[8, 16],
            patch_sizes=[3, 3],
            strides=[2, 2],
            num_attention_heads=[1, 2],
            mlp_ratios=[2, 2],
        ),
        pixels,
    ),
    "detr": (detr, lambda: {"pixel_values": torch.randn(1, 3, 64, 64)}),
    "sam": (sam, lambda: {**pixels(32), "input_points": torch.rand(2, 1, 2, 2) * 32}),
    "clip": (clip, lambda: {**text(), **pixels(), "return_loss": True}),
}


def run(
    build: Callable[[], Any], inputs: Callable[[], Inputs], place: Callable[[Any], Any]
) -> tuple[float, list[Tensor]]:
    """The loss (the mean square of every output of values) and all gradients, read on the host."""
    torch.manual_seed(0)
    net: nn.Module = build().train()
    given = inputs()
    net, given = place(net), place(given)
    torch.manual_seed(1)
    out = net(**given)
    values = [leaf for leaf in tree_leaves(dict(out)) if isinstance(leaf, Tensor) and leaf.is_floating_point()]
    loss = torch.stack([v.float().square().mean() for v in values if v.requires_grad]).sum()
    loss.backward()
    return loss.item(), [p.grad.detach().cpu() for p in net.parameters() if p.grad is not None]


def compare(name: str) -> bool:
    """Print one line for an architecture, and one for each thing that was observed of it; False when it differs."""
    build, inputs = ARCHITECTURES[name]
    found: list[Observation] = []
    start = time.perf_counter()
    try:
        expected, expected_grads = run(build, inputs, lambda tree: tree)
        with observe(SimulatedMachine(), found.append, device="cuda:0") as session:
            loss, grads = run(build, inputs, session.lift)
    except Exception as error:
        traceback.print_exc(limit=-4)
        print(f"{name:<15} FAILED {type(error).__name__}: {error}")
        return False
    worst = max((float((a - b).abs().max()) for a, b in zip(expected_grads, grads, strict=True)), default=0.0)
    scale = max((float(g.abs().max()) for g in expected_grads), default=1.0)
    same = abs(loss - expected) <= TOLERANCE * max(1.0, abs(expected)) and worst <= TOLERANCE * max(1.0, scale)
    clashes = [o for o in found if o.kind in ("clash", "index", "host-only", "generator", "not-simulated", "error")]
    seconds = time.perf_counter() - start
    verdict = "same" if same else f"DIFFERS loss {expected} {loss}, gradients by {worst:.1e}"
    print(f"{name:<15} {verdict:<10} {len(grads):>4} gradients {len(clashes):>3} clashes {seconds:>6.1f} s")
    for o in clashes:
        place = f"{o.spots[0].path}:{o.spots[0].line}" if o.spots else "?"
        operands = " | ".join(f"{s.name} {s.device} born {s.born and (s.born.path, s.born.line)}" for s in o.operands)
        print(f"    {o.kind} {o.phase} {o.operation} at {place}: {operands}\n        {o.message}")
    return same


def leave_behind(name: str, seed: int) -> bool:
    """Run with one parameter on the CPU; False, and a line, when no clash tells of it."""
    build, inputs = ARCHITECTURES[name]
    found: list[Observation] = []
    left = ""
    choose = random.Random(f"{name} {seed}")

    with observe(SimulatedMachine(), found.append, device="cuda:0") as session:

        def place(tree: Any) -> Any:
            nonlocal left
            tree = session.lift(tree)
            if isinstance(tree, nn.Module):
                left, parameter = choose.choice(list(tree.named_parameters()))
                parameter.data = parameter.data.cpu()
            return tree

        run(build, inputs, place)
    clashes = [o for o in found if o.kind in ("clash", "index")]
    first = [o for o in clashes if not o.repaired]
    named = any(s.name.endswith(left.rpartition(".")[2]) for o in clashes for s in o.operands)
    if len(first) != 1 or not named:
        print(f"{name:<15} {left}: {len(first)} clashes, {[[s.name for s in o.operands] for o in first]}")
    return bool(clashes)


def main(names: list[str]) -> int:
    warnings.filterwarnings("ignore")
    import transformers

    transformers.logging.set_verbosity_error()
    stray = "--stray" in names
    chosen = [name for name in names if name != "--stray"] or list(ARCHITECTURES)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, {len(chosen)} architectures")
    if stray:
        told = [leave_behind(name, seed) for name in chosen for seed in range(3)]
        print(f"{sum(told)} of {len(told)} parameters left behind are reported")
        return 0 if all(told) else 1
    same = [compare(name) for name in chosen]
    print(f"{sum(same)} of {len(same)} give the CPU's values")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
