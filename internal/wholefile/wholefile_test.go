package wholefile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	left := filepath.Join(dir, "kept.new") // by a crash, for all to read
	if err := os.WriteFile(left, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} {
		if err := Write(root, "kept", []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "kept"))
		if err != nil || string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	info, err := root.Stat("kept")
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what was on the way stays: %v", err)
	}
}

func TestWriteKeepsWhatWas(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := Write(root, "kept", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := root.MkdirAll("kept.new/full", 0o700); err != nil { // which cannot be removed
		t.Fatal(err)
	}
	if err := Write(root, "kept", []byte("second")); err == nil {
		t.Error("it was written where it could not be")
	}
	if got, err := root.ReadFile("kept"); err != nil || string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
}

// The folder is synced once the file has its name, and that it failed is told.
func TestWriteSyncsTheFolder(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{"kept": ".", filepath.Join("sub", "kept"): "sub"} {
		broken := errors.New("the disk is broken")
		var synced []string
		err := write(root, name, []byte("text"), func(in *os.Root, folder string) error {
			synced = append(synced, folder)
			if got, err := in.ReadFile(name); err != nil || string(got) != "text" {
				t.Errorf("%s: %q, %v when its folder is synced", name, got, err)
			}
			if _, err := in.Stat(name + ".new"); !os.IsNotExist(err) {
				t.Errorf("%s is still on its way: %v", name, err)
			}
			return broken
		})
		if !errors.Is(err, broken) || len(synced) != 1 || synced[0] != folder {
			t.Errorf("%s: %v, synced %q", name, err, synced)
		}
	}
}

func TestSyncFolder(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := syncFolder(root, "."); err != nil {
		t.Error(err)
	}
	if err := syncFolder(root, "none"); err == nil && runtime.GOOS != "windows" {
		t.Error("a folder that is not there was synced")
	}
}

// BenchmarkWrite is what a write costs, and what it would cost without the folder.
func BenchmarkWrite(b *testing.B) {
	nothing := func(*os.Root, string) error { return nil }
	for _, c := range []struct {
		name string
		sync func(*os.Root, string) error
	}{{"folder", syncFolder}, {"file alone", nothing}} {
		b.Run(c.name, func(b *testing.B) {
			root, err := os.OpenRoot(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer root.Close()
			data := make([]byte, 64<<10)
			for b.Loop() {
				if err := write(root, "kept", data, c.sync); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
