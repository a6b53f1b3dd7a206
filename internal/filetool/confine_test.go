package filetool

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// aimed are the tools that take a path, each with what else it needs. They
// come in an order in which none removes what the next is aimed at.
var aimed = []struct {
	tool, arg string
	rest      args
}{
	{"read_file", "path", nil},
	{"list_directory", "path", nil},
	{"get_file_info", "path", nil},
	{"search_files", "path", args{"pattern": "*"}},
	{"search_files", "path", args{"text": "secret"}},
	{"create_directory", "path", nil},
	{"write_file", "path", args{"content": "overwritten"}},
	{"move_file", "source", args{"destination": "stolen"}},
	{"move_file", "destination", args{"source": "inside.txt", "overwrite": true}},
	{"delete_file", "path", args{"recursive": true}},
}

func (r *room) aim(i int, p string) (tool string, a args) {
	a = maps.Clone(aimed[i].rest)
	if a == nil {
		a = args{}
	}
	a[aimed[i].arg] = p
	return aimed[i].tool, a
}

// outside puts a secret beside the served folder and links to it from within.
func (r *room) outside() (secret string) {
	r.t.Helper()
	r.put("inside.txt", "inside")
	r.put("sub/inside.txt", "inside")
	r.put("../outside/secret.txt", "secret")
	secret = filepath.Join(filepath.Dir(r.dir), "outside", "secret.txt")
	for name, target := range map[string]string{
		"abs":        filepath.Dir(secret),
		"rel":        "../outside",
		"sub/up":     "../../outside",
		"absfile":    secret,
		"relfile":    "../outside/secret.txt",
		"chain":      "rel",
		"absinside":  filepath.Join(r.dir, "sub"),
		"dots":       "..",
		"circle":     "circle",
		"dangling":   "nowhere",
		"good":       "sub",
		"goodfile":   "sub/inside.txt",
		"sub/uplink": "../inside.txt",
	} {
		if err := os.Symlink(target, filepath.Join(r.dir, filepath.FromSlash(name))); err != nil {
			r.t.Skipf("no symbolic links here: %v", err)
		}
	}
	return secret
}

// untouched checks that the world outside is as it was.
func (r *room) untouched(secret string) {
	r.t.Helper()
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		r.t.Fatalf("the secret is now %q, %v", b, err)
	}
	if got := r.names("../outside"); !slices.Equal(got, []string{"secret.txt"}) {
		r.t.Fatalf("outside there is %q", got)
	}
	if got := r.names(".."); !slices.Equal(got, []string{"outside", "served"}) {
		r.t.Fatalf("beside the folder there is %q", got)
	}
}

func TestPathsThatLeadOut(t *testing.T) {
	r := newRoom(t, nil)
	secret := r.outside()
	for _, p := range []string{
		"..", "../", "../outside", "../outside/secret.txt", "sub/../../outside/secret.txt", "./../served/inside.txt",
		"/", "/etc/passwd", secret, r.dir, filepath.Join(r.dir, "inside.txt"), "//inside.txt",
		"abs/secret.txt", "rel/secret.txt", "sub/up/secret.txt", "chain/secret.txt", "good/up/secret.txt",
		"dots/outside/secret.txt", "dots/served/inside.txt", "absinside/inside.txt", "rel/new.txt", "rel/new/folder",
	} {
		for i := range aimed {
			tool, a := r.aim(i, p)
			if got := r.refused("forbidden", tool, a); strings.Count(got, "\n") != 1 {
				t.Errorf("%s %q does not say what to write instead: %q", tool, p, got)
			}
		}
	}
	r.untouched(secret)
}

func TestAbsolutePathsBelowTheFolderAreTranslated(t *testing.T) {
	r := newRoom(t, nil)
	got := r.refused("forbidden", "read_file", args{"path": filepath.Join(r.dir, "notes", "a.md")})
	if !strings.Contains(got, `write "notes/a.md" instead`) {
		t.Errorf("%q", got)
	}
}

