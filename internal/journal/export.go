package journal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// An export is JSON Lines (section 9 of the contract): one line that says what
// it is, one for each record in the order of the chain, and one with the head
// where the chain ended.
//
//	{"type":"export","version":1,"space":"demo"}
//	{"type":"envelope","index":1,"seq":1,"epoch":"…","salt":"…","rest":"…","hash":"…","envelope":{…}}
//	{"type":"refused","index":2,"epoch":"…","ts":"…","from":"…","kind":"…","salt":"…","rest":"…","hash":"…","body":{…}}
//	{"type":"head","head":"2:1:…"}
//
// The rest of the header of an envelope's record is read out of the envelope,
// which stands there byte for byte as it was recorded without its seq; "to" is
// whom it counts as addressed to, "effective" is there where it differs from the
// kind. A redacted record says "redacted":true
// and has no salt; a checkpoint that newer ones have replaced says
// "superseded":true and has neither salt nor body. An envelope or body that holds a line break stands as a
// JSON string.
//
// Where retention drops what was to come next while the export is being written,
// the last line is {"type":"overtaken"} instead of the head.

const (
	lineOvertaken = "overtaken"

	exportVersion = 1
	timeFormat    = "2006-01-02T15:04:05.000Z"

	// maxExportLine is more than any record takes, in bytes.
	maxExportLine = 256 << 20
)

// Export writes records, which a [Query] with Chain yields, as JSON Lines that
// [ReadExport] reads and [VerifyExport] checks. It returns the head that it
// wrote at the end. An error is the records' own or the writer's; what was
// written before it lacks the head and so shows that it is not whole.
func Export(w io.Writer, space string, records iter.Seq2[*Record, error]) (Head, error) {
	head := Origin(space)
	line := fmt.Appendf(nil, `{"type":"export","version":%d,"space":`, exportVersion)
	line = append(appendQuote(line, space), "}\n"...)
	if _, err := w.Write(line); err != nil {
		return head, err
	}
	for r, err := range records {
		if IsOvertaken(err) {
			_, writeErr := fmt.Fprintf(w, "{\"type\":%q}\n", lineOvertaken)
			return head, errors.Join(err, writeErr)
		}
		if err != nil {
			return head, err
		}
		line = append(r.AppendExport(line[:0]), '\n')
		if _, err := w.Write(line); err != nil {
			return head, err
		}
		head = Head{Index: r.Index, Seq: max(r.Seq, head.Seq), Hash: r.Hash}
	}
	_, err := fmt.Fprintf(w, "{\"type\":\"head\",\"head\":%q}\n", head)
	return head, err
}

// AppendExport appends the record's line of an export, without a line break.
func (r *Record) AppendExport(dst []byte) []byte {
	dst = appendQuote(append(dst, `{"type":`...), r.Type.String())
	dst = strconv.AppendUint(append(dst, `,"index":`...), r.Index, 10)
	if r.Seq > 0 {
		dst = strconv.AppendUint(append(dst, `,"seq":`...), r.Seq, 10)
	}
	dst = appendText(dst, "epoch", r.Epoch)
	if r.Type != Admitted {
		dst = appendText(dst, "ts", r.TS.UTC().Format(timeFormat))
		dst = appendText(dst, "id", r.ID)
		dst = appendText(dst, "from", r.From)
		dst = appendText(dst, "kind", r.Kind)
	}
	if r.Effective != r.Kind {
		dst = appendText(dst, "effective", r.Effective)
	}
	if len(r.To) > 0 {
		dst = appendTexts(dst, "to", r.To)
	}
	switch {
	case r.Redacted:
		dst = append(dst, `,"redacted":true`...)
	case r.Superseded:
		dst = append(dst, `,"superseded":true`...)
	default:
		dst = appendText(dst, "salt", hex.EncodeToString(r.Salt[:]))
	}
	dst = appendText(dst, "rest", r.Rest.String())
	dst = appendText(dst, "hash", r.Hash.String())
	if r.Superseded {
		return append(dst, '}')
	}
	dst = appendQuote(append(dst, ','), bodyName(r.Type))
	dst = append(dst, ':')
	if bytes.ContainsAny(r.Body, "\r\n") || len(r.Body) == 0 {
		dst = appendQuote(dst, string(r.Body))
	} else {
		dst = append(dst, r.Body...)
	}
	return append(dst, '}')
}

func bodyName(t Type) string {
	if t == Admitted {
		return "envelope"
	}
	return "body"
}

func appendText(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(appendQuote(append(dst, ','), name), ':')
	return appendQuote(dst, value)
}

func appendTexts(dst []byte, name string, values []string) []byte {
	dst = append(appendQuote(append(dst, ','), name), ":["...)
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuote(dst, v)
	}
	return append(dst, ']')
}

func appendQuote(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // what is no UTF-8 never came on record
	return dst
}

// ExportReader reads an export line by line; see [ReadExport].
type ExportReader struct {
	// Space is what the export says that it is of.
	Space string

	lines *bufio.Scanner
	line  int
	head  *Head
	again []byte // the line, as Export would write it
}

// ReadExport starts to read what [Export] wrote: invalid_argument where it
// does not begin like an export.
func ReadExport(r io.Reader) (*ExportReader, error) {
	x := &ExportReader{lines: bufio.NewScanner(r)}
	x.lines.Buffer(nil, maxExportLine)
	first, err := x.next()
	if err != nil {
		return nil, err
	}
	if typ, _ := parley.MemberString(first, "type"); typ != "export" {
		return nil, parley.Errorf(parley.InvalidArgument, "this is not the export of a journal").
			WithHint("parley log export writes one")
	}
	if v := memberInt(first, "version"); v != exportVersion {
		return nil, parley.Errorf(parley.InvalidArgument, "the export has version %d, this program reads version %d", v, exportVersion).
			WithHint("use the version of parley that wrote it, or a newer one")
	}
	x.Space, _ = parley.MemberString(first, "space")
	return x, x.nothingBut(first, "type", "version", "space")
}

