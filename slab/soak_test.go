package slab_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/bufslab/bufslab/fuzz/soak"
)

// Pools of every strategy on devices that fail, panic and take their time; see package
// soak. A short run leaves out devices that differ in what soak does not look at.
//
//	BUFSLAB_SOAK=10m go test ./slab -run TestSoak -v -timeout 20m
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("other builds find nothing else by it")
	}
	devices := []string{"heap", "mmap", "sim:256MiB:late=1"}
	if os.Getenv("BUFSLAB_SOAK") != "" {
		devices = append(devices, "mmap:fixed", "virtual", "sim:256MiB", "sim:256MiB:pinned")
	}
	for _, escape := range []bool{false, true} {
		t.Run(fmt.Sprintf("escape=%t", escape), func(t *testing.T) {
			soak.Run(t, escape, devices...)
		})
	}
}
