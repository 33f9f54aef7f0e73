//go:build !bufslab_portable || race

package percpu

import "testing"

// onlyNumber0 has nothing to do: there is one processor, or oneCPU sees to it.
func onlyNumber0(*testing.T) {}
