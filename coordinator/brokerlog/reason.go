package brokerlog

import (
	"strings"

	"grouplab/coordinator/event"
)

// reason is why a broker says that a rebalance began.
type reason struct {
	why               event.Why
	member, old, says string
	joins, leaves     bool
}

// reasonOf reads "(__consumer_offsets-7) (reason: Adding new member c-1 with group instance id None; client reason: …)".
func reasonOf(text string) (r reason, whole bool) {
	_, text, found := strings.Cut(text, "(reason: ")
	if !found {
		return reason{why: event.WhySeen}, false
	}
	text = strings.TrimRight(text, ". ")
	whole = strings.HasSuffix(text, ")")
	text = strings.TrimSuffix(text, ")")
	if text, r.says, found = strings.Cut(text, "; client reason: "); found && r.says == "not provided" {
		r.says = ""
	}
	for _, k := range reasons {
		s := saying{}
		if ok, _ := k.rule.match(text, &s); ok {
			s.tidy()
			r.why, r.member, r.old, r.joins, r.leaves = k.why, s.Member, s.Other, k.joins, k.leaves
			return r, whole
		}
	}
	r.why = event.WhySeen
	if r.says == "" {
		r.says = text
	}
	return r, whole
}

type knownReason struct {
	rule          rule
	why           event.Why
	joins, leaves bool
}

// reasons are GroupCoordinator's and GroupMetadataManager's, as they stand in "(reason: …)".
var reasons = []knownReason{
	{compile(preparing, "Adding new member {m} with group instance {x}"), event.WhyNewMember, true, false},
	{compile(preparing, "Adding new member {m}"), event.WhyNewMember, true, false},
	{compile(preparing, "removing member {m} on heartbeat expiration|"), event.WhySessionExpired, false, true},
	{compile(preparing, "Removing member {m} on LeaveGroup|"), event.WhyMemberLeft, false, true},
	{compile(preparing, "removing member {m} on LeaveGroup|"), event.WhyMemberLeft, false, true},
	{compile(preparing, "explicit `LeaveGroup` request for ({m}) members|"), event.WhyMemberLeft, false, true},
	{compile(preparing, "Leader {m} re-joining group during {x}"), event.WhyLeaderRejoined, true, false},
	{compile(preparing, "leader {m} re-joining group during {x}"), event.WhyLeaderRejoined, true, false},
	{compile(preparing, "Updating metadata for static member {m} with instance id {x}"), event.WhyMetadataChanged, true, false},
	{compile(preparing, "Updating metadata for member {m} during {x}"), event.WhyMetadataChanged, true, false},
	{compile(preparing, "Updating metadata for member {m}"), event.WhyMetadataChanged, true, false},
	{compile(preparing, "Member {m} joining group during {x}"), event.WhyMetadataChanged, true, false},
	{compile(preparing, "Member {m} is joining group during {x}"), event.WhyMetadataChanged, true, false},
	{compile(preparing, "Group's selectedProtocol will change because static member {m} with {x}"), event.WhyStaticRestarted, true, false},
	{compile(preparing, "Removing {m} on pending sync request expiration|"), event.WhyNotSynced, false, true},
	{compile(preparing, "Freshly-loaded group {x}"), event.WhyGroupTooLarge, false, false},
	{compile(preparing, "Error {x} when storing group assignment"), event.WhySyncAppendFailed, false, false},
	{compile(preparing, "Downgrade group {x}"), event.WhyBecameClassic, false, false},
}

