// Command bufslabvet finds misuse of pooled buffers. It runs by itself, on packages,
//
//	bufslabvet ./...
//
// or below go vet, which keeps what it has found out about packages that did not change:
//
//	go vet -vettool=$(which bufslabvet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/bufslab/bufslab/vet"
)

func main() { multichecker.Main(vet.Analyzer) }
