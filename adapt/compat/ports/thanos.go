//go:build unix

package main

// Thanos has a pool of buckets for the chunks that a request reads, with a bound.
var thanos = &port{
	name: "thanos", text: "thanos", suitesOf: module{"github.com/thanos-io/thanos", "v0.41.0"},
	into: "pkg/pool/bufslab.go", tags: "slicelabels",
	cut: map[string][]string{"pkg/pool/pool.go": {
		"BucketedPool", "NewBucketedPool", "BucketedPool.Get", "BucketedPool.Put", "BucketedPool.UsedBytes",
	}},
	edit: map[string][]edit{
		"pkg/pool/pool.go":      {{`\t"sync"\n`, ""}},
		"pkg/pool/pool_test.go": {{`chunkPool\.usedTotal`, "chunkPool.UsedBytes()"}},
	},
	suites: []suite{
		{pkg: "./pkg/pool", size: quick},
		{pkg: "./pkg/store", args: []string{"-test.short"}},
	},
}
