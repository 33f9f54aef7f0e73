package optline

//lint:file-ignore U1000 methods are called through Option, which staticcheck does not see

// An Either is one key with two fields of C, of which at most one is not zero: a size or a share,
// for instance. Both have the key's name. Text that Is says so of is read into Second.
type Either[C any] struct {
	First, Second Option[C]
	Is            func(text string) bool
}

func (e Either[C]) name() string            { return e.First.name() }
func (e Either[C]) own(value string) string { return e.First.own(value) }
func (e Either[C]) bare() bool              { return false }
func (e Either[C]) on() string              { return "" }

func (e Either[C]) set(c *C, text string) (why string) {
	if e.Is(text) {
		return e.Second.set(c, text)
	}
	return e.First.set(c, text)
}

// of is the one whose field is not zero, First where both are.
func (e Either[C]) of(c C) Option[C] {
	if e.Second.text(c) != "" {
		return e.Second
	}
	return e.First
}

func (e Either[C]) text(c C) string  { return e.of(c).text(c) }
func (e Either[C]) shown(c C) string { return e.of(c).shown(c) }

func (e Either[C]) fault(c C) string {
	if first := e.First.text(c); first != "" && e.Second.text(c) != "" {
		return "it is " + first + " as well"
	}
	return e.of(c).fault(c)
}

func (e Either[C]) unused(c C) string { return e.of(c).unused(c) }

func (e Either[C]) withDefault(c C) (filled C, source string) { return e.of(c).withDefault(c) }
