package space

import "time"

// Limits are the bounds of one space (section 14 of the contract). The zero
// value of a field means its default; [Limits.WithDefaults] fills them in.
type Limits struct {
	EnvelopeBytes        int           // largest frame, in bytes; 1 MiB
	Nesting              int           // deepest JSON nesting; 128
	Participants         int           // present at once; 10,000
	Connections          int           // of the whole space; 20,000
	History              int           // most envelopes of history on join; 1,000
	LagEnvelopes         int           // how far a connection may fall behind, in envelopes; 4,096
	LagBytes             int           // the same in bytes; 16 MiB
	Rate                 float64       // envelopes per second and participant; 200
	Burst                int           // envelopes at once; 1,000
	ContextRate          float64       // envelopes per second, context and sender; 100
	ContextDepth         int           // nesting of contexts; 8
	OpenContexts         int           // per participant; 256
	ContextMetadataBytes int           // 4 KiB
	OpenProposals        int           // per participant; 1,000
	ProposalTTL          time.Duration // 24 h
	ContextIdle          time.Duration // 10 min
	ApprovalWait         time.Duration // 50 s
	CallTimeout          time.Duration // 5 min
}

// DefaultLimits are section 14's.
func DefaultLimits() Limits {
	return Limits{
		EnvelopeBytes:        1 << 20,
		Nesting:              128,
		Participants:         10_000,
		Connections:          20_000,
		History:              1_000,
		LagEnvelopes:         4_096,
		LagBytes:             16 << 20,
		Rate:                 200,
		Burst:                1_000,
		ContextRate:          100,
		ContextDepth:         8,
		OpenContexts:         256,
		ContextMetadataBytes: 4 << 10,
		OpenProposals:        1_000,
		ProposalTTL:          24 * time.Hour,
		ContextIdle:          10 * time.Minute,
		ApprovalWait:         50 * time.Second,
		CallTimeout:          5 * time.Minute,
	}
}

// WithDefaults fills in the default wherever a field is zero.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	orDefault(&l.EnvelopeBytes, d.EnvelopeBytes)
	orDefault(&l.Nesting, d.Nesting)
	orDefault(&l.Participants, d.Participants)
	orDefault(&l.Connections, d.Connections)
	orDefault(&l.History, d.History)
	orDefault(&l.LagEnvelopes, d.LagEnvelopes)
	orDefault(&l.LagBytes, d.LagBytes)
	orDefault(&l.Rate, d.Rate)
	orDefault(&l.Burst, d.Burst)
	orDefault(&l.ContextRate, d.ContextRate)
	orDefault(&l.ContextDepth, d.ContextDepth)
	orDefault(&l.OpenContexts, d.OpenContexts)
	orDefault(&l.ContextMetadataBytes, d.ContextMetadataBytes)
	orDefault(&l.OpenProposals, d.OpenProposals)
	orDefault(&l.ProposalTTL, d.ProposalTTL)
	orDefault(&l.ContextIdle, d.ContextIdle)
	orDefault(&l.ApprovalWait, d.ApprovalWait)
	orDefault(&l.CallTimeout, d.CallTimeout)
	return l
}

func orDefault[T int | float64 | time.Duration](field *T, def T) {
	if *field == 0 {
		*field = def
	}
}
