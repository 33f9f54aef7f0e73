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

// ShareOf returns a share of the memory of upstream's device, in bytes, and a sentence that names this
// memory. share is above 0 and up to 1. For host memory the whole is the memory of the machine, or the
// lowest hard limit of the control groups of the process, if that is less. If upstream is a [Limit], or
// draws on one, the whole is at most that Limit's maximum. ShareOf computes the bytes of
// Config.MaxShare, and is useful for [NewLimit] and [Limit.Within]. It reads the groups at each call.
//
// For another share the error is a *ConfigError. If upstream has no device, or the device does not say
// how much memory it has, the error wraps [device.ErrUnavailable].
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

// wholeOf returns the bytes of which a share is taken, and their source.
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
		if l, ok := l.(*Limit); ok && l.maximum() < bytes {
			bytes, of = l.maximum(), "which the Limit below has"
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

// resolved is c with the bytes of its share on an upstream, and with the text of Explain about them.
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
