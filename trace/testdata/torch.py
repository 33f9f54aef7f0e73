"""Writes the snapshots of this directory: torch.N.pickle for protocol N.

They have the shape of what torch.cuda.memory._snapshot returns, with everything in
few events that an import has to get right. Run it here with Python 3.8 or later.
The tests only read what it has written.
"""
import os
import pickle

A, B, C, D, E, F = (0x7f0000000000 + 0x200 * i for i in range(6))
frames = [{"filename": "train.py", "line": 12, "name": "step"}]
time = 1_700_000_000_000_000


def event(action, addr, size, stream, us):
    where = "device_free" if action == "oom" else "addr"
    return {"action": action, where: addr, "size": size, "stream": stream,
            "time_us": time + us, "compile_context": "N/A", "user_metadata": "", "frames": frames}


def block(addr, size, requested, state):
    return {"address": addr, "size": size, "requested_size": requested, "state": state, "frames": frames}


def segment(device, addr, stream, blocks):
    return {"device": device, "address": addr, "total_size": 2 << 20, "allocated_size": 0, "active_size": 0,
            "requested_size": 0, "stream": stream, "segment_type": "small", "segment_pool_id": (0, 0),
            "is_expandable": False, "frames": [], "blocks": blocks}


snapshot = {
    "segments": [
        segment(0, A, 3, [
            block(A, 0x200, 300, "active_allocated"),
            block(B, 0x200, 100, "active_allocated"),
            block(C, 0x200, 200, "active_allocated"),
            block(D, 0x200, 64, "inactive"),
            block(E, 0x200, 500, "active_allocated"),
            block(F, 0x200, 77, "active_pending_free"),
        ]),
        segment(2, A, 0, [
            # As old snapshots have them, without address and requested_size.
            {"size": 0x200, "state": "active_allocated"},
            {"size": 0x400, "state": "active_allocated"},
        ]),
    ],
    "device_traces": [
        [
            event("free_requested", A, 512, 3, 0),
            event("free_completed", A, 512, 3, 1),
            event("alloc", B, 100, 5, 2),
            event("segment_alloc", C, 2 << 20, 0, 3),
            event("alloc", C, 200, 0, 4),
            event("free_requested", C, 200, 0, 5),
            event("alloc", A, 300, 0, 6),
            event("free_completed", C, 200, 0, 7),
            event("oom", 1 << 20, 1 << 40, 0, 8),
            event("free_completed", D, 64, 0, 3),  # the clock went back
            event("snapshot", 0, 0, 0, 10),
            event("alloc", C, 200, 0, 11),
            event("dance", C, 200, 0, 12),
        ],
        [
            event("alloc", A, 400, 0, 1),
            event("free_requested", A, 400, 0, 5),
            event("free_completed", A, 400, 0, 5),
        ],
        [], [],
    ],
    "allocator_settings": {
        "PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
        "expandable_segments": False, "roundup_power2_divisions": {"1": 0, "2": 0},
    },
    "external_annotations": [],
}


class Evil:
    def __reduce__(self):
        return os.system, ("touch executed",)


for protocol in range(6):
    with open(f"torch.{protocol}.pickle", "wb") as f:
        pickle.dump(snapshot, f, protocol)
with open("torch.evil.pickle", "wb") as f:
    pickle.dump({**snapshot, "external_annotations": [Evil()]}, f, 4)
