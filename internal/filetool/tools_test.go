package filetool

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestWriteThenRead(t *testing.T) {
	r := newRoom(t, nil)
	long := strings.Repeat("n", 255)
	for _, c := range []struct{ path, content string }{
		{"a.txt", "hello\n"},
		{"empty", ""},
		{"deep/er/est/b.md", "# b"},
		{"日本/ファイル 😀.txt", "こんにちは\n"},
		{long, "long name"},
		{"./x//y/../z.txt", "cleaned"},
		{"quote\"back\\slash", "<html> & \u2028 \x01"},
	} {
		w := ok[writeOutput](r, "write_file", args{"path": c.path, "content": c.content})
		if !w.Created || w.Bytes != len(c.content) {
			t.Errorf("write %s: %+v", c.path, w)
		}
		got := ok[readOutput](r, "read_file", args{"path": c.path})
		if got.Content != c.content || got.Encoding != "utf-8" || got.Size != int64(len(c.content)) || got.NextOffset != 0 {
			t.Errorf("read %s: %+v", c.path, got)
		}
		if got := text(r.do("read_file", args{"path": c.path})); got != c.content {
			t.Errorf("read %s as text: %q", c.path, got)
		}
	}
	if got := r.get("x/z.txt"); got != "cleaned" {
		t.Errorf("x/z.txt holds %q", got)
	}
}

