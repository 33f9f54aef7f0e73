package main

import (
	"context"
	"strings"

	"github.com/bufslab/bufslab/slab"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// observe gives a meter of OpenTelemetry what a pool measures, with the attribute pool,
// until the registration that it returns is ended.
func observe(meter metric.Meter, p *slab.Pool) (metric.Registration, error) {
	instruments := map[string]metric.Float64Observable{}
	var all []metric.Observable
	for m := range p.Metrics() {
		i, err := instrument(meter, m)
		if err != nil {
			return nil, err
		}
		instruments[m.Name], all = i, append(all, i)
	}
	pool := metric.WithAttributes(attribute.String("pool", p.Name()))
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for m := range p.Metrics() {
			o.ObserveFloat64(instruments[m.Name], m.Value, pool)
		}
		return nil
	}, all...)
}

// instrument makes what m is read with. OpenTelemetry writes bytes as By, and its exporters
// add _total themselves.
func instrument(meter metric.Meter, m slab.Metric) (metric.Float64Observable, error) {
	unit := map[string]string{"bytes": "By", "seconds": "s", "": "1"}[m.Unit]
	if m.Kind == slab.Counter {
		name := strings.TrimSuffix(m.Name, "_total")
		return meter.Float64ObservableCounter(name, metric.WithDescription(m.Help), metric.WithUnit(unit))
	}
	return meter.Float64ObservableGauge(m.Name, metric.WithDescription(m.Help), metric.WithUnit(unit))
}
