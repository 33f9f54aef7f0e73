package slab_test

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/fuzz/soak"
)

// Pools of every strategy on devices that fail, panic and take their time; see package
// soak.
//
//	BUFSLAB_SOAK=10m go test ./slab -run TestSoak -v -timeout 20m
func TestSoak(t *testing.T) {
	for _, escape := range []bool{false, true} {
		t.Run(fmt.Sprintf("escape=%t", escape), func(t *testing.T) {
			soak.Run(t, escape, "heap", "mmap", "mmap:fixed", "virtual", "sim:256MiB", "sim:256MiB:late=1", "sim:256MiB:pinned")
		})
	}
}
