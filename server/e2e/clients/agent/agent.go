// Package agent is what a client's program and the runner say to each other: one JSON object a line, a request on the
// program's standard input and its reply on standard output. Programs in other languages speak the same.
package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// Request asks a program for one step. Do names it:
//
//	hello         what it is: Version, Compressions
//	create        Topic with N partitions, replicated as the broker says
//	produce       N records to Topic with Compression, record i to partition i mod Partitions, its text Value(Compression, i);
//	              Acks: acknowledged by the brokers, where the client's default is not to ask
//	read          N records of all Partitions of Topic from the start, by no group; Isolation "read_committed" where asked
//	join          begin to consume Topic in Group, with Instance and Assignor where they are given; Ends at once
//	assignment    what the member has: Partitions, Assigns, Revoked, Seen
//	commit        Offset for each partition that the member has
//	leave         end the member as the client's own close does
//	committed     the group's Offsets in Topic, of Partitions partitions
//	describe      the group's State and how many Members
//	groups        all groups' ids
//	reset         Offset for all Partitions of an empty group
//	delete-group, delete-topic
//	knock         connect; State is what the client says where it may not, or does not want to
//	transaction   N records in a transaction that is committed, with Offset for partition 0 of Group where the client
//	              can, else State says why not, then N in one that is aborted; texts Value("committed", i) and
//	              Value("aborted", i)
type Request struct {
	Do, Bootstrap, Topic, Group, Compression, Instance, Assignor, Isolation string

	N, Partitions, SessionMs int
	Offset                   int64
	Acks                     bool
}

// Reply answers one request. Error is why the step failed; Missing is why the client cannot do it.
type Reply struct {
	Error, Missing string           `json:",omitempty"`
	Version        string           `json:",omitempty"`
	Compressions   []string         `json:",omitempty"`
	Partitions     []int            `json:",omitempty"`
	Assigns        int              `json:",omitempty"` // how often the member was given partitions, -1 if the client does not say
	Revoked        int              `json:",omitempty"` // how many partitions were taken from it, -1 if the client does not say
	Seen           int              `json:",omitempty"` // how many records the member was given, -1 if it is not asked for any
	Offsets        map[string]int64 `json:",omitempty"`
	State          string           `json:",omitempty"`
	Members        int              `json:",omitempty"`
	Groups         []string         `json:",omitempty"`
	Values         []string         `json:",omitempty"` // the records' texts without their filling
}

// missing is what a client does not have.
type missing string

func (m missing) Error() string { return string(m) }

// Missing is the error of a step that a client cannot do, with what it lacks.
func Missing(what string) error { return missing(what) }

// filling makes a record's text worth compressing.
var filling = strings.Repeat("the quick brown fox ", 20)

// Value is the text of record i.
func Value(kind string, i int) string { return fmt.Sprintf("%s-%d %s", kind, i, filling) }

// Name is a text without its filling, or what is wrong with it.
func Name(value []byte) string {
	name, rest, _ := strings.Cut(string(value), " ")
	if rest != filling {
		return name + ": its text is not what was sent"
	}
	return name
}

// Serve answers requests until standard input ends.
func Serve(do func(Request) (Reply, error)) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q Request
		err := json.Unmarshal(in.Bytes(), &q)
		var r Reply
		if err == nil {
			r, err = do(q)
		}
		var lacks missing
		switch {
		case errors.As(err, &lacks):
			r = Reply{Missing: lacks.Error()}
		case err != nil:
			r = Reply{Error: err.Error()}
		}
		if err := out.Encode(r); err != nil {
			return
		}
	}
}

// Addresses splits a list of brokers.
func Addresses(list string) []string { return strings.Split(list, ",") }

// ModuleVersion is the version of a module that the program was built with, or of what stands in its place.
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			if m.Replace != nil {
				m = m.Replace
			}
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "unknown"
}
