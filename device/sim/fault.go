package sim

// A call is a kind of call that can be made to fail.
type call int

const (
	callAlloc call = iota
	callCopy
	callFill
	callLaunch
	callOther // counts for Lose only
	anyCall   // whose fault loses the device
	calls
)

// A fault strikes when its countdown gets to zero; below 1 it is not armed.
type fault struct {
	in  int
	err error
}

// strike counts one call and returns the error if it is the one.
func (f *fault) strike() error {
	f.in--
	if f.in == 0 {
		return f.err
	}
	f.in = max(f.in, 0)
	return nil
}
