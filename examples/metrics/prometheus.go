package main

import (
	"github.com/bufslab/bufslab/slab"
	"github.com/prometheus/client_golang/prometheus"
)

// A collector gives a registry of Prometheus what pools measure, with the label pool.
type collector []*slab.Pool

// Describe says nothing: the registry then takes what Collect sends.
func (c collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(out chan<- prometheus.Metric) {
	kinds := map[slab.Kind]prometheus.ValueType{slab.Gauge: prometheus.GaugeValue,
		slab.Counter: prometheus.CounterValue}
	for _, p := range c {
		for m := range p.Metrics() {
			desc := prometheus.NewDesc(m.Name, m.Help, nil, prometheus.Labels{"pool": p.Name()})
			out <- prometheus.MustNewConstMetric(desc, kinds[m.Kind], m.Value)
		}
	}
}
