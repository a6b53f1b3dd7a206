package main

import (
	"context"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/lookalike"
)

// doubts are what speaks against approving a proposal unseen: its proposer or its tool
// can be taken for another one, or the tool is not what was accepted.
func (c *chat) doubts(ctx context.Context, proposal *parley.Envelope, target string) []string {
	list := c.doubtsOfName(ctx, proposal.From)
	if len(proposal.To) == 1 {
		target = proposal.To[0]
	}
	call, err := parley.ReadCall(parley.SplitKind(proposal.Kind), proposal.Payload)
	if err != nil || call.Kind.Method != "tools/call" || target == "" {
		return list
	}
	return append(list, c.doubtsOfTool(ctx, target, call.Kind.Subject)...)
}

func (c *chat) doubtsOfName(ctx context.Context, id string) []string {
	sdk, err := c.api.sdk()
	if err != nil {
		return nil
	}
	known, err := sdk.Participants(ctx)
	if err != nil {
		return []string{"who else is known cannot be read: " + clean(err.Error())}
	}
	var ids []string
	for _, p := range known {
		ids = append(ids, p.ID)
	}
	if other, alike := lookalike.Confusable(id, ids); alike {
		return []string{clean(id) + " is not " + clean(other) + ", and looks like it"}
	}
	return nil
}

func (c *chat) doubtsOfTool(ctx context.Context, participant, name string) (list []string) {
	tools, err := (&screenRoom{Room: c.room, api: c.api}).Tools(ctx, participant)
	if err != nil {
		return []string{"what is on record of the tool cannot be read: " + clean(err.Error())}
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
		if t.Name == name && !t.Accepted {
			list = append(list, "the tool's definition has changed since it was accepted: "+clean(t.Changed))
		}
	}
	if other, alike := lookalike.Confusable(name, names); alike {
		list = append(list, "the tool's name looks like "+clean(other)+", which is another one")
	}
	return list
}
