package device

// CheckBlock says whether b lies within its region, as every backend has to
// before it fills one: regions come from anywhere. The error wraps [ErrSize].
func CheckBlock(b Block) error { return checkBlock(b) }

// CheckCopy is CheckBlock for both sides of a copy, which have to be of one
// length: the first line of every backend's Copy.
func CheckCopy(dst, src Block) error { return checkCopy(dst, src) }
