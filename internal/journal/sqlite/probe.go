package sqlite

import "context"

// Probe writes something small to see whether the disk takes it, and returns
// why it does not.
func (j *Journal) Probe(ctx context.Context) error {
	return j.onWriter(ctx, func() error {
		c := j.writer.conn
		err := transact(c, func() error { return c.Exec(`UPDATE journal SET probe = probe + 1`) })
		if err != nil {
			return writeError(err)
		}
		return nil
	})
}
