//go:build opencl

package main

import "github.com/bufslab/bufslab/device/opencl"

// With OpenCL the command is dynamically linked, on linux against glibc, and
// would not start in many a container: so it takes a tag.
func init() {
	hardware["opencl"] = func() (lines []string, err error) {
		infos, err := opencl.Devices()
		for _, i := range infos {
			lines = append(lines, i.String())
		}
		return lines, err
	}
}