// membersIn reads a printed collection of members: "Set(a, b)", "[a, b]", "HashSet(a)"; or of what Kafka keeps of them, of which
// only memberId matters. At most maxList are read.
func membersIn(text string) (list []string) {
	if strings.Contains(text, "memberId=") {
		for len(list) < maxList {
			_, after, found := strings.Cut(text, "memberId=")
			if !found {
				return list
			}
			id, rest, _ := strings.Cut(after, ",")
			list, text = append(list, strings.Trim(id, "'\")] ")), rest
		}
		return list
	}
	text = strings.TrimRight(text, ". ")
	if i := strings.IndexAny(text, "(["); i >= 0 && strings.HasSuffix(text, closer(text[i])) {
		text = text[i+1 : len(text)-1]
	}
	for _, id := range strings.SplitN(text, ", ", maxList+1) {
		if id = strings.TrimSpace(id); id != "" && len(list) < maxList && len(id) <= maxName {
			list = append(list, id)
		}
	}
	return list
}

func closer(c byte) string {
	if c == '(' {
		return ")"
	}
	return "]"
}

// maxList bounds how many names one line is believed to hold.
const maxList = 10000

// partitionsIn reads printed partitions: "[orders-0, orders-1]", "orders-0", franz-go's "orders[0 1]", kafkajs' {"orders":[0,1]}. Topics are in the order of
// the text.
func partitionsIn(text string) (topics []event.TopicPartitions) {
	at := map[string]int{}
	add := func(topic, number string) {
		p, ok := partitionNumber(number)
		if topic = strings.Trim(topic, `" `); !ok || topic == "" || len(topic) > 249 || len(at) > maxList {
			return
		}
		i, known := at[topic]
		if !known {
			i = len(topics)
			at[topic], topics = i, append(topics, event.TopicPartitions{Topic: topic})
		}
		topics[i].Partitions = append(topics[i].Partitions, p)
	}
	text = strings.Trim(text, ". ")
	if strings.HasPrefix(text, "{") || strings.HasSuffix(text, "]") && strings.IndexByte(text, '[') > 0 {
		grouped(text, add)
		return topics
	}
	i := strings.IndexByte(text, '[')
	for _, tp := range strings.FieldsFunc(text[i+1:], func(r rune) bool { return r == ',' || r == ' ' || r == ']' || r == ')' || r == '(' }) {
		if k := strings.LastIndexByte(tp, '-'); k > 0 {
			add(tp[:k], tp[k+1:])
		}
	}
	return topics
}

// grouped reads partitions that stand in brackets behind their topic.
func grouped(text string, add func(topic, number string)) {
	for {
		open := strings.IndexByte(text, '[')
		if open < 0 {
			return
		}
		topic := strings.TrimRight(text[:open], `":= `)
		topic = topic[strings.LastIndexAny(topic, `",{ `)+1:]
		inside, after, _ := strings.Cut(text[open+1:], "]")
		for _, n := range strings.FieldsFunc(inside, func(r rune) bool { return r == ',' || r == ' ' }) {
			add(topic, n)
		}
		text = after
	}
}

func partitionNumber(text string) (p int32, ok bool) {
	if text == "" || len(text) > 9 {
		return 0, false
	}
	for i := range len(text) {
		if !digit(text[i]) {
			return 0, false
		}
		p = p*10 + int32(text[i]-'0')
	}
	return p, true
}

// assignmentsIn reads the leader's assignment: "{m1=Assignment(partitions=[orders-0]), m2=Assignment(partitions=[])}".
func assignmentsIn(text string) (list []event.Assignment) {
	text = strings.TrimPrefix(text, "{")
	for len(list) < maxList {
		member, after, found := strings.Cut(text, "=Assignment(partitions=")
		if !found {
			return list
		}
		inside, rest, _ := strings.Cut(after, "]")
		list = append(list, event.Assignment{Member: strings.TrimLeft(member, "}), "), Topics: partitionsIn(inside)})
		text = rest
	}
	return list
}

// clientIDOf is the client id that Kafka's brokers and clients put before the random part of a member id: "app-1-<uuid>".
func clientIDOf(member string) string {
	const uuid = 36
	if n := len(member) - uuid - 1; n > 0 && member[n] == '-' && strings.Count(member[n+1:], "-") == 4 {
		return member[:n]
	}
	return member
}
