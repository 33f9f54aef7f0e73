package upstreamtest

import "github.com/bufslab/bufslab/device"

// A Device is a Source that says it is a device: its blocks are whole regions. Of the
// other methods of one it has Name only.
type Device struct {
	device.Device
	*Source
}

// Name is no scheme's.
func (d Device) Name() string { return "upstreamtest" }

// Alloc is the source's.
func (d Device) Alloc(size int) (device.Block, error) { return d.Source.Alloc(size) }

// Free is the source's.
func (d Device) Free(b device.Block) { d.Source.Free(b) }

// A Watched is the device below a Pages, whose memory goes through that.
type Watched struct {
	device.Device
	pages *Pages
}

// View returns p as a pool is to see it: as a device if there is one below.
func (p *Pages) View() device.Allocator {
	if p.Under == nil {
		return p
	}
	return Watched{p.Under, p}
}

// Alloc is that of Pages.
func (d Watched) Alloc(size int) (device.Block, error) { return d.pages.Alloc(size) }

// Free is that of Pages.
func (d Watched) Free(b device.Block) { d.pages.Free(b) }

// Reserve is that of Pages.
func (d Watched) Reserve(size int) (device.Range, error) { return d.pages.Reserve(size) }

// Traits are the device's.
func (d Watched) Traits() device.Traits { return device.TraitsOf(d.Device) }

// A Fixed returns Block and Err, whatever is asked.
type Fixed struct {
	Block device.Block
	Err   error
	Frees int
}

// Alloc returns Block and Err.
func (f *Fixed) Alloc(int) (device.Block, error) { return f.Block, f.Err }

// Free counts.
func (f *Fixed) Free(device.Block) { f.Frees++ }
