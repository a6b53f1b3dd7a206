package safe

import "strings"

// ShortID is enough of an id to be told from others, and to be typed. It is as
// hostile as the id.
func ShortID(id string) string {
	const uuid, enough = 36, 18 // of a UUIDv7 the time, and a bit of what is random
	switch {
	case len(id) == uuid && strings.Count(id, "-") == 4:
		return id[:enough]
	case len(id) > 24:
		return id[:20]
	}
	return id
}
