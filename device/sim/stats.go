package sim

// Stats are the counters of a [Device] and its streams. Calls count whether or
// not they succeed; copies and bytes count only where bytes moved.
type Stats struct {
	AllocCalls, FreeCalls, CopyCalls, FillCalls, LaunchCalls int64

	ToDeviceCopies, ToHostCopies, WithinCopies int64 // by direction
	ToDeviceBytes, ToHostBytes, WithinBytes    int64
	FillBytes                                  int64

	UsedAfterFree int64 // pieces of work whose memory was freed before they were done

	ActiveBlocks, ActiveBytes int64 // not yet freed
	PeakBytes                 int64 // the largest ActiveBytes so far
	PinnedBlocks, PinnedBytes int64 // page-locked and not yet freed
}

// Stats returns the counters, all of one moment.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}
