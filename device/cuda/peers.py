"""Measures what package cuda's benchmarks measure, for PyTorch and CuPy.

Lines are those of Go's benchmarks. An allocation is called as directly as Python lets one,
yet what Python itself takes, some 100 ns a call, is in the figures.
"""

import time

SIZES = [4 << 10, 1 << 20, 16 << 20, 256 << 20]


def measure(name, call, sync=lambda: None):
    """Prints the best of five runs of call."""
    call()
    sync()
    start = time.perf_counter()
    call()
    sync()
    n = max(10, min(200_000, int(0.1 / max(time.perf_counter() - start, 1e-7))))
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(n):
            call()
        sync()
        best = min(best, (time.perf_counter() - start) / n)
    print(f"Benchmark{name} {n} {best * 1e9:.1f} ns/op", flush=True)


def torch_figures():
    import torch

    if not torch.cuda.is_available():
        return print("PyTorch sees no GPU.")
    print("PyTorch", torch.__version__)
    alloc, free = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
    for size in SIZES:
        measure(f"Pair/of=torch/size={size}", lambda: free(alloc(size)))
    for size in SIZES:
        measure(f"Pair/of=torch-pinned/size={size}", lambda: torch.empty(size, dtype=torch.uint8, pin_memory=True))
    for size in SIZES:
        device = torch.zeros(size, dtype=torch.uint8, device="cuda")
        for kind in "pinned", "pageable":
            host = torch.zeros(size, dtype=torch.uint8, pin_memory=kind == "pinned")

            def up():
                device.copy_(host, non_blocking=True)
                torch.cuda.current_stream().synchronize()

            def down():
                host.copy_(device, non_blocking=True)
                torch.cuda.current_stream().synchronize()

            measure(f"Copy/of=torch-{kind}/way=up/size={size}", up)
            measure(f"Copy/of=torch-{kind}/way=down/size={size}", down)


def cupy_figures():
    import cupy

    print("CuPy", cupy.__version__)
    pool = cupy.get_default_memory_pool()
    for size in SIZES:
        measure(f"Pair/of=cupy/size={size}", lambda: pool.malloc(size))
    pinned = cupy.get_default_pinned_memory_pool()
    for size in SIZES:
        measure(f"Pair/of=cupy-pinned/size={size}", lambda: pinned.malloc(size))


for figures, module in (torch_figures, "torch"), (cupy_figures, "cupy"):
    try:
        figures()
    except ImportError:
        print(f"There is no module {module}: nothing to compare with.")
