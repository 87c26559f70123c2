package brain

import "errors"

// ErrInfrastructure marks a fault outside the work: a network, a disk, a usage
// limit. The step is tried again and no attempt is spent.
var ErrInfrastructure = errors.New("infrastructure fault")
