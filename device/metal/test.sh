#!/usr/bin/env bash
# Tests package metal in full on the double of Metal, with work that is done at once and
# work that is late: what go test ./... has of it is a part. It needs linux and a C
# compiler, no Mac; on a Mac it tests on the Mac's GPUs. Arguments are passed on to go test.
set -euo pipefail
cd "$(dirname "$0")/../.."
lean=-gcflags=all=-dwarf=false # as .ci/run builds it for -race and -asan

if [ "$(go env GOOS)" != darwin ] && { ! command -v cc >/dev/null || [ "$(go env GOOS)" != linux ]; }; then
	echo 'There is no C compiler, or this is neither linux nor macOS: device/metal is not tested.'
	exit
fi
export BUFSLAB_METAL=all

go vet -tags metal ./device/metal/... ./cmd/...
GOGC=400 go run honnef.co/go/tools/cmd/staticcheck@v0.7.0 -tags metal ./device/metal/...
CGO_ENABLED=0 go test -count=1 "$@" ./device/metal
if command -v "$(go env CC)" >/dev/null; then
	# The models copy all that there is at every step, which the race detector watches.
	RAPID_CHECKS=20 CGO_ENABLED=1 go test $lean -count=1 -race "$@" ./device/metal
	ASAN_OPTIONS=detect_leaks=0 RAPID_CHECKS=20 CGO_ENABLED=1 go test $lean -count=1 -asan "$@" ./device/metal
fi
echo 'What the conformance suite ran on, and what it skipped:'
list=$(go test -count=1 -v -run '^TestConformance$' ./device/metal |
	sed -n 's/^ *--- \([A-Z]*\): TestConformance\/\([^ ]*\) .*/\1 \2/p' | grep -v 'PASS .*/')
echo "$list"
grep -qx 'PASS metal:0' <<<"$list" || echo 'There is no GPU that Metal can use: the tests of device/metal have skipped.'
