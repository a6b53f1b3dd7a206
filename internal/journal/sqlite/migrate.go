package sqlite

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
)

// applicationID marks an SQLite file as a journal: "Prly".
const applicationID = 0x50726c79

// migrations bring a journal from one version of the schema to the next; the
// version is how many have run (PRAGMA user_version). What has been released
// here never changes.
var migrations = []string{schema1, schema2}

// The keys of envelopes and notes are space<<40 | seq and space<<40 | index.
// As rowids they cost nothing beside the row, and one space's rows lie together
// in their order. Notes are the records without a seq; the last seq before one
// tells which envelopes lie between two notes, so that the chain, too, is read
// from any place without an index.
const schema1 = `
CREATE TABLE journal (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	uuid  TEXT    NOT NULL, -- which journal this is; its search index names it
	open  INTEGER NOT NULL, -- 1 while a gateway writes: found at start, it was killed
	sync  TEXT    NOT NULL, -- that gateway's journal.sync
	boot  TEXT    NOT NULL, -- and its machine's boot id
	probe INTEGER NOT NULL  -- counts up to see whether the disk takes writes
) STRICT;

CREATE TABLE spaces (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE epochs (
	space INTEGER NOT NULL,
	first INTEGER NOT NULL, -- the index that it begins with
	epoch TEXT    NOT NULL,
	PRIMARY KEY (space, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE envelopes (
	key          INTEGER PRIMARY KEY, -- space<<40 | seq
	place        INTEGER NOT NULL,    -- index in the chain
	type         INTEGER NOT NULL,
	flags        INTEGER NOT NULL,    -- 1 amends, 2 redacted
	ts           INTEGER NOT NULL,    -- milliseconds since 1970
	hash         BLOB NOT NULL,
	rest         BLOB NOT NULL,
	salt         BLOB NOT NULL,
	id           TEXT NOT NULL,
	sender       TEXT NOT NULL,
	addressees   TEXT NOT NULL,       -- with blanks between them
	kind         TEXT NOT NULL,
	effective    TEXT NOT NULL,       -- '' where it is the kind
	correlations TEXT NOT NULL,       -- with blanks between them
	context      TEXT NOT NULL,
	parent       TEXT NOT NULL,
	body         BLOB NOT NULL        -- last, so that filters need not read it
) STRICT;

CREATE TABLE notes (
	key          INTEGER PRIMARY KEY, -- space<<40 | index
	place        INTEGER NOT NULL,    -- seq of the last envelope before
	type         INTEGER NOT NULL,
	flags        INTEGER NOT NULL,
	ts           INTEGER NOT NULL,
	hash         BLOB NOT NULL,
	rest         BLOB NOT NULL,
	salt         BLOB NOT NULL,
	id           TEXT NOT NULL,
	sender       TEXT NOT NULL,
	addressees   TEXT NOT NULL,
	kind         TEXT NOT NULL,
	effective    TEXT NOT NULL,
	correlations TEXT NOT NULL,
	context      TEXT NOT NULL,
	parent       TEXT NOT NULL,
	body         BLOB NOT NULL
) STRICT;

CREATE TABLE redactions ( -- so that the search index learns of each
	n   INTEGER PRIMARY KEY,
	key INTEGER NOT NULL
) STRICT;
`

// What the second version adds is small and empty at first: blocks are filled
// when they are asked for. The rows of redactions that are left out have been
// followed by an index that this version makes anew.
const schema2 = `
CREATE TABLE floors ( -- where what retention dropped ends, whether its rows are still there or not
	space INTEGER PRIMARY KEY,
	place INTEGER NOT NULL, -- index
	seq   INTEGER NOT NULL,
	hash  BLOB NOT NULL
) STRICT;

CREATE TABLE checkpoints ( -- those that have their body
	key INTEGER PRIMARY KEY -- as in notes
) STRICT;

CREATE TABLE blocks ( -- of 4,096 records, what retention asks of them
	key    INTEGER PRIMARY KEY, -- space<<40 | (index-1)/4096
	bytes  INTEGER NOT NULL,
	newest INTEGER NOT NULL     -- ts
) STRICT;

DROP TABLE redactions;
CREATE TABLE redactions ( -- whose words the search index may still hold
	n   INTEGER PRIMARY KEY AUTOINCREMENT,
	key INTEGER NOT NULL
) STRICT;
`

// migrate makes the schema, or brings it up to date, in one transaction.
func migrate(c *sqlite3.Conn, path string) error {
	version, err := checkVersion(c, path)
	if err != nil || version == len(migrations) {
		return err
	}
	return transact(c, func() error {
		for _, m := range migrations[version:] {
			if err := c.Exec(m); err != nil {
				return err
			}
		}
		return c.Exec(fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationID, len(migrations)))
	})
}

// checkVersion returns the schema's version, 0 for an empty file, and refuses
// what is no journal or a newer one.
func checkVersion(c *sqlite3.Conn, path string) (int, error) {
	app, err := number(c, `PRAGMA application_id`)
	if err != nil {
		return 0, err
	}
	version, err := number(c, `PRAGMA user_version`)
	if err != nil {
		return 0, err
	}
	tables, err := number(c, `SELECT count(*) FROM sqlite_schema`)
	if err != nil {
		return 0, err
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return 0, nil
	case app != applicationID || version < 1:
		return 0, parley.Errorf(parley.Unavailable, "%s is another program's database, not a journal of Parley", path).
			WithHint("name another file")
	case version > int64(len(migrations)):
		return 0, parley.Errorf(parley.Unavailable, "the journal %s was written by a newer version of Parley (schema %d; this one knows %d)",
			path, version, len(migrations)).
			WithHint("use that version, or name another file")
	}
	return int(version), nil
}

// number runs a query for one number.
func number(c *sqlite3.Conn, query string) (int64, error) {
	stmt, _, err := c.Prepare(query)
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	var n int64
	if stmt.Step() {
		n = stmt.ColumnInt64(0)
	}
	return n, stmt.Err()
}

// transact runs f in a transaction that is over when it returns.
func transact(c *sqlite3.Conn, f func() error) error {
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err := f()
	if err == nil {
		err = c.Exec(`COMMIT`)
	}
	if err != nil && !c.GetAutocommit() {
		// The first error counts; one that also ends the transaction by itself
		// leaves nothing to roll back.
		_ = c.Exec(`ROLLBACK`)
	}
	return err
}
