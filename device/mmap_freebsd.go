package device

// mapNoReserve does not exist here; PROT_NONE alone does it.
const mapNoReserve = 0
