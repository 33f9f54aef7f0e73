package base

// An Owner is embedded in page-locked memory. Where that is opened by its name, it owns the device
// that it is locked for, which no one else has, and its Close is that of the device.
type Owner struct{ closeParent func() error }

func (o *Owner) own(closeParent func() error) { o.closeParent = closeParent }

// Own makes d own what closeParent closes, before anybody has d. It reports whether d can.
func Own(d any, closeParent func() error) bool {
	o, ok := d.(interface{ own(func() error) })
	if ok {
		o.own(closeParent)
	}
	return ok
}

// CloseParent closes the device that o owns. It reports whether there is one.
func CloseParent(o *Owner) (owns bool, err error) {
	if o.closeParent == nil {
		return false, nil
	}
	return true, o.closeParent()
}