func TestWriteReplacesKeepingPermissions(t *testing.T) {
	r := newRoom(t, nil)
	r.put("run.sh", "old and longer")
	if err := os.Chmod(filepath.Join(r.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	if w := ok[writeOutput](r, "write_file", args{"path": "run.sh", "content": "new"}); w.Created || w.Bytes != 3 {
		t.Errorf("%+v", w)
	}
	info, err := os.Stat(filepath.Join(r.dir, "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("permissions are %v", info.Mode())
	}
	if names := r.names("."); !slices.Equal(names, []string{"run.sh"}) {
		t.Errorf("left behind: %q", names)
	}
}

// names are the folder's, with nothing left out.
func (r *room) names(dir string) (names []string) {
	r.t.Helper()
	entries, err := os.ReadDir(filepath.Join(r.dir, dir))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteRefuses(t *testing.T) {
	r := newRoom(t, nil)
	r.put("file", "x")
	r.put("dir/file", "x")
	for _, c := range []struct {
		path, encoding, code string
	}{
		{"dir", "", "invalid_argument"},
		{"new/", "", "invalid_argument"},
		{"", "", "invalid_argument"},
		{".", "", "forbidden"},
		{"file/below", "", "invalid_argument"},
		{"file/below/deeper", "", "invalid_argument"},
		{strings.Repeat("n", 256), "", "invalid_argument"},
		{strings.Repeat("n/", 2100) + "n", "", "invalid_argument"},
		{"zero\x00byte", "", "invalid_argument"},
		{"a", "rot13", "invalid_argument"},
		{"a", "base64", "invalid_argument"},
	} {
		r.refused(c.code, "write_file", args{"path": c.path, "content": "?", "encoding": c.encoding})
	}
	if names := r.names("."); !slices.Equal(names, []string{"dir", "file"}) {
		t.Errorf("left behind: %q", names)
	}
}

func TestBinaryGoesThroughAsBase64(t *testing.T) {
	r := newRoom(t, nil)
	data := []byte("\x89PNG\r\n\x1a\n\x00\xff\xfe")
	ok[writeOutput](r, "write_file", args{"path": "p.png", "content": base64.StdEncoding.EncodeToString(data), "encoding": "base64"})
	if got := r.get("p.png"); got != string(data) {
		t.Fatalf("on disk: %q", got)
	}
	got := ok[readOutput](r, "read_file", args{"path": "p.png"})
	if got.Encoding != "base64" || got.MIMEType != "image/png" || got.Content != base64.StdEncoding.EncodeToString(data) {
		t.Errorf("%+v", got)
	}
	image, isImage := r.do("read_file", args{"path": "p.png"}).Content[0].(*mcp.ImageContent)
	if !isImage || !bytes.Equal(image.Data, data) {
		t.Errorf("the content is %+v", image)
	}
	r.put("b.bin", "\x00\x01\xff")
	blob, isBlob := r.do("read_file", args{"path": "b.bin"}).Content[0].(*mcp.EmbeddedResource)
	if !isBlob || string(blob.Resource.Blob) != "\x00\x01\xff" || blob.Resource.URI != "file:///b.bin" {
		t.Errorf("the content is %+v", blob)
	}
	r.refused("invalid_argument", "read_file", args{"path": "b.bin", "head": 1})
}

func TestReadPieces(t *testing.T) {
	r := newRoom(t, &Options{MaxBytes: 8})
	r.put("lines", "a\nbb\nccc\ndddd\n")
	r.put("open", "a\nb")
	r.put("eight", "12345678")
	r.put("runes", "aé€😀z")
	for _, c := range []struct {
		path string
		args args
		want readOutput
	}{
		{"lines", args{"head": 2}, readOutput{Content: "a\nbb\n", Bytes: 5, NextOffset: 5}},
		{"lines", args{"head": 9}, readOutput{Content: "a\nbb\nccc", Bytes: 8, NextOffset: 8, Truncated: true}},
		{"lines", args{"tail": 1}, readOutput{Content: "dddd\n", Offset: 9, Bytes: 5}},
		{"lines", args{"tail": 3}, readOutput{Content: "cc\ndddd\n", Offset: 6, Bytes: 8, Truncated: true}},
		{"open", args{"tail": 1}, readOutput{Content: "b", Offset: 2, Bytes: 1}},
		{"open", args{"tail": 5}, readOutput{Content: "a\nb", Bytes: 3}},
		{"open", args{"head": 5}, readOutput{Content: "a\nb", Bytes: 3}},
		{"eight", nil, readOutput{Content: "12345678", Bytes: 8}},
		{"eight", args{"offset": 6, "limit": 100}, readOutput{Content: "78", Offset: 6, Bytes: 2}},
		{"eight", args{"offset": 8}, readOutput{Offset: 8}},
		{"lines", args{"limit": 100}, readOutput{Content: "a\nbb\nccc", Bytes: 8, NextOffset: 8, Truncated: true}},
		{"lines", args{"limit": 3}, readOutput{Content: "a\nb", Bytes: 3, NextOffset: 3}},
		{"runes", args{"limit": 5}, readOutput{Content: "aé", Bytes: 3, NextOffset: 3}},
		{"runes", args{"offset": 2, "limit": 4}, readOutput{Content: "€", Offset: 3, Bytes: 3, NextOffset: 6}},
		{"runes", args{"offset": 6, "limit": 1}, readOutput{Content: "8A==", Encoding: "base64", Offset: 6, Bytes: 1, NextOffset: 7}},
	} {
		a := args{"path": c.path}
		maps.Copy(a, c.args)
		got := ok[readOutput](r, "read_file", a)
		c.want.Path, c.want.Size, c.want.MIMEType = c.path, int64(len(r.get(c.path))), got.MIMEType
		c.want.Encoding = cmp.Or(c.want.Encoding, "utf-8")
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%v:\n got %+v\nwant %+v", a, got, c.want)
		}
	}
	for _, c := range []struct {
		code string
		args args
	}{
		{"too_large", args{"path": "lines"}},
		{"invalid_argument", args{"path": "lines", "offset": 15}},
		{"invalid_argument", args{"path": "lines", "head": 1, "tail": 1}},
		{"invalid_argument", args{"path": "lines", "head": 1, "limit": 1}},
		{"invalid_argument", args{"path": "lines", "offset": -1}},
		{"not_found", args{"path": "absent"}},
		{"invalid_argument", args{"path": "lines/below"}},
		{"forbidden", args{"path": "."}},
	} {
		r.refused(c.code, "read_file", c.args)
	}
}

// Reading on at nextOffset yields the file, whatever it holds.
func TestReadingOnYieldsTheFile(t *testing.T) {
	r := newRoom(t, nil)
	big := strings.Repeat("Größe 😀 €\n", 40_000)
	for name, content := range map[string]string{"text": big, "binary": strings.Repeat("\x00\xf0\x9f\xff", 100_000)} {
		r.put(name, content)
		r.refused("too_large", "read_file", args{"path": name})
		var all []byte
		for next := int64(0); ; {
			got := ok[readOutput](r, "read_file", args{"path": name, "offset": next, "limit": 100_001})
			piece := []byte(got.Content)
			if got.Encoding == "base64" {
				piece, _ = base64.StdEncoding.DecodeString(got.Content)
			}
			all = append(all, piece...)
			if next = got.NextOffset; next == 0 {
				break
			}
		}
		if string(all) != content {
			t.Errorf("%s: %d bytes differ from the %d of the file", name, len(all), len(content))
		}
	}
}

func TestList(t *testing.T) {
	r := newRoom(t, nil)
	if got := text(r.do("list_directory", nil)); got != "(nothing)" {
		t.Errorf("an empty folder lists as %q", got)
	}
	r.put("b.txt", "four")
	r.put("a/inner", "")
	r.put("C", "")
	if got, want := text(r.do("list_directory", args{"path": "."})), "[FILE] C\n[DIR] a\n[FILE] b.txt"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got := ok[listOutput](r, "list_directory", args{"path": ""})
	want := []entry{{"C", "file", 0}, {"a", "directory", 0}, {"b.txt", "file", 4}}
	if !slices.Equal(got.Entries, want) || got.Truncated {
		t.Errorf("got %+v", got)
	}
	r.refused("not_found", "list_directory", args{"path": "absent"})
	r.refused("invalid_argument", "list_directory", args{"path": "b.txt"})
}

func TestListIsCutAndGoesOn(t *testing.T) {
	r := newRoom(t, nil)
	const n = 5*maxEntries + 7
	for i := range n {
		r.put(fmt.Sprintf("f%05d", i), "")
	}
	var names []string
	for after := ""; ; after = names[len(names)-1] {
		got := ok[listOutput](r, "list_directory", args{"after": after})
		for _, e := range got.Entries {
			names = append(names, e.Name)
		}
		if len(got.Entries) > maxEntries {
			t.Fatalf("%d entries at once", len(got.Entries))
		}
		if !got.Truncated {
			break
		}
	}
	if len(names) != n || !slices.IsSorted(names) {
		t.Errorf("%d names, sorted %v", len(names), slices.IsSorted(names))
	}
}

func TestMove(t *testing.T) {
	r := newRoom(t, nil)
	r.put("a", "A")
	r.put("b", "B")
	r.put("dir/c", "C")
	r.refused("already_exists", "move_file", args{"source": "a", "destination": "b"})
	r.refused("already_exists", "move_file", args{"source": "a", "destination": "dir"})
	r.refused("already_exists", "move_file", args{"source": "a", "destination": "dir", "overwrite": true})
	r.refused("not_found", "move_file", args{"source": "absent", "destination": "made/x"})
	r.refused("invalid_argument", "move_file", args{"source": "dir", "destination": "dir/in/itself"})
	r.refused("invalid_argument", "move_file", args{"source": "a", "destination": "./a"})
	r.refused("forbidden", "move_file", args{"source": ".", "destination": "x"})
	r.refused("forbidden", "move_file", args{"source": "a", "destination": "../x"})
	r.refused("invalid_argument", "move_file", args{"source": "dir", "destination": "b", "overwrite": true})
	if got := r.names("."); !slices.Equal(got, []string{"a", "b", "dir"}) {
		t.Errorf("refusals left %q", got)
	}
	if got := ok[moveOutput](r, "move_file", args{"source": "a", "destination": "b", "overwrite": true}); !got.Overwritten || r.get("b") != "A" {
		t.Errorf("%+v, b holds %q", got, r.get("b"))
	}
	if got := ok[moveOutput](r, "move_file", args{"source": "dir", "destination": "new/place"}); got.Overwritten || r.get("new/place/c") != "C" {
		t.Errorf("%+v", got)
	}
}

func TestDelete(t *testing.T) {
	r := newRoom(t, nil)
	r.put("dir/sub/file", "x")
	r.put("file", "x")
	if err := os.Mkdir(filepath.Join(r.dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.refused("not_empty", "delete_file", args{"path": "dir"})
	r.refused("forbidden", "delete_file", args{"path": ".", "recursive": true})
	r.refused("forbidden", "delete_file", args{"path": "dir/..", "recursive": true})
	r.refused("not_found", "delete_file", args{"path": "absent", "recursive": true})
	for path, kind := range map[string]string{"file": "file", "empty": "directory"} {
		if got := ok[deleteOutput](r, "delete_file", args{"path": path}); got.Type != kind {
			t.Errorf("%+v", got)
		}
	}
	ok[deleteOutput](r, "delete_file", args{"path": "dir", "recursive": true})
	if got := r.names("."); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

func TestCreateDirectoryAndInfo(t *testing.T) {
	r := newRoom(t, nil)
	r.put("file", "12345")
	for range 2 {
		ok[mkdirOutput](r, "create_directory", args{"path": "x/y"})
	}
	r.refused("already_exists", "create_directory", args{"path": "file"})
	if got := ok[infoOutput](r, "get_file_info", args{"path": "x/y"}); got.Type != "directory" {
		t.Errorf("%+v", got)
	}
	got := ok[infoOutput](r, "get_file_info", args{"path": "file"})
	if got.Type != "file" || got.Size != 5 || got.Modified.IsZero() || len(got.Permissions) != 9 {
		t.Errorf("%+v", got)
	}
	r.refused("not_found", "get_file_info", args{"path": "absent"})
}

// Of many moves to one place exactly one wins, however close they come.
func TestMovesTakeTurns(t *testing.T) {
	r := newRoom(t, nil)
	f, err := openFolder(r.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	const rounds, racers = 400, 4
	for round := range rounds {
		var (
			wg    sync.WaitGroup
			won   atomic.Int32
			start = make(chan struct{})
			dst   = fmt.Sprintf("dst%d", round)
		)
		for i := range racers {
			src := fmt.Sprintf("src%d-%d", round, i)
			r.put(src, "x")
			wg.Go(func() {
				<-start
				if _, err := f.move(t.Context(), moveInput{Source: src, Destination: dst}); err == nil {
					won.Add(1)
				}
			})
		}
		close(start)
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("round %d: %d moves won", round, won.Load())
		}
	}
	if got := r.names("."); len(got) != rounds*racers {
		t.Errorf("%d files left of %d", len(got), rounds*racers)
	}
}

// Readers of a file that is rewritten meanwhile see one whole content or
// another.
func TestReadersSeeWholeFiles(t *testing.T) {
	r := newRoom(t, nil)
	content := func(i int) string { return strings.Repeat(fmt.Sprint(i), 50_000) }
	r.put("shared", content(0))
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			r.do("write_file", args{"path": "shared", "content": content(i)})
		})
		wg.Go(func() {
			got := text(r.do("read_file", args{"path": "shared"}))
			if len(got) != 50_000 || strings.Count(got, got[:1]) != 50_000 {
				t.Errorf("read a part: %d bytes", len(got))
			}
		})
	}
	wg.Wait()
	if got := r.names("."); !slices.Equal(got, []string{"shared"}) {
		t.Errorf("left behind: %q", got)
	}
}
