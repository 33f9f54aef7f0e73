package metal

import (
	"fmt"
	"os"
	"testing"

	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/metal/internal/double"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/fuzz/soak"
)

// everyWay runs a test on each kind of memory; on the double with work that is late, and on a GPU with
// memory of its own, too.
func everyWay(t *testing.T, names []string, test func(t *testing.T, name string)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			watch(t)
			test(t, name)
		})
		if !double.Present() {
			continue
		}
		t.Run(name+",late", func(t *testing.T) {
			late(t)
			test(t, name)
		})
	}
}

func TestConformance(t *testing.T) {
	everyWay(t, append([]string{"metal", "metal:0:private:pinned"}, names...), func(t *testing.T, name string) {
		devicetest.Run(t, devcheck.Opener(t, name))
	})
}

func TestModel(t *testing.T) {
	everyWay(t, some("metal:0:private", "metal:0", "metal:0:pinned"), func(t *testing.T, name string) { fuzz.CheckDevice(t, devcheck.Opener(t, name)) })
}

// Pools of every strategy on a device that fails, panics and takes its time; see package soak.
//
//	BUFSLAB_SOAK=6m ./device/metal/test.sh -run 'TestSoak/device=metal:0:pinned,' -v
func TestSoak(t *testing.T) {
	if os.Getenv("BUFSLAB_METAL") == "" {
		t.Skip("a soak takes its time: test.sh runs it")
	}
	for _, name := range names {
		for _, escape := range []bool{false, true} {
			t.Run(fmt.Sprintf("device=%s,escape=%t", name, escape), func(t *testing.T) {
				watch(t)
				soak.Run(t, escape, name)
			})
		}
	}
}
