module github.com/bufslab/bufslab/examples/kvcache

go 1.25.0

replace github.com/bufslab/bufslab => ../..

require github.com/bufslab/bufslab v0.0.0

require golang.org/x/sys v0.47.0 // indirect
