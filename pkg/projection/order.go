package projection

import "context"

// order says whether a definition has an order of claims.
type order int

const (
	unread order = iota // the definition cannot be read
	ordered
	orderless
)

// orderOf returns the order of a definition, by its hash. It reads each definition only
// once, even one that cannot be read.
func (p *Projection) orderOf(ctx context.Context, hash string) order {
	if known, ok := p.orders.Load(hash); ok {
		return known.(order)
	}
	o := unread
	switch def, err := p.definitions.Hashed(ctx, hash); {
	case ctx.Err() != nil:
		return unread
	case err == nil && len(def.Order) > 0:
		o = ordered
	case err == nil:
		o = orderless
	}
	p.orders.Store(hash, o)
	return o
}
