package device

// What every backend has to judge before it does anything.

// CheckBlock returns an error that wraps [ErrSize] unless b lies within its
// region. Regions come from anywhere, so it takes nothing about b for granted.
func CheckBlock(b Block) error { return checkBlock(b) }

// CheckCopy is [CheckBlock] for both blocks of a copy, whose lengths have to be the same.
func CheckCopy(dst, src Block) error { return checkCopy(dst, src) }
