//go:build unix

package main

import "embed"

// A port is a module of others in which a file of ours, TEXT.go.txt, takes the place of declarations of theirs.
type port struct {
	name, text string // text is that of our file, TEXT.go.txt
	suitesOf   module
	inside     module              // what has the files, if it is a module that theirs requires
	into       string              // where our file is there
	without    []string            // files of theirs that ours replaces, beside the one of the same path
	cut        map[string][]string // names of declarations that ours replaces, by file
	edit       map[string][]edit   // of their tests: what reads private fields or compares addresses
	skip       string              // tests that neither side runs, as -test.skip: why is beside it
	sides      []side              // ours; none is one, without a name
	tags       string              // that the module is built with
	env        []string            // of builds and runs
	suites     []suite
}

type module struct{ path, version string }

// An edit replaces what matches in a file of tests.
type edit struct{ pattern, by string }

// A side is a way to run ours: its environment says the line, or more.
type side struct {
	name string
	env  []string
}

// A suite is a package whose tests run.
type suite struct {
	pkg   string
	title string // is pkg if it is empty
	size  size
	args  []string // of the tests
}

type size int

const (
	usual size = iota
	quick      // within seconds: -short runs it
	long       // for minutes: -all runs it
)

//go:embed *.go.txt
var texts embed.FS
