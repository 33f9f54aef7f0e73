#!/usr/bin/env bash
# Tests and measures package cuda on a GPU. The machine needs an NVIDIA driver
# and neither Go nor a CUDA toolkit:
#
#	device/cuda/gpu.sh build    writes what is needed to .cuda/gpu, on any linux of the machine's architecture
#	.cuda/gpu/gpu.sh run [DIR]  tests and measures there, and writes figures.txt, tests.txt and
#	                            bench.txt to DIR, . unless given
#
# What the machine has besides is used: compute-sanitizer, and PyTorch and CuPy
# in python3, to compare with.
set -euo pipefail

build() {
	cd "$(dirname "$0")/../.."
	eval "$(go run ./device/cuda/internal/cudaheader "$PWD/.cuda")"
	mkdir -p .cuda/gpu
	# Symbols would be half of it.
	go test -c -tags cuda -trimpath -ldflags '-s -w' -o .cuda/gpu/cuda.test ./device/cuda
	cp device/cuda/gpu.sh device/cuda/peers.py .cuda/gpu/
	ls -l .cuda/gpu
}

# table shows for every measurement of bufslab what the others take, in parts of it.
table() {
	awk '
		/^Benchmark/ {
			ns = 0
			for (i = 2; i < NF; i++) if ($(i + 1) == "ns/op") ns = $i
			if (!ns) next
			sub(/-[0-9]+$/, "", $1)
			split($1, part, "/")
			who = substr(part[2], 4)
			key = $1
			sub("/of=[^/]*", "", key)
			took[key, who] = ns
			if (!(key in seen)) { seen[key] = ++keys; name[keys] = key }
			if (!(who in known)) { known[who] = ++people; person[people] = who }
		}
		END {
			printf "%-34s %-18s %14s %12s\n", "what", "who", "ns", "times ours"
			for (k = 1; k <= keys; k++) for (p = 1; p <= people; p++) {
				key = name[k]; who = person[p]
				if (!((key, who) in took)) continue
				ours = ((key, "bufslab") in took) ? took[key, "bufslab"] : took[key, "bufslab-pinned"]
				printf "%-34s %-18s %14.1f %12.2f\n", key, who, took[key, who], took[key, who] / ours
			}
		}'
}

run() {
	local here out
	here=$(cd "$(dirname "$0")" && pwd)
	out=$(cd "${1:-.}" && pwd)
	{
		date -u +%F
		nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv || echo 'There is no nvidia-smi.'
		# The models copy whole pages of 2 MiB at each step: a few programs are enough.
		RAPID_CHECKS=10 "$here/cuda.test" -test.v -test.timeout 5m >"$out/tests.txt" 2>&1 || true
		grep -E '^ *(--- (PASS|FAIL|SKIP)|PASS|FAIL|figures_test)' "$out/tests.txt" || true
		"$here/cuda.test" -test.run '^$' -test.bench . -test.benchtime 200ms 2>&1 | tee "$out/bench.txt" || true
		python3 "$here/peers.py" 2>&1 | tee -a "$out/bench.txt" || echo 'There is nothing to compare with.'
		table <"$out/bench.txt"
		if command -v compute-sanitizer >/dev/null; then
			# Errors that the tests ask for are none of its business.
			compute-sanitizer --tool memcheck --report-api-errors no "$here/cuda.test" \
				-test.run 'TestConformance|Stream|TestOverlapping|TestRegister' 2>&1 | tail -n 20 || true
		else
			echo 'There is no compute-sanitizer: memcheck is skipped.'
		fi
	} | tee "$out/figures.txt"
	grep -q '^PASS' "$out/tests.txt"
}

case ${1:-} in
build | run) "$@" ;;
*) sed -n '2,12s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
