package main

import (
	"math"
	"testing"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// A machine that is ten times slower in one round is so for both pools.
func TestRatiosAreTakenWithinARound(t *testing.T) {
	ours, theirs, harness := []float64{22, 220, 12}, []float64{12, 120, 7}, []float64{2, 20, 2}
	for _, r := range report.Ratios(less(ours, harness), less(theirs, harness)) {
		if r != 2 {
			t.Errorf("a round has ratio %v", r)
		}
	}
}

func TestWhatTheHarnessTookAsLongForIsNotNegative(t *testing.T) {
	net := less([]float64{1}, []float64{3})
	if net[0] != leastTime || math.IsInf(report.Ratios(net, net)[0], 0) {
		t.Errorf("net is %v", net)
	}
}
