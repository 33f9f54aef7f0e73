package main

import (
	"io"
	"testing"
)

// Idle connections hold nothing with ReadReady, and a buffer each without.
func TestIdleConnections(t *testing.T) {
	const connections = 20
	for _, v := range servers {
		c, err := measure(v.serve, connections, 5, 100)
		if err != nil {
			t.Fatal(v.name, err)
		}
		want := map[string]int64{"a pooled buffer each": connections * bufferBytes}[v.name]
		if c.idle != want {
			t.Errorf("%s: %d bytes while idle, not %d", v.name, c.idle, want)
		}
		if v.name == "ReadReady" && c.most > talkers*bufferBytes {
			t.Errorf("%d bytes for %d that talk", c.most, talkers)
		}
	}
}

func TestRun(t *testing.T) {
	if err := run(io.Discard, 10, 100); err != nil {
		t.Error(err)
	}
}
