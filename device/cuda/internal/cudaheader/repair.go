package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// The header in module cu went through a preprocessor: what it includes stands
// in it in full, its macros are gone, and so are the suffixes by which a
// program asks for the 64-bit versions of functions. Without them it would be linked to
// the versions of 2007 that are still in every driver and take 32-bit
// addresses and sizes. All of that is put back here.

// start is the first line that is the driver's own.
const start = "typedef uint32_t cuuint32_t;"

// repair turns the preprocessed header into one that can be included.
func repair(original string) (string, error) {
	at := strings.Index(original, start)
	if at < 0 {
		return "", fmt.Errorf("the header of module cu has no line %q", start)
	}
	own := original[at:]
	known := map[string]bool{}
	for _, name := range prototypes(own) {
		known[name] = true
	}
	var b strings.Builder
	b.WriteString("#ifndef BUFSLAB_CUDA_H\n#define BUFSLAB_CUDA_H\n#include <stdint.h>\n#include <stdlib.h>\n")
	b.WriteString(lostMacros)
	for _, v := range versions {
		for _, name := range strings.Fields(v.names) {
			if !known[name] {
				return "", fmt.Errorf("the header of module cu has no function %s", name)
			}
			fmt.Fprintf(&b, "#define %s %s%s\n", name, name, v.suffix)
		}
	}
	return b.String() + own + "\n#endif\n", nil
}

// lostMacros have the values of the driver's interface, which never change.
const lostMacros = `#define CUDA_VERSION 11000
#define CU_TRSF_READ_AS_INTEGER 0x01
#define CU_TRSF_NORMALIZED_COORDINATES 0x02
#define CU_TRSF_SRGB 0x10
#define CU_MEMHOSTALLOC_PORTABLE 0x01
#define CU_MEMHOSTALLOC_DEVICEMAP 0x02
#define CU_MEMHOSTALLOC_WRITECOMBINED 0x04
#define CU_MEMHOSTREGISTER_PORTABLE 0x01
#define CU_MEMHOSTREGISTER_DEVICEMAP 0x02
`

// versions says which functions have had a suffix since which interface.
var versions = []struct{ suffix, names string }{
	{"_v3", `cuTexRefSetAddress2D`},
	{"_v2", `
		cuDeviceTotalMem cuCtxCreate cuCtxDestroy cuCtxPopCurrent cuCtxPushCurrent
		cuModuleGetGlobal cuMemGetInfo cuMemAlloc cuMemAllocPitch cuMemFree
		cuMemGetAddressRange cuMemAllocHost cuMemHostGetDevicePointer cuMemHostRegister
		cuMemcpyHtoD cuMemcpyDtoH cuMemcpyDtoD cuMemcpyDtoA cuMemcpyAtoD cuMemcpyHtoA
		cuMemcpyAtoH cuMemcpyAtoA cuMemcpyHtoAAsync cuMemcpyAtoHAsync cuMemcpy2D
		cuMemcpy2DUnaligned cuMemcpy3D cuMemcpyHtoDAsync cuMemcpyDtoHAsync
		cuMemcpyDtoDAsync cuMemcpy2DAsync cuMemcpy3DAsync cuMemsetD8 cuMemsetD16
		cuMemsetD32 cuMemsetD2D8 cuMemsetD2D16 cuMemsetD2D32 cuArrayCreate
		cuArrayGetDescriptor cuArray3DCreate cuArray3DGetDescriptor cuTexRefSetAddress
		cuTexRefGetAddress cuGraphicsResourceGetMappedPointer
		cuGraphicsResourceSetMapFlags cuStreamDestroy cuEventDestroy cuLinkCreate
		cuLinkAddData cuLinkAddFile cuStreamBeginCapture cuDevicePrimaryCtxRelease
		cuDevicePrimaryCtxReset cuDevicePrimaryCtxSetFlags cuIpcOpenMemHandle`},
}

var (
	prototype = regexp.MustCompile(`CUresult\s+(cu[A-Z]\w*)\s*\(`)
	rename    = regexp.MustCompile(`(?m)^#define (cu[A-Z]\w*) (cu\w+)$`)
)

// prototypes returns the names of the functions that a header declares.
func prototypes(header string) []string {
	var names []string
	for _, m := range prototype.FindAllStringSubmatch(header, -1) {
		names = append(names, m[1])
	}
	return names
}

// functions returns the names that a program built with a repaired header is
// linked to, sorted.
func functions(header string) []string {
	linked := map[string]string{}
	for _, m := range rename.FindAllStringSubmatch(header, -1) {
		linked[m[1]] = m[2]
	}
	set := map[string]bool{}
	for _, name := range prototypes(header) {
		if to, renamed := linked[name]; renamed {
			name = to
		}
		set[name] = true
	}
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// stubOf returns the source of a library to link with. It does nothing: every
// call says that there is no device (CUDA_ERROR_NO_DEVICE, 100).
func stubOf(names []string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "int %s(void) { return 100; }\n", name)
	}
	return b.String()
}
