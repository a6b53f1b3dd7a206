package command

import "strings"

// A Usage says how a command is written, and what it does.
type Usage struct {
	Verb    Verb
	Args    string // what follows the verb
	Does    string
	Example string // what follows the verb, again; may be empty
}

func (u Usage) line() string { return strings.TrimSpace("/" + string(u.Verb) + " " + u.Args) }

// verb is a command: how it is read, and what each of its words may be.
type verb struct {
	Usage
	slots []slot // the last one may come again
	parse func(*scanner, *Command) error
}

// slot is what can stand at a place, for completion.
type slot int

const (
	free slot = iota // anything
	person
	people // several, separated by commas
	server // somebody who has tools, or "-"
	tool
	callArgs
	proposeArgs
	amendArgs
	openProposal
	whyNot
	rights
	fewerRights
	whichContext
	whichForm
	anyVerb
)

var verbs []verb

func init() { // /help reads the list that it is in
	verbs = []verb{
		{Usage{Say, "TEXT", "say it to everybody; a line without a command does the same", "good morning"}, []slot{free}, parseText},
		{Usage{To, "ID[,ID] TEXT", "say it to somebody; everybody can read it", "agent,boss at eight"}, []slot{people, free}, parseTo},
		{Usage{Call, "TARGET TOOL [name=value… | {JSON}]", "use a tool; name==text is a string in any case, name:=json any value", "files read_file path=notes.txt"}, []slot{server, tool, callArgs}, parseCall},
		{Usage{Propose, "TARGET TOOL [name=value… | {JSON}] [for 10m] [because WHY]", "ask for what you may not do yourself; TARGET - leaves open who does it", "files write_file path=a.txt content=\"two words\" because it is missing"}, []slot{server, tool, proposeArgs}, parsePropose},
		{Usage{Proposals, "", "what waits for a decision", ""}, nil, parseNothing},
		{Usage{Approve, "ID [TARGET]", "do what is proposed, in your name", "6"}, []slot{openProposal, person}, parseApprove},
		{Usage{Amend, "ID [name=value… | {JSON}]", "do what is proposed with other arguments; without any they are edited", "6 path=drafts/a.txt"}, []slot{openProposal, amendArgs}, parseAmend},
		{Usage{Reject, "ID [REASON: | REASON] [WHY]", "say no to it; a reason is " + strings.Join(Reasons[:5], ", ") + " or another", "6 unsafe: it overwrites the notes"}, []slot{openProposal, whyNot, free}, parseReject},
		{Usage{Withdraw, "ID", "take a proposal of your own back", "6"}, []slot{openProposal}, parseID},
		{Usage{Grant, "WHO PATTERN… [for 1h] [because WHY]", "let somebody send more", "agent mcp/request:tools/call:write_file for 1h"}, []slot{person, rights}, parseGrant},
		{Usage{Revoke, "WHO (PATTERN… | grant ID) [because WHY]", "let somebody send less", "agent mcp/request:tools/call:write_file"}, []slot{person, fewerRights}, parseRevoke},
		{Usage{Kick, "WHO [WHY]", "close somebody's connections; they may come back", "agent runs in circles"}, []slot{person, free}, parseKick},
		{Usage{Context, "[show | [name] NAME[:TYPE] | alone [NAME] | leave]", "speak in a context, show it alone, or leave it", "plan:reasoning"}, []slot{whichContext, whichContext}, parseContext},
		{Usage{Search, "WORDS", "look for them in what is on record", "invoice march"}, []slot{free}, parseText},
		{Usage{Verify, "", "walk the record's hash chain: was anything edited?", ""}, nil, parseNothing},
		{Usage{Who, "", "who is here", ""}, nil, parseNothing},
		{Usage{Form, "[ID]", "fill in a form that waits, or the one that has waited longest", "12"}, []slot{whichForm}, parseForm},
		{Usage{Decline, "", "say no to the form", ""}, nil, parseNothing},
		{Usage{Cancel, "", "put the form away", ""}, nil, parseNothing},
		{Usage{Back, "", "the question before", ""}, nil, parseNothing},
		{Usage{Skip, "", "leave this question out", ""}, nil, parseNothing},
		{Usage{Help, "[COMMAND]", "what can be typed", "grant"}, []slot{anyVerb}, parseHelp},
		{Usage{Quit, "", "leave", ""}, nil, parseNothing},
	}
}

// Usages are all commands, in the order in which people meet them.
func Usages() []Usage {
	all := make([]Usage, len(verbs))
	for i, v := range verbs {
		all[i] = v.Usage
	}
	return all
}

// Describe is how a command is written, what it does, and an example, a line each;
// nil where there is no such command.
func Describe(v Verb) []string {
	found := verbOf("/" + string(v))
	if found == nil {
		return nil
	}
	lines := []string{found.line(), "  " + found.Does}
	if found.Example != "" {
		lines = append(lines, "  such as /"+string(v)+" "+found.Example)
	}
	return lines
}

func verbOf(name string) *verb {
	for i := range verbs {
		if "/"+string(verbs[i].Verb) == name {
			return &verbs[i]
		}
	}
	return nil
}

func names() []string {
	all := make([]string, len(verbs))
	for i, v := range verbs {
		all[i] = "/" + string(v.Verb)
	}
	return all
}
