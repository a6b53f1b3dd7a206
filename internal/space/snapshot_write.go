package space

import (
	"bytes"
	"runtime"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSON is the snapshot as [ReadSnapshot] reads it. It may take a tenth of a
// second, and gives way to others meanwhile.
func (n *Snapshot) JSON() (jsontext.Value, error) { return n.AppendJSON(nil) }

// AppendJSON is [Snapshot.JSON], appended: there may be megabytes of it.
func (n *Snapshot) AppendJSON(dst []byte) ([]byte, error) {
	b := yieldingBuffer{Buffer: *bytes.NewBuffer(dst)}
	err := json.MarshalWrite(&b, n)
	return b.Bytes(), err
}

// yieldEach is after how many bytes others have their turn: in the time that
// these take nobody misses one, and each turn may cost us as much as all others
// together want.
const yieldEach = 64 << 10

// yieldingBuffer is written to piece by piece, and gives way from time to time.
type yieldingBuffer struct {
	bytes.Buffer
	since int
}

func (b *yieldingBuffer) Write(p []byte) (int, error) {
	if b.since += len(p); b.since >= yieldEach {
		b.since = 0
		runtime.Gosched()
	}
	return b.Buffer.Write(p)
}
