package slab

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every field of Stats is one metric and no other, under the name of its JSON tag, and is
// in the line and in the log under that name.
func TestEveryFieldOfStatsIsOneMetric(t *testing.T) {
	fields := reflect.TypeFor[Stats]()
	if fields.NumField() != len(statFields) {
		t.Errorf("%d fields, %d metrics", fields.NumField(), len(statFields))
	}
	snake := regexp.MustCompile(`\B[A-Z]`)
	for i := range min(fields.NumField(), len(statFields)) {
		var s Stats
		reflect.ValueOf(&s).Elem().Field(i).SetInt(7)
		name := strings.ToLower(snake.ReplaceAllString(fields.Field(i).Name, "_$0"))
		if fields.Field(i).Type == reflect.TypeFor[time.Duration]() {
			name += "_ns"
		}
		if tag := fields.Field(i).Tag.Get("json"); tag != name || statFields[i].name != name {
			t.Errorf("field %s has the tag %q and is metric %q", fields.Field(i).Name, tag, statFields[i].name)
		}
		for k := range statFields {
			if v := statFields[k].value(&s); (v == 7) != (k == i) {
				t.Errorf("of field %s metric %s is %d", name, statFields[k].name, v)
			}
		}
		if got := s.String(); got != name+"=7" {
			t.Errorf("line %q", got)
		}
		if a := s.LogValue().Group(); len(a) != len(statFields) || !a[i].Equal(slog.Int64(name, 7)) {
			t.Errorf("log %v", a)
		}
		if text, err := json.Marshal(s); err != nil || !strings.Contains(string(text), fmt.Sprintf("%q:7", name)) {
			t.Errorf("JSON %s, %v", text, err)
		}
	}
}

// Names, units and kinds are as Prometheus wants them.
func TestMetricsHaveNamesAndUnits(t *testing.T) {
	p := openPool(t, "heap", Config{})
	seen := map[string]bool{}
	for m := range p.Metrics() {
		if !regexp.MustCompile(`^bufslab_[a-z_]+$`).MatchString(m.Name) || seen[m.Name] {
			t.Errorf("name %q", m.Name)
		}
		seen[m.Name] = true
		if strings.HasSuffix(m.Name, "_total") != (m.Kind == Counter) || strings.Contains(m.Name, "_bytes") != (m.Unit == "bytes") || strings.Contains(m.Name, "_seconds") != (m.Unit == "seconds") {
			t.Errorf("%+v", m)
		}
		if strings.TrimSpace(m.Help) != m.Help || !strings.HasSuffix(m.Help, ".") {
			t.Errorf("help %q", m.Help)
		}
	}
	for range p.Metrics() {
		break // a loop may end early
	}
	if text := fmt.Sprint(Gauge, Counter); text != "gauge counter" {
		t.Error(text)
	}
}

// Times are nanoseconds in Stats, and seconds in metrics.
func TestMetricsHaveSeconds(t *testing.T) {
	i := slices.IndexFunc(statFields[:], func(f statField) bool { return f.name == "wait_time_ns" })
	m := statFields[i].metric(&Stats{WaitTime: 1500 * time.Millisecond})
	if m.Name != "bufslab_wait_time_seconds_total" || m.Value != 1.5 {
		t.Errorf("%+v", m)
	}
}

// metricOf returns a metric's value.
func metricOf(t *testing.T, p *Pool, name string) float64 {
	t.Helper()
	for m := range p.Metrics() {
		if m.Name == name {
			return m.Value
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// Metrics are read when a loop begins. A call upstream does not make a Get a miss that had been counted as a hit,
// while the Get of the call is not counted yet. A gauge falls.
func TestCountersNeverFall(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact"})
	all := p.Metrics()
	for range 3 {
		mustRelease(t, mustGet(t, p, 100))
	}
	for m := range all {
		if m.Name == "bufslab_hits_total" && m.Value != 2 {
			t.Errorf("%g hits", m.Value)
		}
	}
	b, err := p.pool.accounting.Alloc(1000) // a call upstream whose Get has not been counted yet
	if err != nil {
		t.Fatal(err)
	}
	if s, metric := p.Stats(), metricOf(t, p, "bufslab_hits_total"); s.Hits != 2 || metric != 2 || s.Misses != 1 {
		t.Errorf("the counter is %g: %+v", metric, s)
	}
	p.pool.accounting.Free(b)
	if n := metricOf(t, p, "bufslab_managed_bytes"); n != 100 {
		t.Errorf("%g bytes managed", n)
	}
	p.FreeHeld()
	if n := metricOf(t, p, "bufslab_managed_bytes"); n != 0 {
		t.Errorf("%g bytes managed when all went back", n)
	}
}

// What a strategy below a pool holds is in the peak as Stats has seen it, also when it went.
func TestThePeakOverAStrategyDoesNotFall(t *testing.T) {
	below, err := NewStrategy("exact", &source{Host: true}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustOpen(t, below, Config{Strategy: "direct"})
	a, b := mustGet(t, p, 1<<20), mustGet(t, p, 1<<20)
	mustRelease(t, a)
	mustRelease(t, b)
	keeps := mustGet(t, p, 3<<20) // beside what the strategy keeps of a and b
	if s := p.Stats(); s.PeakManagedBytes != 5<<20 {
		t.Fatalf("%+v", s)
	}
	mustRelease(t, keeps)
	p.FreeHeld()
	if s := p.Stats(); s.PeakManagedBytes != 5<<20 || s.ManagedBytes != 0 {
		t.Errorf("peak %d, now %d", s.PeakManagedBytes, s.ManagedBytes)
	}
	p.ResetPeaks()
	if s := p.Stats(); s.PeakManagedBytes != 0 {
		t.Errorf("peak %d", s.PeakManagedBytes)
	}
}

func TestResetPeaks(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "direct"})
	a, b := mustGet(t, p, 1<<20), mustGet(t, p, 2<<20)
	mustRelease(t, b)
	if s := p.Stats(); s.PeakManagedBytes < 3<<20 {
		t.Fatalf("%+v", s)
	}
	p.ResetPeaks()
	if s := p.Stats(); s.PeakManagedBytes != s.ManagedBytes || s.ManagedBytes < 1<<20 {
		t.Errorf("%+v", s)
	}
	mustRelease(t, mustGet(t, p, 1<<20))
	if s := p.Stats(); s.PeakManagedBytes < 2<<20 || s.PeakManagedBytes >= 3<<20 {
		t.Errorf("%+v", s)
	}
	if s := p.Stats(); s.PeakActiveBytes != 2<<20 {
		t.Errorf("%d bytes were out at most, want those since ResetPeaks and what was out then", s.PeakActiveBytes)
	}
	p.ResetPeaks()
	mustRelease(t, a)
	if s := p.Stats(); s.PeakManagedBytes < 1<<20 || s.ManagedBytes != 0 {
		t.Errorf("not from what was managed then: %+v", s)
	}
	p.ResetPeaks()
	if s := p.Stats(); s.PeakManagedBytes != 0 || s.PeakActiveBytes != 0 {
		t.Errorf("peaks of nothing: %+v", s)
	}
}
