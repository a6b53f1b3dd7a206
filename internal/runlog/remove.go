package runlog

import "fmt"

// Remove removes a run. One that is open is closed first; its appends fail from
// then on.
//
// Errors are [fs.ErrNotExist] where there is no such run, [ErrInUse] where it is
// being made, loaded or removed, [fs.ErrClosed] after Close, and what the disk says. A run
// may be there again after the machine, not only the process, has crashed.
func (d *Dir) Remove(name string) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("removing a run: %w", err)
	}
	file := fileOf(name)
	l, err := d.seize(file)
	if err == nil {
		if l != nil {
			l.appends.close()
		}
		err = d.root.Remove(file)
		d.release(file, nil)
	}
	if err != nil {
		return fmt.Errorf("removing the run in %s: %w", d.path(file), err)
	}
	return nil
}
