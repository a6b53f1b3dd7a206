package runlog

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrSize is what does not fit within [MaxRecord] or [MaxRun].
var ErrSize = errors.New("more than is kept of a run")

// ErrInUse is a folder that another process has, or a run that is open already.
var ErrInUse = errors.New("in use")

// An ExistsError is a run that is there already. It is [fs.ErrExist] as well.
// What it says does not tell the run's name, which may be all that it takes to go on with it.
type ExistsError struct {
	Name string
	File string
}

func (e *ExistsError) Error() string        { return "the run is there already, in " + e.File }
func (e *ExistsError) Is(target error) bool { return target == fs.ErrExist }

// A DamageError is a file that is not what was written into it, and not what a
// crash makes of that either. The file is left as it is.
type DamageError struct {
	File   string
	Offset int64 // where the first line begins that does not fit, in bytes
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %s; restore it from a backup, or move it away to give the run up", e.File, e.Offset, e.Reason)
}
