// This file lets the compiler accept functions without a body, which go:linkname supplies.