// Records yields the records in the order in which they stand there. The first
// error, invalid_argument for a line that is none of an export, ends it. It is
// [Overtaken] where the export says so.
func (x *ExportReader) Records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for x.head == nil {
			r, err := x.record()
			if err == io.EOF {
				return
			}
			if r == nil && err == nil {
				continue // the head
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		if _, err := x.next(); err != io.EOF {
			yield(nil, x.bad("something stands after the head"))
		}
	}
}

// Head is the head at the export's end, once Records came there; ok is false
// where the export has none, and so was cut off.
func (x *ExportReader) Head() (h Head, ok bool) {
	if x.head == nil {
		return Head{}, false
	}
	return *x.head, true
}

// next is the next line, as valid JSON; io.EOF after the last.
func (x *ExportReader) next() (jsontext.Value, error) {
	if !x.lines.Scan() {
		if err := x.lines.Err(); err != nil {
			return nil, fmt.Errorf("reading line %d of the export: %w", x.line+1, err)
		}
		return nil, io.EOF
	}
	x.line++
	line := jsontext.Value(bytes.Clone(x.lines.Bytes()))
	if !line.IsValid() || line.Kind() != '{' {
		return nil, x.bad("it is no JSON object")
	}
	return line, nil
}

func (x *ExportReader) bad(format string, args ...any) error {
	return parley.Errorf(parley.InvalidArgument, "line %d of the export: %s", x.line, fmt.Sprintf(format, args...))
}

// record reads one line; both results are nil for the head.
func (x *ExportReader) record() (*Record, error) {
	line, err := x.next()
	if err != nil {
		return nil, err
	}
	name, _ := parley.MemberString(line, "type")
	if name == "head" {
		text, _ := parley.MemberString(line, "head")
		head, err := ParseHead(text)
		if err != nil {
			return nil, x.bad("%s", message(err))
		}
		x.head = &head
		return nil, x.nothingBut(line, "type", "head")
	}
	if name == lineOvertaken {
		return nil, Overtaken()
	}
	typ, ok := typeNamed(name)
	if !ok {
		return nil, x.bad("there is no type %.40q", name)
	}
	r := &Record{Type: typ}
	if err := r.readExport(line); err != nil {
		return nil, x.bad("%s", message(err))
	}
	if x.again = r.AppendExport(x.again[:0]); !bytes.Equal(x.again, line) { // no hash covers what was not read
		return nil, x.bad("it holds more than the record, or is written in another way than an export is")
	}
	return r, nil
}

func typeNamed(name string) (Type, bool) {
	for t := Admitted; t <= Checkpoint; t++ {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// nothingBut refuses a line with other members, which nothing covers.
func (x *ExportReader) nothingBut(line jsontext.Value, names ...string) error {
	for name := range parley.Members(line) {
		if !slices.Contains(names, name) {
			return x.bad("it has a member %.40q, which no export has there", name)
		}
	}
	return nil
}

// readExport fills in the record from its line.
func (r *Record) readExport(line jsontext.Value) (err error) {
	members := maps.Collect(parley.Members(line)) // once: a checkpoint's line is long
	number := func(name string) uint64 {
		n, _ := strconv.ParseUint(string(members[name]), 10, 64)
		return n
	}
	text := func(name string) string {
		s, err := jsontext.AppendUnquote(nil, members[name])
		if err != nil {
			return ""
		}
		return string(s)
	}
	r.Index, r.Seq, r.Epoch = number("index"), number("seq"), text("epoch")
	r.Redacted = string(members["redacted"]) == "true"
	r.Superseded = string(members["superseded"]) == "true"
	if r.Hash, err = ParseHash(text("hash")); err != nil {
		return err
	}
	if r.Rest, err = ParseHash(text("rest")); err != nil {
		return err
	}
	if !r.Redacted && !r.Superseded {
		salt, err := hex.DecodeString(text("salt"))
		if err != nil || len(salt) != len(r.Salt) {
			return parley.Errorf(parley.InvalidArgument, "salt is not 16 bytes in hexadecimal")
		}
		copy(r.Salt[:], salt)
	}
	for v := range parley.Elements(members["to"]) {
		to, err := jsontext.AppendUnquote(nil, v)
		if err != nil {
			return parley.Errorf(parley.InvalidArgument, "to holds something else than strings")
		}
		r.To = append(r.To, string(to))
	}
	r.Body = members[bodyName(r.Type)]
	if jsontext.Value(r.Body).Kind() == '"' {
		r.Body = []byte(text(bodyName(r.Type)))
	}
	if r.Type == Admitted {
		err = r.readHeader()
	} else {
		r.ID, r.From, r.Kind = text("id"), text("from"), text("kind")
		r.TS, err = time.Parse(timeFormat, text("ts"))
	}
	r.Effective = r.Kind
	if effective := text("effective"); effective != "" {
		r.Effective = effective
	}
	return err
}

// readHeader fills in the header from the envelope.
func (r *Record) readHeader() error {
	e, err := r.Decode()
	if err != nil {
		return err
	}
	r.ID, r.TS, r.From, r.Kind = e.ID, e.TS, e.From, e.Kind
	r.Correlations, r.Amends = e.Correlation.IDs, e.Amends
	if e.Context != nil {
		r.Context, r.Parent = e.Context.ID, e.Context.Parent
	}
	return nil
}
