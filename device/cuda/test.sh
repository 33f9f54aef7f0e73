#!/usr/bin/env bash
# Builds package cuda and the double of the driver, and tests the one on the other:
# plain with streams that work at once, and under the race detector with lazy
# ones. It needs linux and a C compiler, no GPU and no CUDA toolkit. Arguments are
# passed on to go test. What is built stays in .cuda, so that the next time is quicker.
set -euo pipefail
cd "$(dirname "$0")/../.."
lean=-gcflags=all=-dwarf=false # as .ci/run builds it for -race

if ! command -v "$(go env CC)" >/dev/null || [ "$(go env GOOS)" != linux ]; then
	echo 'There is no C compiler, or this is not linux: device/cuda is not tested.'
	exit
fi
dir=$PWD/.cuda
eval "$(go run ./device/cuda/internal/cudaheader "$dir")"
mkdir -p "$dir/double"
# shellcheck disable=SC2086 # CGO_CFLAGS are words
$(go env CC) $CGO_CFLAGS -Wall -Wextra -Werror -shared -fPIC -Wl,-soname,libcuda.so.1 \
	-o "$dir/double/libcuda.so.1" device/cuda/internal/double/driver/*.c -lpthread

go vet -tags cuda ./device/cuda/... ./cmd/...
GOGC=400 go run honnef.co/go/tools/cmd/staticcheck@v0.7.0 -tags cuda ./device/cuda/...
CUDA_DOUBLE_LAZY=0 LD_LIBRARY_PATH="$dir/double" go test -count=1 -tags cuda "$@" ./device/cuda
# The models copy all that there is at every step, which the race detector watches.
CUDA_DOUBLE_LAZY=1 LD_LIBRARY_PATH="$dir/double" RAPID_CHECKS=20 go test $lean -count=1 -race -tags cuda "$@" ./device/cuda
echo 'What the conformance suite ran on, and what it skipped:'
list=$(LD_LIBRARY_PATH=$dir/double go test -count=1 -tags cuda -v -run '^TestConformance$' ./device/cuda |
	sed -n 's/^ *--- \([A-Z]*\): TestConformance\/\([^ ]*\) .*/\1 \2/p' | grep -v 'PASS .*/')
echo "$list"
grep -qx 'PASS cuda:0' <<<"$list" # or all was skipped
