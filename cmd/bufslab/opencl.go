//go:build opencl

package main

import (
	"strings"

	"github.com/bufslab/bufslab/device/opencl"
)

// With OpenCL the command is dynamically linked, on linux against glibc, and
// would not start in many a container: so it takes a tag.
func init() {
	hardware["opencl"] = func() (names, notes []string, err error) {
		infos, err := opencl.Devices()
		for _, i := range infos {
			names = append(names, i.Name)
			notes = append(notes, strings.TrimPrefix(i.String(), i.Name+": "))
		}
		return names, notes, err
	}
}
