#!/usr/bin/env bash
# Runs Windows binaries of this module under wine, on linux/amd64:
#
#	device/wine.sh test -short ./device ./slab    go test
#	device/wine.sh run ./cmd/bufslab replay       go run
#
# Where wine cannot be had it says so, and ends well. What wine cannot show is in docs/systems.md.
set -euo pipefail
cd "$(dirname "$0")/.."

# have installs the rest where apt-get is, unless there is the command. It fails where that did not help.
have() {
	local command=$1 get
	shift
	get="apt-get install -y --no-install-recommends $*"
	command -v "$command" >/dev/null || ! command -v apt-get >/dev/null ||
		{ $get || { apt-get update && $get; }; } >/dev/null 2>&1 || true
	command -v "$command" >/dev/null
}
if [ "$(uname -sm)" != "Linux x86_64" ] || ! have wineserver wine wine64 || ! have x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64; then
	echo "This is no linux/amd64, or there is no wine, no compiler for its small library, and no apt-get: skipped."
	exit
fi
wine=$(command -v wine64 /usr/lib/wine/wine64 wine | head -1) # wine alone asks for wine32, too

at=$(mktemp -d)
export WINEPREFIX=$at/prefix WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= # of no program in .NET, nor any browser
trap 'wineserver -k || true; wineserver -w || true; rm -rf "$at"' EXIT
"$wine" wineboot -i >"$at/boot" 2>&1 || "$wine" wineboot -u >"$at/boot" 2>&1 || { cat "$at/boot"; exit 1; }
wineserver -w

# The Go runtime takes its random bytes from ProcessPrng, which wine 8 lacks.
system=$WINEPREFIX/drive_c/windows/system32
if ! [ -e "$system/bcryptprimitives.dll" ]; then
	cat >"$at/prng.c" <<-'C'
		#include <windows.h>
		BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG n);
		__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T n) {
			for (ULONG k; n > 0; bytes += k, n -= k) {
				k = n < 1 << 20 ? n : 1 << 20;
				if (!SystemFunction036(bytes, k))
					return FALSE;
			}
			return TRUE;
		}
	C
	x86_64-w64-mingw32-gcc -shared -O1 -o "$system/bcryptprimitives.dll" "$at/prng.c" -ladvapi32
fi

# Wine 8 refuses two calls in other words than Windows does, so Go reports an error where it would take
# another way: the removal of a file, and the truncation of what is no file.
root=$(go env GOROOT)/src
mkdir "$at/go"
patch() { # a file of the standard library, and what sed does to it
	sed "$2" "$root/$1" >"$at/go/${1##*/}"
	cmp -s "$root/$1" "$at/go/${1##*/}" && echo "device/wine.sh: $1 has changed: files may not be removed"
	echo "\"$root/$1\": \"$at/go/${1##*/}\"" >>"$at/replace"
}
patch internal/syscall/windows/at_windows.go 's/case STATUS_INVALID_INFO_CLASS,/case NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,/'
patch syscall/syscall_windows.go 's/if err == _ERROR_INVALID_PARAMETER {/if err == _ERROR_INVALID_PARAMETER || err == Errno(6) {/'
echo "{\"Replace\": {$(paste -sd, "$at/replace")}}" >"$at/overlay"

export GOOS=windows GOARCH=amd64 CGO_ENABLED=0
verb=$1
shift
go "$verb" -overlay "$at/overlay" -exec "$wine" "$@"
