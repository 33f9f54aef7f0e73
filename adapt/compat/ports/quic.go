//go:build unix

package main

// Quic has buffers of two sizes for packets. Its integration tests take minutes.
var quic = &port{
	name: "quic", text: "quic", suitesOf: module{"github.com/quic-go/quic-go", "v0.65.0"},
	into: "bufslab.go",
	cut: map[string][]string{"buffer_pool.go": {
		"packetBuffer", "packetBuffer.putBack", "bufferPool", "getPacketBuffer", "getLargePacketBuffer", "init",
	}},
	edit:  map[string][]edit{"buffer_pool.go": {{`\t"sync"\n`, ""}}},
	sides: []side{{"heap", nil}, {"mmap", []string{"BUFSLAB_CONF=device=mmap"}}},
	suites: []suite{
		{pkg: "."},
		{pkg: "./integrationtests/self", size: long},
	},
}
