module github.com/bufslab/bufslab/examples/cells

go 1.25.0

replace github.com/bufslab/bufslab => ../..

require (
	github.com/bufslab/bufslab v0.0.0
	github.com/dustin/go-humanize v1.1.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
