package main

import (
	"errors"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// stdin is read by bufslab replay -.
var stdin io.Reader = os.Stdin

// replayStdin replays the standard input as it comes, and keeps nothing of it.
func replayStdin(s setup, o trace.Replayer, out printer, stderr io.Writer) int {
	total := int64(0)
	if f, ok := stdin.(*os.File); ok {
		total = sizeOf(f)
	}
	bar := newProgress(total, s.line, stderr, progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	r, warnings, err := streamOne(&counted{from: stdin, bar: bar}, s, o)
	bar.clear()
	warn(warnings, stderr)
	code := exitOK
	if err == nil {
		out.print(r)
		err = r.fault()
	}
	if err != nil {
		code = fail(stderr, codeOf(err), err)
	}
	if err := out.close(); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return code
}

func streamOne(from io.Reader, s setup, o trace.Replayer) (row, []string, error) {
	p, err := slab.OpenConfig(s.config)
	if err != nil {
		return row{}, nil, badSetup{err}
	}
	rows := trace.NewReader(from, "stdin")
	r, err := o.Stream(rows, p)
	if err == nil && r.Allocs == 0 {
		err = badInput{noEvents("stdin")}
	}
	if errors.Is(err, trace.ErrKeyed) {
		err = badInput{err}
	}
	return newRow("stdin", s.line, r), rows.Warnings(), errors.Join(err, p.Close())
}
