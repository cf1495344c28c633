# SPDX-License-Identifier: BSD-2-Clause
"""A Hugging Face model that generates tokens, eagerly: a small Llama with random weights, made from a
configuration, so that nothing is downloaded. The last line is `expect tokens=N sum=S` (of the tokens' numbers)."""
import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def make_model():
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=2048, hidden_size=256, intermediate_size=704, num_hidden_layers=4, num_attention_heads=8,
        num_key_value_heads=4, max_position_embeddings=1024, eos_token_id=None, bos_token_id=1, pad_token_id=0,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16).cuda().eval()


def decode(model, prompt, tokens):
    with torch.no_grad():
        return model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens, do_sample=False, use_cache=True
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", "--tokens", type=int, default=32)
    options = parser.parse_args()
    model = make_model()
    prompt = torch.arange(1, 17, device="cuda").reshape(1, 16)
    tokens = decode(model, prompt, options.tokens)
    torch.cuda.synchronize()
    print(f"expect tokens={tokens.shape[1] - prompt.shape[1]} sum={int(tokens.sum())}")


if __name__ == "__main__":
    main()
