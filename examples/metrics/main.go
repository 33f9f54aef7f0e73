// Command metrics serves what two pools measure to Prometheus, at /metrics, and shows how
// OpenTelemetry reads the same. Each is a loop over [slab.Pool.Metrics]: prometheus.go and
// otel.go.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"github.com/bufslab/bufslab/slab"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	address := flag.String("listen", "localhost:8080", "address to serve at")
	flag.Parse()
	uploads := slab.MustOpen("name=uploads,device=mmap,max_bytes=64MiB")
	replies := slab.MustOpen("name=replies")
	http.Handle("/metrics", handler(uploads, replies))
	http.HandleFunc("/work", func(w http.ResponseWriter, _ *http.Request) {
		b, err := uploads.Get(1 << 20)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer b.Release()
		fmt.Fprintln(w, uploads.Stats())
	})
	log.Fatal(http.ListenAndServe(*address, nil))
}

// handler serves what pools measure, to Prometheus.
func handler(pools ...*slab.Pool) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(pools))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
