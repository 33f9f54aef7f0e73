package device

// CallBytes makes the Sim [Priced].
func (s *Sim) CallBytes() int { return 0 }
