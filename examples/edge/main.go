// Command edge is a server that sits before others. It shows two things, each before and after:
// what connections cost that are idle, and what happens to a body that is forwarded to a server
// which answers before it has read it:
//
//	go run .
//
// Before: a buffer for each connection, and a pooled buffer that goes back when the client has
// returned. After: iobuf.ReadReady, and an iobuf.Body.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdout, min(10_000, mostConnections()), 20_000, 400); err != nil {
		fmt.Fprintln(os.Stderr, "edge:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, connections, messages, uploads int) error {
	talking := max(1, connections/100)
	fmt.Fprintf(out, "%d connections, which each have sent %d KiB; then %d of them send %d messages of %d bytes\n\n",
		connections, helloBytes>>10, talking, messages, messageBytes)
	fmt.Fprintf(out, "%-24s%18s%12s%14s%16s\n", "", "ActiveBytes idle", "resident", "a message", "ActiveBytes max")
	for _, v := range servers {
		c, err := measure(v.serve, connections, talking, messages)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(out, "%-24s%18d%8d MiB%14v%16d\n", v.name, c.idle, c.resident>>20, c.message, c.most)
	}
	fmt.Fprintf(out, "\n%d uploads of %d KiB, forwarded to a server that answers 502 before it reads them\n\n", uploads,
		uploadBytes>>10)
	for _, v := range forwarders {
		mixed, err := forward(v.send, uploads)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(out, "%-34s%5d had bytes of others\n", v.name, mixed)
	}
	return nil
}
