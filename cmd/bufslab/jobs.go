package main

import (
	"fmt"
	"io"
)

// A job is one replay. It tells progress how many events are done.
type job struct {
	label  string // of the trace
	what   string // it runs on
	events int
	run    func(progress func(events int)) (line, error)
}

// runAll goes on after a failure, so that the other rows can be compared.
func runAll(jobs []job, out printer, stderr io.Writer) int {
	total := 0
	for _, j := range jobs {
		total += j.events
	}
	bar := newProgress(int64(total), "", stderr)
	code, before := exitOK, 0
	for _, j := range jobs {
		bar.describe(j.label + " " + j.what)
		r, err := j.run(func(events int) { bar.set(int64(before + events)) })
		before += j.events
		bar.set(int64(before))
		bar.clear()
		if err == nil {
			out.print(r)
			err = r.fault()
		}
		if err != nil {
			code = max(code, fail(stderr, codeOf(err), fmt.Errorf("%s with %s: %w", j.label, j.what, err)))
		}
	}
	if err := out.close(); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return code
}
