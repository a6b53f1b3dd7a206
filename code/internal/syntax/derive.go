package syntax

import (
	"reflect"
	"sync"
)

// derived is what others made of a file, by type.
type derived struct{ byType sync.Map }

// Derive is what build makes of a file, made at the first call and kept as long
// as the file is: an index of it, above all. Each type has one such value. It
// must not be changed afterwards.
func Derive[T any](f *File, build func(*File) T) T {
	key := reflect.TypeFor[T]()
	if v, ok := f.derived.byType.Load(key); ok {
		return v.(T)
	}
	v, _ := f.derived.byType.LoadOrStore(key, build(f))
	return v.(T)
}
