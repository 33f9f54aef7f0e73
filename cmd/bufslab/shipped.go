package main

import (
	"bytes"
	_ "embed"

	"github.com/bufslab/bufslab/trace"
)

// arrowCSV is what examples/record-arrow recorded.
//
//go:embed arrow-csv.csv.gz
var arrowCSV []byte

func shipped() (*trace.Trace, error) {
	return trace.Read(bytes.NewReader(arrowCSV), "arrow-csv.csv.gz")
}