func TestLinksThemselves(t *testing.T) {
	r := newRoom(t, nil)
	secret := r.outside()
	for _, p := range []string{"abs", "rel", "absfile", "relfile", "chain", "dots"} {
		for _, tool := range []string{"read_file", "list_directory"} {
			r.refused("forbidden", tool, args{"path": p})
		}
		r.refused("forbidden", "search_files", args{"path": p, "text": "secret"})
		r.refused("forbidden", "write_file", args{"path": p, "content": "x"})
		if got := ok[infoOutput](r, "get_file_info", args{"path": p}); got.Type != "symlink" {
			t.Errorf("%s: %+v", p, got)
		}
	}
	r.refused("invalid_argument", "read_file", args{"path": "circle"})
	r.refused("not_found", "read_file", args{"path": "dangling"})
	r.refused("forbidden", "write_file", args{"path": "dangling", "content": "x"})
	r.refused("forbidden", "write_file", args{"path": "goodfile", "content": "x"})
	for _, p := range []string{"good/inside.txt", "goodfile", "sub/uplink", "good/uplink"} {
		if got := ok[readOutput](r, "read_file", args{"path": p}); got.Content != "inside" {
			t.Errorf("%s holds %q", p, got.Content)
		}
	}
	ok[writeOutput](r, "write_file", args{"path": "good/new.txt", "content": "new"})
	if got := r.get("sub/new.txt"); got != "new" {
		t.Errorf("through a link that stays inside: %q", got)
	}
	if got := ok[searchOutput](r, "search_files", args{"text": "secret"}); len(got.Matches) != 0 {
		t.Errorf("found outside: %+v", got)
	}
	// The links go, what they lead to stays.
	ok[moveOutput](r, "move_file", args{"source": "rel", "destination": "deep/down/rel"})
	for _, p := range []string{"abs", "absfile", "good", "deep"} {
		ok[deleteOutput](r, "delete_file", args{"path": p, "recursive": true})
	}
	if got := r.get("sub/inside.txt"); got != "inside" {
		t.Errorf("%q", got)
	}
	r.untouched(secret)
}

func FuzzClean(f *testing.F) {
	for _, p := range []string{"", ".", "a/b", "../a", "a/../../b", "/a", "a//b/./c", `a\..\..\b`, "C:x", "a\x00", "\xff", "NUL"} {
		f.Add(p)
	}
	fo := &folder{dir: filepath.FromSlash("/srv/files")}
	f.Fuzz(func(t *testing.T, p string) {
		c, err := fo.clean(p)
		if err != nil {
			return
		}
		again, err := fo.clean(c)
		if err != nil || again != c || c != path.Clean(c) {
			t.Errorf("%q cleans to %q, that to %q, %v", p, c, again, err)
		}
		if !filepath.IsLocal(filepath.FromSlash(c)) || slices.Contains(strings.Split(c, "/"), "..") {
			t.Errorf("%q cleans to %q, which is not local", p, c)
		}
	})
}

// Whatever path a tool gets, the world outside stays as it is and its secret
// stays untold.
func FuzzConfinement(f *testing.F) {
	for i, p := range []string{"../outside/secret.txt", "rel/secret.txt", "dots/outside", "good/up/x", "abs", "chain/../rel", "sub/up/../../x", "inside.txt/..", "dots"} {
		f.Add(uint8(i), p)
	}
	r := newRoom(f, nil)
	secret := r.outside()
	f.Fuzz(func(t *testing.T, i uint8, p string) {
		r := &room{t: t, dir: r.dir, call: r.call}
		r.put("inside.txt", "inside")
		tool, a := r.aim(int(i)%len(aimed), p)
		res, err := r.call.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: a})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(res); tool == "read_file" && !res.IsError && got == "secret" {
			t.Errorf("%s %v tells the secret", tool, a)
		}
		r.untouched(secret)
	})
}
