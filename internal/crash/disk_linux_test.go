package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A disk that takes no writes stops admission, and nothing else: what was admitted
// was on record, what was refused is not, and when it takes them again it goes on.
func TestDisk(t *testing.T) {
	gateway := program(t)
	t.Run("file size limit", func(t *testing.T) {
		dir := t.TempDir()
		fails(t, gateway, dir, &sizeLimit{journal: filepath.Join(dir, "parley.db")})
	})
	t.Run("read-only", func(t *testing.T) {
		dir := t.TempDir()
		frozen(t, dir)
		fails(t, gateway, dir, &freeze{journal: filepath.Join(dir, "parley.db")})
	})
	t.Run("tmpfs", func(t *testing.T) {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); errors.Is(err, syscall.EPERM) {
			t.Skip("only root may mount a tmpfs; the other disk of this test fills everywhere")
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		fails(t, gateway, dir, &ballast{path: filepath.Join(dir, "ballast")})
	})
}

// disk is one that can be made to take no writes.
type disk interface {
	fail(p *process) error
	heal(p *process) error
	outlives() bool // whether the fault is there for the next process as well
	readable() bool // whether other processes can read the journal meanwhile
}

// fails lets the disk fail three times, and where that outlives the gateway
// kills it at the second time.
func fails(t *testing.T, gateway, dir string, d disk) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Second, errors.New("the test takes too long"))
	defer cancel()
	tr, err := newTrial(Options{Program: gateway, Dir: dir, Seed: 1, Out: t.Output()})
	must(t, err)
	must(t, tr.open(ctx))
	defer tr.close()
	for n := range 3 {
		must(t, tr.ledger.reach(ctx, Acknowledged, tr.ledger.Total(Acknowledged)+500))
		must(t, d.fail(tr.process))
		must(t, tr.ledger.reach(ctx, Unwritten, tr.ledger.Total(Unwritten)+50))
		notReady(ctx, t, tr)
		if d.readable() {
			must(t, tr.check(ctx))
		}
		if d.outlives() && n == 1 {
			revive(t, tr, d)
		}
		must(t, d.heal(tr.process))
		must(t, tr.ledger.reach(ctx, Acknowledged, tr.ledger.Total(Acknowledged)+500))
		if got := get(t, tr, "/readyz"); got != http.StatusOK {
			t.Errorf("on the healed disk /readyz answers %d", got)
		}
		must(t, tr.check(ctx))
		t.Logf("failed %d: %d acknowledged, %d refused with unavailable", n+1, tr.ledger.Total(Acknowledged), tr.ledger.Total(Unwritten))
	}
	must(t, tr.settle(ctx))
	for _, fault := range tr.checker.Faults() {
		t.Error(fault)
	}
}

// revive kills the gateway on the failing disk and starts it again. It may say why
// it cannot start; else what is on record can be read, nobody is let in whose
// coming could not be put on record, and it is not ready as soon as it has tried.
func revive(t *testing.T, tr *trial, d disk) {
	tr.process.kill()
	var err error
	tr.process, err = tr.house.start()
	must(t, err)
	if err := tr.process.survive(t.Context(), 2*time.Second, tr.house.reached()); err != nil {
		t.Logf("on the failing disk: %v", err)
		must(t, d.heal(tr.process))
		tr.process, err = tr.house.start()
		must(t, err)
		return
	}
	t.Logf("on the failing disk it starts; first welcome after %v (0 is none)", tr.house.recovery())
	if got := get(t, tr, "/v1/spaces/"+spaceName+"/envelopes?limit=1"); got != http.StatusOK {
		t.Errorf("on a failing disk reading is answered %d", got)
	}
	if got := get(t, tr, "/readyz"); tr.house.recovery() == 0 && got != http.StatusServiceUnavailable {
		t.Errorf("nobody is let in, and /readyz answers %d", got)
	}
}

// notReady waits until /readyz says that the disk fails. A commit that still found
// room in the journal's file keeps it ready for a moment.
func notReady(ctx context.Context, t *testing.T, tr *trial) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for got := get(t, tr, "/readyz"); got != http.StatusServiceUnavailable; got = get(t, tr, "/readyz") {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("on a failing disk /readyz answers %d", got)
		}
	}
}

func get(t *testing.T, tr *trial, path string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+token("all")) // else Host is checked
	resp, err := tr.house.http.Do(req)
	must(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	must(t, err)
	return resp.StatusCode
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sizeLimit is a disk on which no file grows beyond what the journal has now.
type sizeLimit struct{ journal string }

func (d *sizeLimit) fail(p *process) error {
	info, err := os.Stat(d.journal)
	if err != nil {
		return err
	}
	return limitFiles(p, uint64(info.Size()))
}

func (d *sizeLimit) heal(p *process) error { return limitFiles(p, ^uint64(0)) }

func (d *sizeLimit) outlives() bool { return false } // limits end with their process
func (d *sizeLimit) readable() bool { return true }

// limitFiles bounds the size of the files that a running process writes. One
// that has ended has no limits.
func limitFiles(p *process, most uint64) error {
	limit := syscall.Rlimit{Cur: most, Max: ^uint64(0)}
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(p.cmd.Process.Pid), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 && errno != syscall.ESRCH {
		return errno
	}
	return nil
}

// ballast fills a file system with a file.
type ballast struct{ path string }

func (d *ballast) fail(*process) error {
	f, err := os.Create(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; { // ever smaller pieces, until not a byte fits
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (d *ballast) heal(*process) error {
	if err := os.Remove(d.path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (d *ballast) outlives() bool { return true }
func (d *ballast) readable() bool { return true }

// freeze makes the journal's files immutable: the kernel then refuses every
// write, those of a process that has them open included, which no permission and
// no remounting does.
type freeze struct{ journal string }

func (d *freeze) fail(*process) error { return chattr("+i", d.journal, d.journal+"-wal") }

func (d *freeze) heal(*process) error { return chattr("-i", d.journal, d.journal+"-wal") }

func (d *freeze) outlives() bool { return true }
func (d *freeze) readable() bool { return false } // a reader opens the log as a writer does

func chattr(args ...string) error {
	if out, err := exec.Command("chattr", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("chattr: %w: %s", err, out)
	}
	return nil
}

// frozen skips the test where files in a folder cannot be made immutable. At its
// end none is any more.
func frozen(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "try")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	if err := chattr("+i", path); err != nil {
		t.Skipf("files cannot be made immutable here, for which it takes root and a file system such as ext4: %v", err)
	}
	_, err = f.WriteString("something")
	must(t, chattr("-i", path))
	if err == nil {
		t.Skip("this file system lets immutable files be written that are open")
	}
	t.Cleanup(func() {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		must(t, err)
		must(t, chattr(append([]string{"-f", "-i"}, files...)...))
	})
}
