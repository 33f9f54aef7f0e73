// An assembly file lets linked.go declare functions without a body.
