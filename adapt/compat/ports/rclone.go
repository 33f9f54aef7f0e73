//go:build unix

package main

// Rclone has pages of 1 MiB for transfers, with a cache, a timer and a bound over all.
var rclone = &port{
	name: "rclone", text: "rclone", suitesOf: module{"github.com/rclone/rclone", "v1.76.0"},
	into: "lib/pool/pool.go",
	edit: map[string][]edit{"lib/pool/pool_test.go": {
		{`\t+assert\.Equal\(t, addr\(.*\n`, ""},                                // which buffer comes back
		{`\t+addr := func(.*\n)+?\t}\n`, ""},                                   // that they compare
		{`\t+bp\.mu\.(Lock|Unlock)\(\)\n`, ""},                                 // our counts need no lock
		{`\t+assert\.Equal\(t, .*, bp\.(minFill|flushPending)\)\n`, ""},        // of theirs alone
		{`bp\.alloced`, "bp.Alloced()"},                                        // private
		{`(?s)func makeUnreliable.*?\n}\n`, "func makeUnreliable(*Pool) {}\n"}, // sets theirs alone
		{`\t"(errors|fmt|math/rand)"\n`, ""},                                   // unused now
	}},
	skip: "^TestPool$/^canFail$", // memory that fails, as makeUnreliable would have it
	suites: []suite{
		{pkg: "./lib/pool", size: quick},
		{pkg: "./fs/asyncreader"}, {pkg: "./fs/chunkedreader"}, {pkg: "./fs/operations"},
		{pkg: "./cmd/serve/s3"}, {pkg: "./vfs/vfscache/downloaders"},
	},
}
