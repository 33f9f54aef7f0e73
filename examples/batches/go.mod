module github.com/bufslab/bufslab/examples/batches

go 1.25.0

replace github.com/bufslab/bufslab => ../..

require github.com/bufslab/bufslab v0.0.0

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
