package opencl

import (
	"flag"
	"os"
	"testing"
)

// programs is how many the check of each model runs here, unless RAPID_CHECKS or -rapid.checks says.
const programs = "30"

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); os.Getenv("RAPID_CHECKS") == "" && f.Value.String() == f.DefValue {
		f.DefValue = programs // so that it is no wish for more: see package model
		if err := f.Value.Set(programs); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
