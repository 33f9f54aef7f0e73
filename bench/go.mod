module github.com/bufslab/bufslab/bench

go 1.26.0

replace github.com/bufslab/bufslab => ../

require (
	github.com/apache/arrow-go/v18 v18.8.0
	github.com/bufslab/bufslab v0.0.0
	github.com/bytedance/gopkg v0.1.4
	github.com/dustin/go-humanize v1.1.0
	github.com/panjf2000/gnet/v2 v2.9.1
	github.com/valyala/bytebufferpool v1.0.0
	google.golang.org/grpc v1.85.0
	modernc.org/memory v1.12.1
)

require (
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20260112195511-716be5621a96 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
