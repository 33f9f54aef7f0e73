package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

const versionHelp = `bufslab version

Prints the version of the module, the commit where it was built in a checkout, and the
version of Go.
`

func version(args []string, stdout, stderr io.Writer) int {
	if code, done := noArguments(flag.NewFlagSet("bufslab version", flag.ContinueOnError), args, versionHelp, stdout, stderr); done {
		return code
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return tell(stdout, stderr, versionOf(info)+"\n")
}

// versionOf puts a build in a line.
func versionOf(info *debug.BuildInfo) string {
	text := "bufslab "
	if info.Main.Version == "" {
		text += "(devel)"
	}
	text += info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			text += ", commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " and changes"
		}
	}
	return fmt.Sprintf("%s, %s, %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
