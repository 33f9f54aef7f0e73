module github.com/bufslab/bufslab

go 1.25.0

require (
	github.com/dustin/go-humanize v1.1.0
	golang.org/x/sys v0.47.0
	pgregory.net/rapid v1.3.0
)
