package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/bufslab/bufslab/device"
)

// What changes bytes where they are: fills and kernels. The caller holds the
// device's mu.

func (d *Device) planFill(dst device.Block, value byte) (*work, error) {
	d.stats.FillCalls++
	if err := d.strike(callFill); err != nil {
		return failing(fmt.Errorf("sim: fill of %d bytes on %s, call %d: %w", dst.Len, d.Name(), d.stats.FillCalls,
			err)), nil
	}
	if err := device.CheckBlock(dst); err != nil {
		return nil, err
	}
	if _, err := d.locate(dst); err != nil {
		return nil, err
	}
	return &work{uses: []device.Block{dst}, engine: engineWithin, cost: d.costs.transfer(dst.Len, d.costs.Within),
		do: func() error {
			to, err := d.locate(dst)
			if err != nil {
				d.stats.UsedAfterFree++
				return err
			}
			d.fill(to, dst.Len, value)
			return nil
		}}, nil
}

func (d *Device) fill(to place, n int, value byte) {
	if to.region == nil {
		device.Fill(to.host, value)
		return
	}
	d.stats.FillBytes += int64(n)
	to.region.fill(to.off, n, value)
}

func (d *Device) planLaunch(cost time.Duration, kernel func(...[]byte), args []device.Block) (*work, error) {
	d.stats.LaunchCalls++
	if err := d.strike(callLaunch); err != nil {
		return failing(fmt.Errorf("sim: launch on %s, call %d: %w", d.Name(), d.stats.LaunchCalls, err)), nil
	}
	for _, b := range args {
		if err := device.CheckBlock(b); err != nil {
			return nil, err
		}
	}
	if _, err := d.onDevice(args); err != nil {
		return nil, err
	}
	args = slices.Clone(args) // the caller may use the slice again before the kernel runs
	return &work{uses: args, engine: engineCompute, cost: max(cost, 0), do: func() error {
		at, err := d.onDevice(args)
		if err != nil {
			d.stats.UsedAfterFree++
			return err
		}
		launch(kernel, at, args)
		return nil
	}}, nil
}

// onDevice is places for blocks that have to be on the device.
func (d *Device) onDevice(blocks []device.Block) ([]place, error) {
	at, err := d.places(blocks...)
	for i, p := range at {
		if p.region == nil && blocks[i].Len > 0 {
			return nil, fmt.Errorf("sim: launch on %s with %d bytes of host memory: %w", d.Name(), blocks[i].Len,
				device.ErrUnavailable)
		}
	}
	return at, err
}

// launch calls a kernel on copies, as what it works on lies on several pages.
func launch(kernel func(...[]byte), at []place, args []device.Block) {
	views := make([][]byte, len(args))
	for i, p := range at {
		views[i] = make([]byte, args[i].Len)
		if p.region != nil {
			p.region.read(views[i], p.off)
		}
	}
	kernel(views...)
	for i, p := range at {
		if p.region != nil {
			p.region.write(p.off, views[i])
		}
	}
}
