package device

import (
	"fmt"
	"unsafe"
)

// checkBlock says whether b lies within its region. Regions come from
// anywhere, so nothing about b is taken for granted.
func checkBlock(b Block) error {
	size := 0
	if b.Region != nil {
		size = b.Region.Size()
	}
	if b.Off < 0 || b.Len < 0 || b.Off > size || b.Len > size-b.Off {
		return fmt.Errorf("device: block of %d bytes at offset %d of a region of %d: %w", b.Len, b.Off, size, ErrSize)
	}
	return nil
}

// checkCopy is the first line of every Copy.
func checkCopy(dst, src Block) error {
	if dst.Len != src.Len {
		return fmt.Errorf("device: copy of %d bytes to %d: %w", src.Len, dst.Len, ErrSize)
	}
	if err := checkBlock(dst); err != nil {
		return err
	}
	return checkBlock(src)
}

// hostBytes returns the memory of b, or an error where a slice expression
// would panic: freed memory and that of another device are not reachable.
func hostBytes(name string, b Block) ([]byte, error) {
	if b.Len == 0 {
		return nil, nil
	}
	m := Bytes(b)
	if m == nil {
		return nil, fmt.Errorf("device: %s cannot reach %d bytes of a %T: %w", name, b.Len, b.Region, ErrUnavailable)
	}
	return m, nil
}

// hostCopy is Copy for devices whose memory the CPU can reach.
func (c *common) hostCopy(dst, src Block) error {
	if err := c.usable(); err != nil {
		return err
	}
	if err := checkCopy(dst, src); err != nil {
		return err
	}
	d, err := hostBytes(c.name, dst)
	if err != nil {
		return err
	}
	s, err := hostBytes(c.name, src)
	if err != nil {
		return err
	}
	copy(d, s)
	return nil
}

// hostFill is fill for devices whose memory the CPU can reach.
func (c *common) hostFill(dst Block, value byte) error {
	if err := c.usable(); err != nil {
		return err
	}
	if err := checkBlock(dst); err != nil {
		return err
	}
	d, err := hostBytes(c.name, dst)
	if err == nil {
		fill(d, value)
	}
	return err
}

// fill sets every byte of m, by doubling: copy moves memory faster than a loop.
func fill(m []byte, value byte) {
	if len(m) == 0 {
		return
	}
	m[0] = value
	for n := 1; n < len(m); n *= 2 {
		copy(m[n:], m[:n])
	}
}

// address returns where m begins, for alignment only.
func address(m []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }
