// Package growpools checks a growpool.Pool: a model holds for each key what its
// buffer must show, who leases it, and how its requests were counted.
package growpools

import (
	"math"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// mostBytes bounds a request. Memory of larger ones may go back at any
// collection, which the model could not tell.
const mostBytes = 8 << 10

// Property is the property of the pools that open makes.
func Property(open func(*slab.Pool) *growpool.Pool[string], s model.Settings) func(*rapid.T) {
	s.MaxSize = min(s.MaxSize, mostBytes)
	return s.Program(func(t *rapid.T, b model.Base) (map[string]func(*rapid.T), func(*rapid.T)) {
		needHost(t, b.Bytes.Dev)
		strategy := rapid.SampledFrom(slab.Strategies()).Draw(t, "strategy")
		below, err := slab.Open(b.Up.View(), slab.Config{Strategy: strategy})
		model.OK(t, err)
		m := &growModel{Base: b, below: below, pool: open(below), keys: map[string]*grown{}}
		m.bounded = s.MaxBytes < math.MaxInt64
		m.exact = b.Bytes.Dev == nil
		for _, key := range keys {
			m.keys[key] = &grown{}
		}
		return m.actions(), m.close
	})
}

// needHost fails where the CPU does not reach the memory of a device: the model writes to what views show. dev is
// nil for the check's own memory.
func needHost(t *rapid.T, dev device.Device) {
	t.Helper()
	if dev == nil {
		return
	}
	b, err := dev.Alloc(1)
	model.OK(t, err)
	defer dev.Free(b)
	if device.Bytes(b) == nil {
		t.Fatalf("OnDevice: the CPU does not reach the memory of %s, and this check has to", dev.Name())
	}
}

func (m *growModel) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":             m.check,
		"get":          m.get,
		"getMore":      m.get, // twice as likely as the rest
		"getBad":       m.getBad,
		"getFails":     m.getFails,
		"acquire":      m.acquire,
		"acquireFails": m.acquireFails,
		"release":      m.release,
		"clear":        m.clear,
		"clearStats":   m.clearStats,
	}
}
