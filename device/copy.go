package device

import "fmt"

// CheckBlock returns an error that wraps [ErrSize] unless b lies within its
// region. A backend calls it before it fills a block, because the caller may
// have made up the offset and the length.
func CheckBlock(b Block) error {
	size := 0
	if b.Region != nil {
		size = b.Region.Size()
	}
	if b.Off < 0 || b.Len < 0 || b.Off > size || b.Len > size-b.Off {
		return fmt.Errorf("device: block of %d bytes at offset %d of a region of %d: %w", b.Len, b.Off, size, ErrSize)
	}
	return nil
}

// CheckCopy is CheckBlock for both sides of a copy, whose lengths have to be
// equal. It is the first line of Copy in every device.
func CheckCopy(dst, src Block) error {
	if dst.Len != src.Len {
		return fmt.Errorf("device: copy of %d bytes to %d: %w", src.Len, dst.Len, ErrSize)
	}
	if err := CheckBlock(dst); err != nil {
		return err
	}
	return CheckBlock(src)
}

// HostBytes returns [Bytes] of b for a copy that the named device makes. The
// error wraps [ErrUnavailable] where the CPU cannot reach b, because b was freed
// or is on another device. A block of zero bytes gives no error.
func HostBytes(name string, b Block) ([]byte, error) {
	if b.Len == 0 {
		return nil, nil
	}
	m := Bytes(b)
	if m == nil {
		return nil, fmt.Errorf("device: %s cannot reach %d bytes of a %T: %w", name, b.Len, b.Region, ErrUnavailable)
	}
	return m, nil
}

// SyncEvent waits for e. A nil event gives an error that wraps [ErrUnavailable]. A
// backend calls it for events that are not its own.
func SyncEvent(e Event) error {
	if e == nil {
		return fmt.Errorf("device: Wait for no event: %w", ErrUnavailable)
	}
	return e.Sync()
}

// Fill sets every byte of m to value.
func Fill(m []byte, value byte) {
	if len(m) == 0 {
		return
	}
	m[0] = value
	for n := 1; n < len(m); { // copy is faster than a loop, and fastest from the processor's cache
		n += copy(m[n:], m[:min(n, 4<<10)])
	}
}
