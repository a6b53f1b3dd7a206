package parley

import "github.com/go-json-experiment/json/jsontext"

// Without is the set after what taken matches was taken away: grants that it
// covers wholly are gone, and where it is a part of one that stays, a denial of
// it is added. The set itself does not change.
//
// For every action that taken matches the result allows nothing, and for no
// action does it allow more than before. It may allow less than the difference:
// a denial also matches where an object form's params are absent, of another
// type or in doubt. A denial that is taken changes nothing, since lifting one
// would give.
//
// The denial is made against the grants of this set. Who adds grants from
// another source later, as a configuration that is read again, takes away
// from the sum.
func (s Capabilities) Without(taken Capability) Capabilities {
	left := make(Capabilities, 0, len(s)+1)
	if taken.r == nil || taken.r.deny {
		return append(left, s...)
	}
	denial := taken.Denial()
	needed := false
	for _, c := range s {
		switch {
		case c.r == nil:
		case c.r.deny:
			left = append(left, c)
		case !taken.r.includes(c.r):
			left = append(left, c)
			needed = needed || denial.r.mayDeny(c.r)
		}
	}
	if needed && !left.has(denial) {
		left = append(left, denial)
	}
	return left
}

// Denial is the denial of what the grant c allows. It denies more than that
// where it is in doubt; see [Capability]. A denial is returned as it is.
func (c Capability) Denial() Capability {
	if c.r == nil || c.r.deny {
		return c
	}
	r := *c.r
	r.deny = true
	if r.object == nil {
		r.text = "!" + r.text
	} else {
		r.object = denyObject(r.object, "!"+r.kind)
		r.text = string(r.object)
	}
	return Capability{&r}
}

// denyObject writes an object form anew with another kind, the rest as it was.
func denyObject(object jsontext.Value, kind string) jsontext.Value {
	out := appendString([]byte(`{"kind":`), kind)
	for name, value := range members(object) {
		if name != "kind" {
			out = append(appendString(append(out, ','), name), ':')
			out = append(out, value...)
		}
	}
	return append(out, '}')
}

// Equal reports whether both were written alike, blanks in object forms aside.
func (c Capability) Equal(other Capability) bool { return c.String() == other.String() }

func (s Capabilities) has(c Capability) bool {
	for _, own := range s {
		if own.Equal(c) {
			return true
		}
	}
	return false
}
