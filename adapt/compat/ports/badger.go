//go:build unix

package main

// Badger has blocks, buffers and arenas of package z of ristretto: on the heap, unless it is built with jemalloc.
var badger = &port{
	name: "badger", text: "badger", suitesOf: module{"github.com/dgraph-io/badger/v4", "v4.9.6"},
	inside:  module{"github.com/dgraph-io/ristretto/v2", "v2.4.2"},
	into:    "z/bufslab.go",
	without: []string{"z/calloc_nojemalloc.go"},
	cut:     map[string][]string{"z/calloc.go": {"numBytes", "NumAllocBytes"}},
	edit:    map[string][]edit{"z/calloc.go": {{`import "sync/atomic"\n`, ""}}},
	sides:   []side{{"heap", []string{"BUFSLAB_CONF=device=heap"}}, {"mmap", []string{"BUFSLAB_CONF=device=mmap"}}},
	suites: []suite{
		{pkg: "./table"}, {pkg: "./skl"},
		{pkg: ".", title: "streams and transactions", args: []string{"-test.run=^Test(Stream|Write|Txn|Merge|Iterat|Batch|Compaction|Encrypt)"}},
		{pkg: ".", size: long},
	},
}
