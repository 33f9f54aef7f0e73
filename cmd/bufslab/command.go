package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// What the command exits with.
const (
	exitOK     = 0
	exitFailed = 1 // a replay failed, or memory was left behind that the trace did not leak
	exitBad    = 2 // the command line or a configuration is wrong
	exitInput  = 3 // a file cannot be read, or what is in it is wrong
)

// parse reads flags. done says that the command is over, with code.
func parse(flags *flag.FlagSet, args []string, help string, stdout, stderr io.Writer) (code int, done bool) {
	flags.SetOutput(stderr)
	flags.Usage = func() {}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return tell(stdout, stderr, help), true
	case err != nil: // which the flag package has told already
		return exitBad, true
	}
	return exitOK, false
}

// parseFiles is parse where flags may follow the files, which it returns. Behind -- all are files.
func parseFiles(flags *flag.FlagSet, args []string, help string, stdout, stderr io.Writer) (
	files []string, code int, done bool,
) {
	code, done = parse(flags, args, help, stdout, stderr)
	for !done && flags.NArg() > 0 {
		if n := len(args) - flags.NArg(); n > 0 && args[n-1] == "--" {
			return append(files, flags.Args()...), code, done
		}
		files, args = append(files, flags.Arg(0)), flags.Args()[1:]
		code, done = parse(flags, args, help, stdout, stderr)
	}
	return files, code, done
}

// noArguments is parse for a command that takes none.
func noArguments(flags *flag.FlagSet, args []string, help string, stdout, stderr io.Writer) (code int, done bool) {
	code, done = parse(flags, args, help, stdout, stderr)
	if !done && flags.NArg() > 0 {
		err := fmt.Errorf("%s takes no arguments, not %q", strings.TrimPrefix(flags.Name(), "bufslab "), flags.Args())
		return fail(stderr, exitBad, err), true
	}
	return code, done
}

// tell prints a text, and returns the exit code of a command that has no more to do.
func tell(stdout, stderr io.Writer, text string) int {
	if _, err := fmt.Fprint(stdout, text); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return exitOK
}

// fail tells an error and returns code.
func fail(stderr io.Writer, code int, err error) int {
	fmt.Fprintln(stderr, "bufslab:", err)
	return code
}

// processorsVar defines -procs, which is 0 where it is left out.
func processorsVar(flags *flag.FlagSet, n *int) {
	flags.Func("procs", "", func(text string) (err error) {
		if *n, err = strconv.Atoi(text); err != nil || *n < 1 || *n > mostProcessors {
			err = fmt.Errorf("want 1 to %d", mostProcessors)
		}
		return err
	})
}

// mostProcessors bounds -procs: a pool has caches for each.
const mostProcessors = 1024
