// Command edge is a server that most of its connections are idle at. It shows what they cost, with a buffer for each
// and with iobuf.ReadReady, which takes memory when there is something to read:
//
//	go run .
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdout, min(10_000, mostConnections()), 20_000); err != nil {
		fmt.Fprintln(os.Stderr, "edge:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, connections, messages int) error {
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
	return nil
}
