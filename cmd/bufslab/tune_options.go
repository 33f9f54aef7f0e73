package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tuneOptions are those of tune, as they were written.
type tuneOptions struct {
	objective
	base  string
	limit time.Duration
	json  bool

	file       string // the first TRACE
	assumed    string // why the lines are judged on device=virtual, "" if they name a device
	processors int    // 0: of each TRACE, its threads
}

func (o *tuneOptions) define() *flag.FlagSet {
	flags := flag.NewFlagSet("bufslab tune", flag.ContinueOnError)
	flags.StringVar(&o.base, "config", "", "")
	flags.Func("budget", "", func(text string) (err error) {
		o.misses, err = parseShare(text)
		return err
	})
	flags.Float64Var(&o.ns, "ns", o.ns, "")
	flags.DurationVar(&o.limit, "limit", 0, "")
	flags.BoolVar(&o.json, "json", false, "")
	processorsVar(flags, &o.processors)
	return flags
}

// parseShare reads 1% or 0.01.
func parseShare(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(digits, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share <= 1) {
		return 0, errors.New("want a share above 0, at most 1, like 1% or 0.01")
	}
	return share, nil
}

// takeLine makes a line of a configuration that is JSON: to that tune can add options.
func (o *tuneOptions) takeLine() error {
	c, err := configOf(o.base)
	err = errors.Join(err, writes(c))
	if err != nil || !strings.HasPrefix(strings.TrimSpace(o.base), "{") {
		return err
	}
	names := onVirtual(o.base) == strings.TrimSpace(o.base)
	if o.base = c.String(); !names {
		o.base = strings.TrimPrefix(strings.TrimPrefix(o.base, "device="+virtual), ",")
	}
	if strings.HasPrefix(o.base, "{") {
		return fmt.Errorf("-config %s: no line says this, and tune adds options to a line", o.base)
	}
	return nil
}

// leastNS is the least price of time: costs are numbers still.
const leastNS = 1e-9

func (o *tuneOptions) check(traces int) error {
	faults := []error{o.takeLine()}
	if !(o.ns >= leastNS) {
		faults = append(faults, fmt.Errorf("-ns %g: want a number of %g at least", o.ns, leastNS))
	}
	if o.limit < 0 {
		faults = append(faults, fmt.Errorf("-limit %v: want a time", o.limit))
	}
	if traces == 0 {
		faults = append(faults, errors.New("tune wants a TRACE"))
	}
	return errors.Join(faults...)
}
