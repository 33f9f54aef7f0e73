//go:build metal

package main

import (
	"strings"

	"github.com/bufslab/bufslab/device/metal"
)

func init() {
	hardware["metal"] = func() (names, notes []string, err error) {
		infos, err := metal.Devices()
		for _, i := range infos {
			names = append(names, i.Name)
			notes = append(notes, strings.TrimPrefix(i.String(), i.Name+": "))
		}
		return names, notes, err
	}
}
