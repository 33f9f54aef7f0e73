package slab

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab/internal/budget"
)

// A pool is calm while nothing is out, and nothing on its way upstream.
func TestAPoolIsCalmWhenAllIsBack(t *testing.T) {
	for _, strategy := range []string{"direct", "exact"} {
		up := &reader{}
		p := mustOpen(t, up, Config{Strategy: strategy})
		calm := func() bool { return p.pool.AddCalm(&budget.Calm{}) }
		if !calm() {
			t.Errorf("%s: a new pool is not calm", strategy)
		}
		b := mustGet(t, p, 1000)
		if calm() {
			t.Errorf("%s: calm with a buffer out", strategy)
		}
		onItsWay := false
		if strategy == "direct" { // the other goes upstream under the lock that AddCalm takes
			up.read = func() { onItsWay = calm() }
		}
		mustRelease(t, b)
		if onItsWay || !calm() {
			t.Errorf("%s: calm on its way %v, and afterwards %v", strategy, onItsWay, calm())
		}
		up.read = nil // which keeps the pool
		check.Must(t, p.Close())
	}
}
