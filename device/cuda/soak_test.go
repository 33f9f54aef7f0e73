//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/fuzz/soak"
)

// Pools of every strategy on a driver that fails, panics and takes its time; see package
// soak.
//
//	BUFSLAB_SOAK=6m ./device/cuda/test.sh -run 'TestSoak/device=cuda:0:pinned,' -v
func TestSoak(t *testing.T) {
	for _, name := range names {
		for _, escape := range []bool{false, true} {
			t.Run(fmt.Sprintf("device=%s,escape=%t", name, escape), func(t *testing.T) {
				if escape {
					watchMistakes(t) // what cannot be taken out of use stays
				} else {
					watch(t)
				}
				soak.Run(t, escape, name)
			})
		}
	}
}
