package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
)

// print does the task in this process, and prints what it took.
func (t task) print(out io.Writer) error {
	f, err := t.do()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(f)
}

func (t task) do() (f figures, err error) {
	i := slices.IndexFunc(programs, func(p program) bool { return p.name == t.Program })
	if i < 0 || t.Ops < 1 {
		return f, fmt.Errorf("there is no program %q, or nothing for it to do", t.Program)
	}
	m, err := open(t.Kind)
	if err != nil {
		return f, err
	}
	j := &job{memory: m, ops: t.Ops, live: newLive()}
	f, err = j.measure(programs[i].run)
	if err == nil && t.Settle > 0 {
		err = f.settled(m, t.Settle)
	}
	runtime.KeepAlive(j.live)
	return f, errors.Join(err, m.close())
}
