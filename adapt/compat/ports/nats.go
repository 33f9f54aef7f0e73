//go:build unix

package main

// NATS sends in frames of three sizes. The second suite publishes messages of 512 KiB to five subscribers.
var nats = &port{
	name: "nats", text: "nats", suitesOf: module{"github.com/nats-io/nats-server/v2", "v2.15.3"},
	into: "server/bufslab.go",
	cut:  map[string][]string{"server/client.go": {"nbPoolSmall", "nbPoolMedium", "nbPoolLarge", "nbPoolGet", "nbPoolPut"}},
	edit: map[string][]edit{"server/client_test.go": {{`nbPoolSmall\.Get\(\)\.\(.*?\)\[:\]`, "nbPoolGet(nbPoolSizeSmall)"}}},
	sides: []side{
		{"heap", nil},
		{"mmap", []string{"BUFSLAB_CONF=device=mmap"}},
		{"mmap, AdjustGCPercent", []string{"BUFSLAB_CONF=device=mmap", "PORTS_PACE=1"}},
	},
	suites: []suite{
		{pkg: "./server", title: "tests of clients", args: []string{"-test.run=^Test(Client|WS|Websocket)"}},
		{pkg: "./server", title: "fan-in of 512 KiB", args: []string{"-test.run=^$", "-test.bench=CoreFanIn/msgSz=524288b/pubs=3", "-test.benchtime=4000x"}},
		{pkg: "./server", title: "fan-out of 512 KiB", args: []string{"-test.run=^$", "-test.bench=CoreTLSFanOut/keyType=none", "-test.benchtime=2000x"}},
	},
}
