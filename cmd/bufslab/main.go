// Command bufslab says which configuration of package slab suits a program:
//
//	bufslab replay [-config LINE]... [-growth POLICY]... [-budget SIZE] [-json] [TRACE...]
//	bufslab devices
//
// Run it with -help for more.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// What the command exits with.
const (
	exitOK     = 0
	exitFailed = 1 // a replay failed or left memory behind
	exitBad    = 2 // the command line, a configuration or a trace is wrong
)

const usage = `bufslab says which configuration of package slab suits a program.

	bufslab replay [-config LINE]... [-growth POLICY]... [-budget SIZE] [-json] [TRACE...]
	      run recorded allocations through pools and compare what they took
	bufslab devices
	      list the places where memory can live

Run bufslab replay -help for its options.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with everything that it touches as an argument.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitBad
	}
	switch args[0] {
	case "replay":
		return replay(args[1:], stdout, stderr)
	case "devices":
		return devices(args[1:], stdout, stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	fmt.Fprintf(stderr, "bufslab: no command %q\n\n%s", args[0], usage)
	return exitBad
}

// parse reads flags. done says that the command is over, with code.
func parse(flags *flag.FlagSet, args []string, help string, stdout, stderr io.Writer) (code int, done bool) {
	flags.SetOutput(stderr)
	flags.Usage = func() {}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return exitOK, true
	case err != nil: // which the flag package has told already
		return exitBad, true
	}
	return exitOK, false
}
