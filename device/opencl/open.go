package opencl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

func init() { device.Register("opencl", open) }

func open(rest string) (device.Device, error) {
	found, err := system()
	if err != nil {
		return nil, err
	}
	d, err := openOn(found, rest)
	if err != nil {
		return nil, err // not a nil *Device that is no nil device.Device
	}
	return d, nil
}

// openOn opens NUMBER, NUMBER:FORM or nothing, which is the first device.
func openOn(found []*hardware, rest string) (*Device, error) {
	name := "opencl:" + rest
	if rest == "" {
		name, rest = "opencl", "0"
	}
	number, formName, colon := strings.Cut(rest, ":")
	if colon && formName == "" {
		return nil, fmt.Errorf("opencl: nothing after the colon of %q: %w", name, device.ErrUnavailable)
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || int(n) >= len(found) {
		return nil, fmt.Errorf("opencl: no device %q, only 0 to %d: %w", number, len(found)-1, device.ErrUnavailable)
	}
	f, err := formOf(formName)
	if err != nil {
		return nil, err
	}
	return newDevice(name, found[n], f)
}

func newDevice(name string, h *hardware, f *form) (*Device, error) {
	if why := f.lacks(h.Info); why != "" {
		return nil, fmt.Errorf("opencl: %s: %s %s: %w", name, h.Info.Device, why, device.ErrUnavailable)
	}
	c, err := h.open()
	if err != nil {
		return nil, err
	}
	return deviceIn(c, name, f, ReadWrite), nil
}

// deviceIn takes over the caller's reference to a context.
func deviceIn(c *context, name string, f *form, flags MemFlags) *Device {
	return &Device{
		base: base.Named("opencl", name), ctx: c, form: f, flags: flags,
		pinned: &Device{base: base.Named("opencl", name+":pinned"), ctx: c, form: pinned, flags: ReadWrite},
	}
}
