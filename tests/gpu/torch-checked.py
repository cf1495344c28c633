# SPDX-License-Identifier: BSD-2-Clause
"""Training steps that check themselves, while somebody profiles: torch-checked.py SECONDS [stop|deep]

"deep": of a larger batch, so that the GPU always has hundreds of kernels left to do.
Prints "ready PID" when it is warm, and stops itself then if it is to (until SIGCONT); SIGUSR1 ends it. Counts its
steps on the GPU, and multiplies matrices of small integers, whose product is exact. Last line: "expect steps=N wrong=N";
status 1 if anything was wrong.
"""
import os
import signal
import sys
import time

import torch

torch.manual_seed(1)
layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2).cuda()
data = torch.randn(256 if sys.argv[2:] == ["deep"] else 8, 64, 256, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
counted = torch.zeros(1, dtype=torch.int64, device="cuda")
wrong = torch.zeros(1, dtype=torch.int64, device="cuda")
left, right = (torch.randint(0, 4, (512, 512), device="cuda").float() for _ in range(2))
product = (left.double() @ right.double()).float()


def step():
    optimizer.zero_grad(set_to_none=False)
    loss = model(data).pow(2).mean()
    loss.backward()
    optimizer.step()
    counted.add_(1)
    wrong.add_((left @ right != product).sum())
    return loss


must_end = []
signal.signal(signal.SIGUSR1, lambda *_: must_end.append(True))
steps = 5
for _ in range(steps):
    loss = step()
torch.cuda.synchronize()
print("ready", os.getpid(), flush=True)
if sys.argv[2:] == ["stop"]:
    os.kill(os.getpid(), signal.SIGSTOP)
end = time.monotonic() + float(sys.argv[1])
while not must_end and time.monotonic() < end:
    for _ in range(10):
        loss = step()
    steps += 10
    torch.cuda.synchronize()
bad = wrong.item() + abs(counted.item() - steps) + (not torch.isfinite(loss).item())
print(f"expect steps={steps} wrong={bad}", flush=True)
sys.exit(bad != 0)
