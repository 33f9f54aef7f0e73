package main

import (
	"math"
	"testing"
)

func TestQuartilesLieBetweenTheFiguresNextToThem(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want spread
	}{
		{[]float64{7}, spread{7, 7, 7}},
		{[]float64{2, 1}, spread{1.25, 1.5, 1.75}},
		{[]float64{5, 1, 4, 2, 3}, spread{2, 3, 4}},
		{[]float64{40, 10, 30, 20}, spread{17.5, 25, 32.5}},
	} {
		if got := spreadOf(c.of); got != c.want {
			t.Errorf("%v has %v, not %v", c.of, got, c.want)
		}
	}
}

func TestSpreadLeavesItsFiguresInOrder(t *testing.T) {
	rounds := []float64{3, 1, 2}
	spreadOf(rounds)
	if rounds[0] != 3 {
		t.Errorf("rounds became %v", rounds)
	}
}

// A machine that is ten times slower in one round is so for both pools.
func TestRatiosAreTakenWithinARound(t *testing.T) {
	ours, theirs, harness := []float64{22, 220, 12}, []float64{12, 120, 7}, []float64{2, 20, 2}
	for _, r := range ratios(less(ours, harness), less(theirs, harness)) {
		if r != 2 {
			t.Errorf("a round has ratio %v", r)
		}
	}
}

func TestWhatTheHarnessTookAsLongForIsNotNegative(t *testing.T) {
	net := less([]float64{1}, []float64{3})
	if net[0] != leastTime || math.IsInf(ratios(net, net)[0], 0) {
		t.Errorf("net is %v", net)
	}
}

func TestSpreadsInWords(t *testing.T) {
	if got := (spread{1.104, 1.2, 1.296}).ratio(); got != "1.20 (1.10..1.30)" {
		t.Error(got)
	}
	if got := (spread{9.94, 99.9, 123456.7}).time(); got != "99.9 (9.9..123,457)" {
		t.Error(got)
	}
}
