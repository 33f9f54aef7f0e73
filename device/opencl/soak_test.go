package opencl_test

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/fuzz/soak"
)

// Pools of every strategy on drivers that fail, panic and take their time; see package
// soak.
//
//	BUFSLAB_SOAK=6m go test ./device/opencl -run 'TestSoak/device=opencl:0:pinned,' -v
func TestSoak(t *testing.T) {
	for _, name := range names[1:] {
		for _, escape := range []bool{false, true} {
			t.Run(fmt.Sprintf("device=%s,escape=%t", name, escape), func(t *testing.T) { soak.Run(t, escape, name) })
		}
	}
}
