package alloclog

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/bufslab/bufslab/trace/internal/pickle"
)

// maxDevices bounds the devices of a snapshot.
const maxDevices = 1024

// devices are those of a snapshot. A list may stand in a pickle once and be named any number
// of times, so each is read only once: then the work is bounded by what the pickle took.
type devices struct {
	byNumber map[int64]*torchDevice
	read     map[*pickle.List]bool
}

func (ds *devices) device(number int64) (*torchDevice, error) {
	if d := ds.byNumber[number]; d != nil {
		return d, nil
	}
	if number < 0 || number >= maxDevices {
		return nil, malformed("device %d, want less than %d", number, maxDevices)
	}
	d := &torchDevice{number: number, states: make(map[uint64]blockState), first: make(map[uint64]Event)}
	ds.byNumber[number] = d
	return d, nil
}

func (ds *devices) sorted() []*torchDevice {
	return slices.SortedFunc(maps.Values(ds.byNumber), func(a, b *torchDevice) int { return cmp.Compare(a.number, b.number) })
}

// items returns those of a list, for the first time.
func (ds *devices) items(of any) ([]any, error) {
	list, ok := of.(*pickle.List)
	switch {
	case !ok:
		return nil, malformed("%T where a list belongs", of)
	case ds.read[list] && len(list.Items) > 0:
		return nil, malformed("one list in two places")
	}
	ds.read[list] = true
	return list.Items, nil
}

// addTraces adds the events of all devices and returns how many there are.
func (ds *devices) addTraces(traces any) (events int, err error) {
	lists, err := ds.items(traces)
	for i, trace := range lists {
		entries, err := ds.items(trace)
		if err != nil {
			return 0, err
		}
		if len(entries) == 0 {
			continue
		}
		d, err := ds.device(int64(i))
		if err != nil {
			return 0, err
		}
		d.entries = entries
		events += len(entries)
		if err := d.findEarlier(); err != nil {
			return 0, err
		}
	}
	return events, err
}

// addSegments adds the blocks that are live at the end. A snapshot may have no segments.
func (ds *devices) addSegments(segments any) error {
	if segments == nil {
		return nil
	}
	list, err := ds.items(segments)
	for _, s := range list {
		segment, _ := s.(pickle.Dict)
		blocks, err := ds.items(segment["blocks"])
		if err != nil {
			return err
		}
		number, _ := segment["device"].(int64)
		d, err := ds.device(number)
		if err != nil {
			return err
		}
		if err := d.addSegment(segment, blocks); err != nil {
			return err
		}
	}
	return err
}

// addSegment adds the blocks of one segment. They stand side by side; old snapshots leave
// their addresses out.
func (d *torchDevice) addSegment(segment pickle.Dict, blocks []any) error {
	address, _ := segment["address"].(int64)
	stream, _ := segment["stream"].(int64)
	for _, b := range blocks {
		block, _ := b.(pickle.Dict)
		bytes, _ := block["size"].(int64)
		if a, ok := block["address"].(int64); ok {
			address = a
		}
		if block["state"] == "active_allocated" {
			e, err := d.event(pickle.Dict{"address": address, "size": requestedSize(block)}, "address", "size")
			if err != nil {
				return malformed("a block of device %d: %w", d.number, err)
			}
			e.Kind, e.Stream = Alloc, uint64(stream)
			d.addBlock(e)
		}
		address += bytes
	}
	return nil
}

// requestedSize is what the program asked for; old snapshots only know what it got.
func requestedSize(block pickle.Dict) any {
	if n, ok := block["requested_size"].(int64); ok {
		return n
	}
	return block["size"]
}

// A deviceHeap has the device with the earliest next event first.
type deviceHeap []*torchDevice

func (h deviceHeap) Len() int      { return len(h) }
func (h deviceHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h deviceHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].timeUS, h[j].timeUS), cmp.Compare(h[i].number, h[j].number)) < 0
}
func (h *deviceHeap) Push(d any) { *h = append(*h, d.(*torchDevice)) }
func (h *deviceHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (h *deviceHeap) push(d *torchDevice) { heap.Push(h, d) }
func (h *deviceHeap) pop()                { heap.Pop(h) }
func (h *deviceHeap) fix()                { heap.Fix(h, 0) }
