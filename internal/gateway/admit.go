package gateway

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// take judges one submission and puts what becomes of it on record.
func (r *room) take(s submission) {
	if err := r.closed(); err != nil {
		s.by.refused(s.id(), err)
		return
	}
	now := r.now()
	r.expire(now)
	if s.err != nil {
		r.refuse(&s, s.err, now)
		return
	}
	verdict, err := r.judge(&s, now)
	if err != nil {
		r.refuse(&s, asError(err), now)
		return
	}
	if !r.admit(verdict.Envelope, verdict.Kind, verdict.To, s.by) {
		s.by.refused(s.id(), r.closed())
	}
}

// closed says why nothing is taken, nil where it is.
func (r *room) closed() *parley.Error {
	if r.failing.Load() {
		r.attend() // what failed comes before whatever asks
	}
	switch {
	case r.draining:
		return goingAway()
	case r.down:
		return unavailable()
	}
	return nil
}

func unavailable() *parley.Error {
	return parley.Errorf(parley.Unavailable, "the journal cannot be written; nothing was delivered").
		WithHint("send it again in a moment")
}

// judge asks the rules. A fault in them refuses this envelope alone: judging
// changes nothing that is on record.
func (r *room) judge(s *submission, now time.Time) (v space.Verdict, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			r.logFault("judging an envelope failed", fault)
			err = parley.Errorf(parley.Internal, "the gateway failed to judge this envelope")
		}
	}()
	return r.state.Judge(s.from, s.env, now)
}

func (r *room) logFault(what string, fault any) {
	r.log.Error(what, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
}

// admit gives an envelope its place, takes it into the state and hands it to
// the journal. It reports false where the state could not take it: then the
// space is down, and the envelope is not on record.
func (r *room) admit(e *parley.Envelope, kind parley.Kind, to []string, by submitter) bool {
	e.Seq = r.state.Seq() + 1
	effects, ok := r.apply(e, kind)
	if !ok {
		return false
	}
	rec := journal.Envelope(e, kind, r.salts.next())
	if r.first == 0 {
		r.first = e.Seq
	}
	rec.To = to // so that whoever reads the record knows whom it counts for
	p := pending{by: by, effects: effects}
	if rec.Context != "" {
		p.lineage = r.state.Lineage(rec.Context)
	}
	r.append(rec, p)
	r.saveWhenDue()
	if whatExpires(kind) {
		r.expiry = r.state.NextExpiry()
		r.schedule(e.TS)
	}
	return true
}

// append hands a record to the journal, with what is to be done once it is
// durable.
func (r *room) append(rec *journal.Record, p pending) {
	p.since = time.Now()
	rec.Token = &p
	r.appended++
	r.index++
	r.record.Append(rec)
}

// apply takes an envelope into the state. A fault there leaves the state in
// doubt, so that it is rebuilt from the record.
func (r *room) apply(e *parley.Envelope, kind parley.Kind) (effects []space.Effect, ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			r.logFault("applying an envelope failed", fault)
			r.fail(fmt.Errorf("applying %s: %v", e.ID, fault))
			ok = false
		}
	}()
	return r.state.Apply(e, kind), true
}

// own puts an envelope of the gateway's own on record.
func (r *room) own(e *parley.Envelope) bool {
	return r.admit(e, parley.SplitKind(e.Kind), e.To, nil)
}

// refuse puts a refusal on record; its sender hears of it then. Of a flood only
// the count is recorded. The answer waits all the same until what it was judged
// by is on record: a proposal that was closed by an envelope which then could
// not be recorded is open.
func (r *room) refuse(s *submission, err *parley.Error, now time.Time) {
	r.metrics.refuse(err.Code)
	if r.flooding(s.from, err.Code, now) {
		r.metrics.flooded.Inc()
		by, id := s.by, s.id()
		r.whenDurable(func(lost error) {
			if lost != nil {
				err = unavailable()
			}
			by.refused(id, err)
		})
		return
	}
	digest, size := s.sum()
	kind := ""
	if s.env != nil {
		kind = clip(s.env.Kind, parley.MaxKind)
	}
	rec := journal.NewRefusal(now.UTC().Truncate(time.Millisecond), s.from, s.id(), kind,
		journal.Refusal{Code: err.Code, Digest: digest, Bytes: size}, r.salts.next())
	r.append(rec, pending{by: s.by, refused: err})
}

// flood counts one sender's refusals of this second.
type flood struct {
	began    time.Time
	recorded int
	counted  int
	code     parley.Code // of the newest that was only counted
}

// flooding counts a refusal, and reports whether that is all that becomes of it.
func (r *room) flooding(from string, code parley.Code, now time.Time) bool {
	if f := r.floods[from]; f != nil && now.Sub(f.began) >= time.Second {
		r.countFloods(now) // the timer may be late: whatever is due sets it anew
	}
	f := r.floods[from]
	if f == nil {
		f = &flood{began: now}
		r.floods[from] = f
		if len(r.floods) == 1 {
			r.schedule(now)
		}
	}
	if f.recorded < floodRecords {
		f.recorded++
		return false
	}
	f.counted++
	f.code = code
	return true
}

// countFloods records the counts of the seconds that are over.
func (r *room) countFloods(now time.Time) {
	for from, f := range r.floods {
		if now.Sub(f.began) < time.Second {
			continue
		}
		if f.counted > 0 && !r.down {
			rec := journal.NewRefusal(now.UTC().Truncate(time.Millisecond), from, "", "",
				journal.Refusal{Code: f.code, Count: f.counted}, r.salts.next())
			r.append(rec, pending{})
		}
		delete(r.floods, from)
	}
}
