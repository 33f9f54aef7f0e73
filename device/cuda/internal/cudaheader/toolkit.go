package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// A toolkit is where cgo finds the header and what to link with.
type toolkit struct{ include, lib string }

// environment is in the shell's language. Symbols are bound when they are first called:
// module cu names functions that no driver of today has any more, and never calls them.
func (k toolkit) environment() string {
	return fmt.Sprintf("export CGO_ENABLED=1 CGO_CFLAGS='-g -O2 -I%s' CGO_LDFLAGS='-g -O2 -L%s -Wl,-z,lazy'\n",
		k.include, k.lib)
}

// findToolkit looks where toolkits say that they are, and then where they are put.
func findToolkit() (toolkit, bool) {
	for _, root := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"} {
		k := toolkit{include: filepath.Join(root, "include"), lib: filepath.Join(root, "lib64", "stubs")}
		if root != "" && k.complete() {
			return k, true
		}
	}
	return toolkit{}, false
}

// complete says whether there is a header that can be used and a library to link with.
func (k toolkit) complete() bool {
	header, err := os.ReadFile(filepath.Join(k.include, "cuda.h"))
	if err != nil || !usable(string(header)) {
		return false
	}
	_, err = os.Stat(filepath.Join(k.lib, "libcuda.so"))
	return err == nil
}

var versionLine = regexp.MustCompile(`(?m)^#define\s+CUDA_VERSION\s+(\d+)`)

// usable says whether module cu can be built on a header: in CUDA 13
// cuCtxCreate has other arguments.
func usable(header string) bool {
	m := versionLine.FindStringSubmatch(header)
	if m == nil {
		return false
	}
	version, _ := strconv.Atoi(m[1])
	return version >= 11000 && version < 13000
}
