// Command bufslab says which configuration of package slab suits a program. Run it with
// help for its commands.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// A subcommand is a file of this directory with the function that runs it. Its help has
// its options and examples.
type subcommand struct {
	name, does string
	run        func(args []string, stdout, stderr io.Writer) int
}

var commands = []subcommand{
	{"replay", "run recorded allocations through pools and compare what they took", replay},
	{"report", "write a page of HTML with what recorded programs take", reportPage},
	{"tune", "find the line that suits a recorded program", tune},
	{"verify", "hold a process against what a replay of its recording promises", verify},
	{"devices", "list the places where memory can live", devices},
	{"version", "say what this command was built from", version},
}

func usage() string {
	text := "bufslab says which configuration of package slab suits a program.\n\n"
	for _, c := range commands {
		text += fmt.Sprintf("\tbufslab %-8s %s\n", c.name, c.does)
	}
	return text + `
bufslab help COMMAND has its options and examples.

It exits with 0; with 1 if it failed or found something, with 2 if the command line is
wrong, with 3 if a file is.
`
}

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // recordings are most of the heap: by default there would be as much garbage
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with what it writes to as an argument.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage())
		return exitBad
	}
	name, args := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		if len(args) == 0 {
			return tell(stdout, stderr, usage())
		}
		name, args = args[0], []string{"-help"}
	}
	for _, c := range commands {
		if c.name == name {
			return c.run(args, stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "bufslab: no command %q\n\n%s", name, usage())
	return exitBad
}
