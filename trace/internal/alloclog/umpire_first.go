package alloclog

import "encoding/json"

type umpirePayload struct {
	Name      string          `json:"name"` // of a resource
	Allocator string          `json:"allocator_name"`
	Reference string          `json:"allocator_ref"`
	Size      json.RawMessage `json:"size"`
	Memory    string          `json:"memory_ptr"`
	Old       string          `json:"ptr"`
}

type umpireResult struct {
	Reference string `json:"allocator_ref"`
	Memory    string `json:"memory_ptr"`
}

// first parses a line of the first generation. Calls stand there twice, without their
// result before and with it afterwards, but deallocate once.
func (u *umpire) first(l *umpireLine) (e Event, err error) {
	p := fieldParser{}
	var in umpirePayload
	var out umpireResult
	switch l.Event {
	case "makeMemoryResource":
		p.decode(l.Payload, &in)
		p.decode(l.Result, &out.Reference) // not in an object, as elsewhere
		return e, u.learn(&p, allocator{l.UID, out.Reference}, in.Name)
	case "makeAllocator":
		p.decode(l.Payload, &in)
		p.decode(l.Result, &out)
		return e, u.learn(&p, allocator{l.UID, out.Reference}, in.Allocator)
	case "allocate", "deallocate", "reallocate", "reallocate_ex":
		p.decode(l.Payload, &in)
		p.decode(l.Result, &out)
	default:
		return e, nil
	}
	if l.Event != "deallocate" && len(l.Result) == 0 {
		if l.Event == "allocate" {
			u.attempted++
		}
		return e, p.err
	}
	e = Event{Space: l.UID, Pool: u.pool(&p, allocator{l.UID, in.Reference}), Size: -1}
	return u.call(e, l.Event, &in, &out, &p).checkNull(), p.err
}

// call fills in the event for a call that is done.
func (u *umpire) call(e Event, name string, in *umpirePayload, out *umpireResult, p *fieldParser) Event {
	switch name {
	case "deallocate":
		e.Kind = Free
		e.Pointer = p.number("memory_ptr", in.Memory, 0)
		return e
	case "allocate":
		u.attempted--
		e.Kind = Alloc
	default:
		e.Kind = Realloc
		e.Old = p.number("ptr", in.Old, 0)
	}
	e.Size = p.size(string(in.Size))
	e.Pointer = p.number("memory_ptr", out.Memory, 0)
	return e
}
