"""Writes the pickles of this directory: plain.N and evil.N for protocol N.

Run it here with Python 3.8 or later. The tests only read what it has written.
"""
import os
import pickle

twice = {"name": "main", "line": 7}
plain = {
    "none": None, "yes": True, "no": False,
    "ints": [0, 1, 255, 256, 65535, 65536, -1, -2**31, 2**31, 2**40, -2**40, 2**63 - 1, -2**63],
    "big": [2**63, 2**64 - 1, -2**63 - 1, 10**400, 10**700],
    "floats": [0.5, -1e300, float("inf")],
    "text": ["", "a" * 300, "gr\u00fc\u00df \u2603 \U0001f600 \\ \n \x7f"],
    "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
    "frames": [twice, twice],
    7: {},
}
plain["self"] = plain["frames"]


class Evil:
    def __reduce__(self):
        return os.system, ("touch executed",)


for protocol in range(6):
    for name, what in ("plain", plain), ("evil", [1, Evil()]):
        with open(f"{name}.{protocol}", "wb") as f:
            pickle.dump(what, f, protocol)
