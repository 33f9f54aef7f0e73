//go:build metal

package main

import "github.com/bufslab/bufslab/device/metal"

func init() {
	hardware["metal"] = func() (lines []string, err error) {
		infos, err := metal.Devices()
		for _, i := range infos {
			lines = append(lines, i.String())
		}
		return lines, err
	}
}
