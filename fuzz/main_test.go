package fuzz_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// programs is how many a check runs here, unless RAPID_CHECKS or -rapid.checks says: the tests
// have some 150 checks.
const programs = "20"

// No test leaves a goroutine behind.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); os.Getenv("RAPID_CHECKS") == "" && f.Value.String() == f.DefValue {
		f.DefValue = programs // so that it is no wish for more: see package model
		if err := f.Value.Set(programs); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
