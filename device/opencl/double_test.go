package opencl

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// Errors come from functions that are swapped for ones that fail: a real driver cannot
// be made to, and one that promises more memory than there is must not be.

// doubles lists the hardware anew, with some functions changed. It has
// contexts of its own, so nothing of it reaches other tests.
func doubles(t *testing.T, change func(*api)) []*hardware {
	t.Helper()
	found, err := system()
	if err != nil {
		t.Skipf("the device is not there: %v", err)
	}
	a := *found[0].api
	change(&a)
	return check.Ok(list(&a))(t)
}

func unchanged(*api) {}

// formNames are those that a name can end in, and pinned.
func formNames() (list []string) {
	for _, f := range append(forms, pinned) {
		list = append(list, f.name)
	}
	return list
}

// opened opens a form on the first of doubles, or skips where that has none.
func opened(t *testing.T, form string, change func(*api)) *Device {
	t.Helper()
	rest := "0"
	if form != "" && form != pinned.name {
		rest += ":" + form
	}
	d, err := openOn(doubles(t, change), rest)
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the form is not there: %v", err)
	}
	check.Must(t, err)
	t.Cleanup(func() { _ = d.Close() })
	if form == pinned.name {
		return d.pinned
	}
	return d
}

func mustStream(t *testing.T, d device.Device) *Stream {
	t.Helper()
	s := devcheck.Stream(t, d)
	t.Cleanup(func() { _ = s.Close() })
	return s.(*Stream)
}

// holds fails unless b has the contents want.
func holds(t *testing.T, d device.Device, b device.Block, want []byte) {
	t.Helper()
	check.Same(t, devcheck.Read(t, d, b), want, "a block")
}

// inUse returns how many bytes regions like those of d have.
func inUse(d *Device) int64 { return d.room().Total - d.room().Free() }

// wrap has functions of a, by the names of their fields, called by way of around.
func wrap(a *api, around func(call func() []reflect.Value, args []reflect.Value) []reflect.Value, names ...string) {
	for _, name := range names {
		f := reflect.ValueOf(a).Elem().FieldByName(name)
		real := reflect.ValueOf(f.Interface())
		f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
			return around(func() []reflect.Value { return real.Call(args) }, args)
		}))
	}
}

// fails makes functions of a fail with what now returns, where that is an error.
func fails(a *api, now func() code, names ...string) {
	for _, name := range names {
		out := reflect.ValueOf(a).Elem().FieldByName(name).Type().Out(0)
		wrap(a, func(call func() []reflect.Value, args []reflect.Value) []reflect.Value {
			k := now()
			if k == succeeded {
				return call()
			}
			if out == reflect.TypeFor[code]() {
				return result(k)
			}
			if err, ok := args[len(args)-1].Interface().(*code); ok {
				*err = k
			}
			return []reflect.Value{reflect.Zero(out)}
		}, name)
	}
}

// result is what a function that returns a code returns.
func result(k code) []reflect.Value { return []reflect.Value{reflect.ValueOf(k)} }
