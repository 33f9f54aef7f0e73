module github.com/bufslab/bufslab/internal/browsertest

go 1.26.0

replace github.com/bufslab/bufslab => ../..

require (
	github.com/bufslab/bufslab v0.0.0
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
