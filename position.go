package parley

import "fmt"

// Position is where an envelope stands in its space's order. Seq counts from
// 1 without gaps; Epoch changes only where an order could not be continued, so
// that no position is ever used twice.
type Position struct {
	Epoch string
	Seq   uint64
}

// String is "epoch/seq", for people.
func (p Position) String() string { return fmt.Sprintf("%s/%d", p.Epoch, p.Seq) }
