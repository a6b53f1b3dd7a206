package mcpfront

import (
	"strings"
	"testing"
)

func TestSharedName(t *testing.T) {
	for _, c := range []struct{ server, name, want string }{
		{"files", "read_file", "files__read_file"},
		{"a.b", "x", "a_b__x_"},
		{"files", "read file", "files__read_file_"},
		{"files", "🚀", "files____"},
		{"files", "", "files___"},
		{"files", strings.Repeat("x", 57), "files__" + strings.Repeat("x", 57)},
		{"files", strings.Repeat("x", 58), "files__" + strings.Repeat("x", 48) + "_"},
		{strings.Repeat("s", 64), "x", strings.Repeat("s", 55) + "_"},
	} {
		got := sharedName(c.server, c.name)
		if got != c.want && !(strings.HasSuffix(c.want, "_") && strings.HasPrefix(got, c.want) && len(got) == len(c.want)+8) {
			t.Errorf("%s, %s: got %s, want %s", c.server, c.name, got, c.want)
		}
	}
}

func FuzzSharedName(f *testing.F) {
	f.Add("files", "read_file", "wiki", "read file")
	f.Add("a.b", "c", "a", "b__c")
	f.Fuzz(func(t *testing.T, s1, n1, s2, n2 string) {
		if strings.ContainsAny(s1+s2, "_\x00") || strings.ContainsRune(n1+n2, 0) {
			return // no participant's id has one, and no kind a control character
		}
		a, b := sharedName(s1, n1), sharedName(s2, n2)
		if len(a) > maxName || strings.IndexFunc(a, isOdd) >= 0 {
			t.Fatalf("%q", a)
		}
		if (s1 != s2 || n1 != n2) && a == b {
			t.Fatalf("%q %q and %q %q are both %s", s1, n1, s2, n2, a)
		}
	})
}

func TestSharedURI(t *testing.T) {
	for _, uri := range []string{"file:///w/a%20b?c#d", "", "x"} {
		if server, got, ok := splitURI(sharedURI("files", uri)); !ok || server != "files" || got != uri {
			t.Errorf("%q became %q of %q", uri, got, server)
		}
	}
	if _, _, ok := splitURI("file:///w/a"); ok {
		t.Error("a URI of a server's own was taken apart")
	}
}
