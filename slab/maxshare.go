package slab

import (
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/cgroup"
	"github.com/bufslab/bufslab/internal/optline"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// machine is where the limits of the process are read. Tests have a double of it.
var machine = cgroup.Machine()

// ShareOf returns share, above 0 and up to 1, of the bytes that upstream's device has in all, and a
// sentence that says what they are a share of. Of host memory that is the memory of the machine, or the
// hard limit of the control group of the process, or of one around it, if that is less. If upstream is
// a [Limit], or draws on one, it is that Limit's maximum, if that is less. It is what
// Config.MaxShare comes to, and good for [NewLimit] and [Limit.Within]. The groups are read at each call.
//
// The error is a *ConfigError for another share, and else wraps [device.ErrUnavailable]: upstream has no
// device, or that does not say what it has.
func ShareOf(upstream Allocator, share float64) (bytes int64, source string, err error) {
	s, err := shareOf(upstream, share)
	return s.bytes, s.source, err
}

func shareOf(on Allocator, share float64) (s shared, err error) {
	if !shares.Has(share) {
		return s, configError([]string{fmt.Sprintf("max_bytes=%s: want %s", optline.Shares.Format(share), shares.Want)})
	}
	whole, of, odd, err := wholeOf(on)
	if err != nil {
		return s, fmt.Errorf("slab: %s of what is not known: %w", optline.Shares.Format(share), err)
	}
	n := max(1, int64(min(float64(whole)*share, 1<<62)))
	return shared{n, fmt.Sprintf("%s of %d bytes, %s", optline.Shares.Format(share), whole, of), odd}, nil
}

// wholeOf returns the bytes that there are in all, and what says so.
func wholeOf(on Allocator) (bytes int64, of, odd string, err error) {
	d := deviceOf(on)
	if d == nil {
		return 0, "", "", fmt.Errorf("the upstream has no device: %w", device.ErrUnavailable)
	}
	_, bytes, err = d.MemInfo()
	if err != nil {
		return 0, "", "", err
	}
	of = "which device " + d.Name() + " has"
	if isHost(d) {
		l := machine.Limit()
		if odd = l.Odd; l.Bytes > 0 && (l.Bytes < bytes || bytes <= 0) {
			bytes, of = l.Bytes, "which "+l.Source+" allows"
		}
	}
	for l := range upstream.Layers(on) {
		if l, ok := l.(*Limit); ok && l.max < bytes {
			bytes, of = l.max, "which the Limit below has"
		}
	}
	if bytes <= 0 {
		err = fmt.Errorf("device %s says that it has %d bytes: %w", d.Name(), bytes, device.ErrUnavailable)
	}
	return bytes, of, odd, err
}

// isHost reports whether a device has memory of the machine, which a control group bounds.
func isHost(d device.Device) bool {
	scheme, _, _ := strings.Cut(d.Name(), ":")
	return scheme == "heap" || scheme == "mmap" || strings.HasSuffix(d.Name(), ":pinned")
}

// resolved is c with the bytes that its share comes to on an upstream, and with what Explain says of that.
func (c Config) resolved(on Allocator) (given, full Config, err error) {
	full = c
	if c.MaxShare != 0 {
		if c.traits.share, err = shareOf(on, c.MaxShare); err != nil {
			return c, c, err
		}
		full.MaxShare, full.MaxBytes = 0, c.traits.share.bytes
		err = full.Validate()
	}
	return c, full.withDefaults(), err
}
