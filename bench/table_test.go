package main

import (
	"os"
	"testing"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// The page has the place that -write fills.
func TestThePageHasAPlaceForTheTable(t *testing.T) {
	text, err := os.ReadFile(documentation)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := report.Between(string(text), "counts", ""); err != nil {
		t.Error(err)
	}
}
