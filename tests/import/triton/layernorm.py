import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x, y, weight, bias, mean, rstd, stride, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < cols, other=0.0).to(tl.float32)
    average = tl.sum(total, axis=0) / cols
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x + at, mask=at < cols, other=0.0).to(tl.float32)
        value = tl.where(at < cols, value - average, 0.0)
        total += value * value
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / cols + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < cols
        value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        result = (value - average) * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(y + at, result, mask=inside)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, normalized_shape, weight, bias, eps):
        y = torch.empty_like(x)
        flat = x.reshape(-1, x.shape[-1])
        rows, cols = flat.shape
        mean = torch.empty((rows,), dtype=torch.float32, device=x.device)
        rstd = torch.empty((rows,), dtype=torch.float32, device=x.device)
        largest = 65536 // x.element_size()
        BLOCK = min(largest, triton.next_power_of_2(cols))
        if cols > BLOCK:
            raise RuntimeError("rows of 64 KiB and more are not supported")
        num_warps = min(max(BLOCK // 256, 1), 8)
        forward_kernel[(rows,)](
            flat, y, weight, bias, mean, rstd, flat.stride(0), cols, eps, BLOCK=BLOCK, num_warps=num_warps, num_ctas=1
        )
        ctx.save_for_backward(x, weight, bias, mean, rstd)
        ctx.BLOCK = BLOCK
        ctx.eps = eps
        return y

    @staticmethod
    def backward(ctx, dy):
        raise NotImplementedError


layer_norm = LayerNorm.apply
