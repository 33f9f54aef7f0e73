package main

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/slab"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// used returns two pools that have something to tell.
func used(t *testing.T) []*slab.Pool {
	t.Helper()
	pools := []*slab.Pool{slab.MustOpen("name=uploads,device=mmap,max_bytes=64MiB"), slab.MustOpen(`{"name":"a \"b\", c"}`)}
	for i, p := range pools {
		for range 10 * (i + 1) {
			b, err := p.Get(1000)
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
			b.Release()
		}
		p.Trim(0)
		t.Cleanup(func() { p.Close() })
	}
	if _, err := pools[0].Get(100 << 20); err == nil {
		t.Fatal("there was room")
	}
	return pools
}

// stats returns the fields of Stats by their names in JSON, times in seconds.
func stats(t *testing.T, p *slab.Pool) (fields map[string]float64) {
	t.Helper()
	text, err := json.Marshal(p.Stats())
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	fields["wait_time_seconds"] = fields["wait_time_ns"] / 1e9
	delete(fields, "wait_time_ns")
	return fields
}

// compare fails unless got has each field of Stats, under a name with that prefix.
func compare(t *testing.T, p *slab.Pool, got map[string]float64) {
	t.Helper()
	want := stats(t, p)
	if len(got) != len(want) {
		t.Errorf("%d metrics of %d fields", len(got), len(want))
	}
	for name, v := range got {
		field := strings.TrimSuffix(strings.TrimPrefix(name, "bufslab_"), "_total")
		if w, ok := want[field]; !ok || v != w {
			t.Errorf("pool %s: %s is %g, want %g", p.Name(), name, v, w)
		}
	}
}

// What Prometheus scrapes over HTTP is what Stats says.
func TestPrometheusScrapesStats(t *testing.T) {
	pools := used(t)
	reply := httptest.NewRecorder()
	handler(pools...).ServeHTTP(reply, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]float64{}
	for name, f := range families {
		if counter := f.GetType() == dto.MetricType_COUNTER; counter != strings.HasSuffix(name, "_total") || f.GetHelp() == "" {
			t.Errorf("%v", f)
		}
		for _, m := range f.GetMetric() {
			pool := m.GetLabel()[0].GetValue()
			if got[pool] == nil {
				got[pool] = map[string]float64{}
			}
			got[pool][name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	for _, p := range pools {
		compare(t, p, got[p.Name()])
	}
	if got["uploads"]["bufslab_failed_total"] != 1 || got["uploads"]["bufslab_double_releases_total"] != 10 {
		t.Errorf("%v", got["uploads"])
	}
}

// A registry that looks closely finds nothing wrong with the metrics.
func TestPrometheusFindsNothingWrong(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector(used(t)))
	if _, err := registry.Gather(); err != nil {
		t.Error(err)
	}
}

// What a reader of OpenTelemetry collects is what Stats says.
func TestOpenTelemetryReadsStats(t *testing.T) {
	pools := used(t)
	reader := sdk.NewManualReader()
	meter := sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("bufslab")
	for _, p := range pools {
		if _, err := observe(meter, p); err != nil {
			t.Fatal(err)
		}
	}
	var read metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &read); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]float64{}
	for _, m := range read.ScopeMetrics[0].Metrics {
		if (m.Unit == "By") != strings.HasSuffix(m.Name, "_bytes") || m.Description == "" {
			t.Errorf("%+v", m)
		}
		for _, point := range points(t, m) {
			pool, _ := point.Attributes.Value("pool")
			if got[pool.AsString()] == nil {
				got[pool.AsString()] = map[string]float64{}
			}
			got[pool.AsString()][m.Name] = point.Value
		}
	}
	for _, p := range pools {
		compare(t, p, got[p.Name()])
	}
}

func points(t *testing.T, m metricdata.Metrics) []metricdata.DataPoint[float64] {
	t.Helper()
	switch data := m.Data.(type) {
	case metricdata.Gauge[float64]:
		return data.DataPoints
	case metricdata.Sum[float64]:
		if !data.IsMonotonic || data.Temporality != metricdata.CumulativeTemporality {
			t.Errorf("%s: %+v", m.Name, data)
		}
		return data.DataPoints
	}
	t.Errorf("%s is %T", m.Name, m.Data)
	return nil
}
