package slab_test

import (
	"encoding/json"
	"expvar"
	"fmt"

	"github.com/bufslab/bufslab/slab"
)

// Stats in /debug/vars, of the pool's name: package expvar serves them as JSON.
func ExampleStats_expvar() {
	p, _ := slab.OpenConfig(slab.Config{Name: "uploads"})
	defer p.Close()
	expvar.Publish("bufslab."+p.Name(), expvar.Func(func() any { return p.Stats() }))

	b, _ := p.Get(1000)
	var seen map[string]int64
	json.Unmarshal([]byte(expvar.Get("bufslab.uploads").String()), &seen)
	fmt.Println(seen["active_blocks"], seen["active_bytes"])
	b.Release()
	// Output: 1 1000
}

// Any monitoring system is a loop of a few lines; examples/metrics has Prometheus and
// OpenTelemetry.
func ExamplePool_Metrics() {
	p, _ := slab.OpenConfig(slab.Config{Name: "uploads"})
	defer p.Close()
	b, _ := p.Get(1000)
	for m := range p.Metrics() {
		if m.Value != 0 && m.Name[:14] == "bufslab_active" || m.Kind == slab.Counter && m.Unit == "bytes" && m.Value != 0 {
			fmt.Printf("%s{pool=%q} %g\n", m.Name, p.Name(), m.Value)
		}
	}
	b.Release()
	// Output:
	// bufslab_active_blocks{pool="uploads"} 1
	// bufslab_active_bytes{pool="uploads"} 1000
	// bufslab_allocated_bytes_total{pool="uploads"} 1000
}
