//go:build unix

package main

// Pebble keeps blocks and memtables in memory of C, and in that of make where there is no cgo.
func pebble(name, cgo string) *port {
	return &port{
		name: name, text: "pebble", suitesOf: module{"github.com/cockroachdb/pebble/v2", "v2.1.7"},
		into:    "internal/manual/manual.go",
		without: []string{"internal/manual/manual_cgo.go", "internal/manual/manual_nocgo.go"},
		env:     []string{"CGO_ENABLED=" + cgo},
		suites: []suite{
			{pkg: "./internal/cache", size: quick},
			{pkg: "."},
			{pkg: "./sstable"}, {pkg: "./sstable/block"}, {pkg: "./sstable/colblk"},
			{pkg: "./metamorphic"},
			{pkg: "./internal/metamorphic", size: long, args: []string{"-seed=7", "-ops=uniform:5000-5000"}},
		},
	}
}
