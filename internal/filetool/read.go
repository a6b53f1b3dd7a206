package filetool

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
)

func readTool(maxBytes int64) *mcp.Tool {
	return &mcp.Tool{
		Name: "read_file",
		Description: fmt.Sprintf("Read a file. Text comes back as it is, anything else as base64. One call returns at most %d bytes: "+
			"for more, read pieces with offset and limit (bytes), or only the first or last lines with head or tail. "+
			"nextOffset in the answer is where the next piece begins; it is absent at the end of the file.", maxBytes),
		Annotations: reads("Read a file"),
	}
}

type readInput struct {
	Path   string `json:"path" jsonschema:"the file, relative to the folder"`
	Head   int    `json:"head,omitempty" jsonschema:"only this many lines from the start"`
	Tail   int    `json:"tail,omitempty" jsonschema:"only this many lines from the end"`
	Offset int64  `json:"offset,omitempty" jsonschema:"first byte to read, counted from 0"`
	Limit  int64  `json:"limit,omitempty" jsonschema:"most bytes to read"`
}

type readOutput struct {
	Path       string `json:"path"`
	Content    string `json:"content" jsonschema:"what was read, in the named encoding"`
	Encoding   string `json:"encoding" jsonschema:"utf-8 or base64"`
	MIMEType   string `json:"mimeType" jsonschema:"guessed from the content"`
	Size       int64  `json:"size" jsonschema:"bytes in the whole file"`
	Offset     int64  `json:"offset" jsonschema:"where in the file the content begins"`
	Bytes      int64  `json:"bytes" jsonschema:"how many bytes of the file the content holds"`
	NextOffset int64  `json:"nextOffset,omitempty" jsonschema:"where to go on reading; absent at the end of the file"`
	Truncated  bool   `json:"truncated,omitempty" jsonschema:"less than what was asked for, because one answer is bounded"`

	raw []byte
}

// render gives what is not text as the content type made for it, so that
// whoever looks at the answer sees the picture.
func (o *readOutput) render() []mcp.Content {
	switch {
	case o.Encoding == "utf-8":
		return say("%s", o.Content)
	case strings.HasPrefix(o.MIMEType, "image/") && o.Offset == 0 && o.NextOffset == 0:
		return []mcp.Content{&mcp.ImageContent{Data: o.raw, MIMEType: o.MIMEType}}
	}
	return []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
		URI: relativeURI(o.Path), MIMEType: o.MIMEType, Blob: o.raw,
	}}}
}

func (f *folder) read(ctx context.Context, in readInput) (*readOutput, error) {
	p, err := f.cleanInside(in.Path)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, f.explain(p, err)
	}
	file, info, err := f.openFile(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := &readOutput{Path: p, Size: info.Size()}
	if err := f.readPiece(file, in, out); err != nil {
		return nil, f.explain(p, err)
	}
	return out, nil
}

func (in readInput) check() error {
	ways := 0
	for _, asked := range []bool{in.Head != 0, in.Tail != 0, in.Offset != 0 || in.Limit != 0} {
		if asked {
			ways++
		}
	}
	if ways > 1 {
		return parley.Errorf(parley.InvalidArgument, "head, tail and offset with limit exclude each other").
			WithHint("give one of the three")
	}
	if min(int64(in.Head), int64(in.Tail), in.Offset, in.Limit) < 0 {
		return parley.Errorf(parley.InvalidArgument, "head, tail, offset and limit cannot be negative")
	}
	return nil
}

// readPiece fills in what was asked for. It reads one byte more than it may
// return: only so is it known whether the file ends there, whatever its size
// was a moment ago.
func (f *folder) readPiece(file io.ReaderAt, in readInput, out *readOutput) error {
	most := f.maxBytes
	if in.Limit > 0 {
		most = min(most, in.Limit)
	}
	out.Offset = in.Offset
	if in.Tail > 0 {
		out.Offset = max(0, out.Size-most)
	}
	if out.Offset > out.Size {
		return parley.Errorf(parley.InvalidArgument, "offset %d is beyond the end of %s, which has %d bytes", out.Offset, quote(out.Path), out.Size)
	}
	data, err := io.ReadAll(io.NewSectionReader(file, out.Offset, most+1))
	if err != nil {
		return err
	}
	more := int64(len(data)) > most
	data = data[:min(int64(len(data)), most)]

	switch {
	case in.Head > 0:
		cut := endOfLine(data, in.Head)
		out.Truncated = more && cut < 0
		if cut >= 0 {
			more = more || cut < len(data)
			data = data[:cut]
		}
	case in.Tail > 0:
		from := startOfLine(data, in.Tail)
		out.Truncated = out.Offset > 0 && from < 0
		data = data[max(0, from):]
		out.Offset += int64(max(0, from))
	case more && in.Offset == 0 && in.Limit == 0:
		return parley.Errorf(TooLarge, "%s has %d bytes; one read returns at most %d", quote(out.Path), out.Size, most).
			WithHint("read pieces with offset and limit, or lines with head or tail")
	default:
		out.Truncated = more && in.Limit > most
	}
	return out.fill(data, more, in.Head > 0 || in.Tail > 0)
}

// fill puts the piece into the answer, as text where it is text. Characters
// that the borders of the piece cut in two are left to its neighbours.
func (o *readOutput) fill(data []byte, more, lines bool) error {
	o.Encoding, o.raw = "base64", data
	if text, skipped, ok := asText(data, o.Offset > 0, more); ok {
		o.Encoding, o.raw = "utf-8", text
		o.Offset += int64(skipped)
	} else if lines {
		return parley.Errorf(parley.InvalidArgument, "%s is not text, so it has no lines", quote(o.Path)).
			WithHint("read it with offset and limit, or without any of them")
	}
	if o.Encoding == "utf-8" {
		o.Content = string(o.raw)
	} else {
		o.Content = base64.StdEncoding.EncodeToString(o.raw)
	}
	o.MIMEType = http.DetectContentType(o.raw)
	o.Bytes = int64(len(o.raw))
	if more || len(o.raw) > 0 && o.Offset+o.Bytes < o.Size {
		o.NextOffset = o.Offset + o.Bytes
	}
	return nil
}

// asText returns the whole characters in data and how many bytes before them
// belong to the previous piece; ok says whether it is text at all.
func asText(data []byte, cutBefore, cutAfter bool) (text []byte, skipped int, ok bool) {
	text = data
	for cutBefore && skipped < utf8.UTFMax-1 && len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
		skipped++
	}
	if cutAfter {
		text = wholeRunes(text)
	}
	// A piece too small for one character is handed out as bytes, or reading on
	// would never come further.
	if len(text) == 0 && len(data) > 0 {
		return nil, 0, false
	}
	return text, skipped, utf8.Valid(text) && bytes.IndexByte(text, 0) < 0
}

// wholeRunes drops an unfinished character at the end.
func wholeRunes(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			return b
		}
	}
	return b
}

// endOfLine is where the nth line ends, its newline included; -1 where data
// has fewer finished lines.
func endOfLine(data []byte, n int) int {
	end := 0
	for range n {
		i := bytes.IndexByte(data[end:], '\n')
		if i < 0 {
			return -1
		}
		end += i + 1
	}
	return end
}

// startOfLine is where the last n lines begin; -1 where the first of them may
// begin before data.
func startOfLine(data []byte, n int) int {
	start := len(data)
	if start > 0 && data[start-1] == '\n' {
		start--
	}
	for range n {
		i := bytes.LastIndexByte(data[:start], '\n')
		if i < 0 {
			return -1
		}
		start = i
	}
	return start + 1
}
