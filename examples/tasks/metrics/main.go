package main

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bufslab/bufslab/inspect"
	"github.com/bufslab/bufslab/slab"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Pools are a collector: a loop over what they measure.
type pools []*slab.Pool

func (pools) Describe(chan<- *prometheus.Desc) {}

func (list pools) Collect(out chan<- prometheus.Metric) {
	kinds := map[slab.Kind]prometheus.ValueType{
		slab.Gauge: prometheus.GaugeValue, slab.Counter: prometheus.CounterValue,
	}
	for _, p := range list {
		for m := range p.Metrics() {
			desc := prometheus.NewDesc(m.Name, m.Help, nil, prometheus.Labels{"pool": p.Name()})
			out <- prometheus.MustNewConstMetric(desc, kinds[m.Kind], m.Value)
		}
	}
}

func main() {
	uploads := slab.MustOpen("name=uploads,max_bytes=1GiB")
	registry := prometheus.NewRegistry()
	registry.MustRegister(pools{uploads})
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.Handle("/debug/bufslab/", inspect.Handler(uploads)) // a page, not for the public internet

	b, err := uploads.Get(1 << 20)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Release()
	server := httptest.NewServer(mux) // a server listens by http.ListenAndServe("localhost:8080", mux)
	defer server.Close()
	for _, path := range []string{"/metrics", "/debug/bufslab/"} {
		r, err := http.Get(server.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(path, r.Status)
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "bufslab_active_bytes") {
				fmt.Println(lines.Text())
			}
		}
		r.Body.Close()
	}
}
