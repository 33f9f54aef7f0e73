module github.com/bufslab/bufslab

go 1.25
