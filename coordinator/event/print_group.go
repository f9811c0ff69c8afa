package event

import "fmt"

func (b GroupCreated) text() string { return "" }
func (b GroupLoaded) text() string {
	return words(string(b.State), fmt.Sprintf("generation %d from __consumer_offsets-%d", b.Generation, b.Partition),
		opt("protocol", b.Protocol), opt("leader", b.Leader))
}
func (b GroupRemoved) text() string { return string(b.Why) }
func (b StateChanged) text() string {
	return words(string(b.From)+" -> "+string(b.To)+":", string(b.Why), opt("", b.Member))
}
func (b RebalanceStarted) text() string {
	return words(fmt.Sprintf("generation %d ends:", b.Generation), string(b.Why), opt("", b.Member),
		opt("client says", b.ClientReason), "within "+Duration(int64(b.RebalanceTimeoutMs)))
}
func (b GenerationStarted) text() string {
	return words(fmt.Sprint(b.Generation), opt("protocol", b.Protocol), opt("leader", b.Leader),
		"members "+names(b.Members)+":", string(b.Why), "after "+Duration(b.DurationMs))
}
func (b MemberIDIssued) text() string {
	return words(Name(b.Member), "for", Name(b.ClientID)+Name(b.ClientHost), "until", Clock(b.DeadlineMs))
}
func (b PendingForgotten) text() string { return Name(b.Member) + ": " + string(b.Why) }
func (b MemberAdded) text() string {
	return words(Name(b.Member), opt("instance", b.InstanceID), "of", Name(b.ClientID)+Name(b.ClientHost),
		"session", timeout(b.SessionTimeoutMs), "rebalance", timeout(b.RebalanceTimeoutMs),
		"protocols", names(b.Protocols), flag(b.Loaded, "loaded"), flag(b.New, "new"))
}
func (b MemberUpdated) text() string {
	return words(Name(b.Member), "session", timeout(b.SessionTimeoutMs), "rebalance",
		timeout(b.RebalanceTimeoutMs), "protocols", names(b.Protocols), flag(b.Changed, "changed"))
}
func (b MemberReplaced) text() string {
	return words(Name(b.Old)+" -> "+Name(b.Member)+":", "instance", Name(b.InstanceID))
}
func (b MemberRemoved) text() string {
	return words(Name(b.Member)+":", string(b.Why), opt("client says", b.ClientReason))
}
func (b LeaderElected) text() string { return words(Name(b.Member)+":", string(b.Why)) }
func (b AssignmentReceived) text() string {
	return words(fmt.Sprintf("generation %d from", b.Generation), Name(b.Member)+":", assignments(b.Assignments))
}
func (b AssignmentStored) text() string {
	return words(fmt.Sprintf("generation %d:", b.Generation), assignments(b.Assignments))
}
func (b HeartbeatReceived) text() string {
	s := words(Name(b.Member), CodeName(b.Code))
	if b.Merged > 0 {
		s += fmt.Sprintf(" (+%d alike)", b.Merged)
	}
	return s
}

func (b RequestReceived) text() string {
	return words(fmt.Sprintf("%s v%d #%d from", APIName(b.API), b.Version, b.Ticket), Name(b.ClientID),
		opt("member", b.Member), opt("reason", b.Reason))
}
func (b ReplyParked) text() string {
	return words(fmt.Sprintf("%s #%d", APIName(b.API), b.Ticket), opt("of", b.Member), "until", b.Until)
}
func (b ReplySent) text() string {
	s := words(fmt.Sprintf("%s #%d", APIName(b.API), b.Ticket), opt("to", b.Member), CodeName(b.Code))
	if b.HeldMs > 0 {
		s += " after " + Duration(b.HeldMs)
	}
	return words(s, flag(b.Guard != "", "because "+b.Guard))
}
func (b ReplyDropped) text() string {
	return words(words(fmt.Sprintf("%s #%d", APIName(b.API), b.Ticket), opt("of", b.Member))+":", b.Reason)
}
func (b OffsetsPending) text() string {
	return words(opt("from", b.Member), fmt.Sprintf("generation %d", b.Generation), offsets(b.Offsets))
}
func (b OffsetsCommitted) text() string {
	return words(offsets(b.Offsets), fmt.Sprintf("at %d", b.BaseOffset), flag(b.Loaded, "loaded"))
}
func (b OffsetsRefused) text() string {
	return words(opt("from", b.Member), fmt.Sprintf("generation %d of %d", b.Generation, b.GroupGeneration),
		opt("in", string(b.State)), CodeName(b.Code), offsets(b.Offsets))
}
func (b OffsetsRemoved) text() string {
	return words(offsets(b.Offsets)+":", string(b.Why))
}
func (b CleanupRan) text() string { return fmt.Sprintf("looks at %d groups", b.Groups) }
func (b TxnVerificationStarted) text() string {
	return words(fmt.Sprintf("verification %d: __consumer_offsets-%d in the transaction of", b.Verification, b.Partition),
		Name(b.TransactionalID), withEpoch(b.ProducerID, b.ProducerEpoch))
}
func (b TxnVerificationFinished) text() string {
	return fmt.Sprintf("verification %d: %s", b.Verification, CodeName(b.Code))
}
func (b TxnOffsetsPending) text() string {
	return words(withEpoch(b.ProducerID, b.ProducerEpoch), opt("from", b.Member), fmt.Sprintf("generation %d", b.Generation),
		offsets(b.Offsets))
}
func (b TxnOffsetsWritten) text() string {
	return words(withEpoch(b.ProducerID, b.ProducerEpoch), offsets(b.Offsets), fmt.Sprintf("at %d", b.BaseOffset),
		flag(b.Loaded, "loaded"))
}
func (b TxnOffsetsEnded) text() string {
	verb := "aborted"
	if b.Commit {
		verb = "committed"
	}
	return words(withEpoch(b.ProducerID, b.ProducerEpoch), verb, offsets(b.Offsets))
}
func (b AppendStarted) text() string {
	return fmt.Sprintf("%s to __consumer_offsets-%d, append %d, records %d", b.What, b.Partition, b.Append, b.Records)
}
func (b AppendFinished) text() string {
	return words(fmt.Sprintf("append %d to __consumer_offsets-%d at %d", b.Append, b.Partition, b.BaseOffset),
		CodeName(b.Code), flag(b.Ignored, "(too late: the group has changed)"))
}

func (b OperationWatched) text() string {
	return words(fmt.Sprintf("%s op %d", b.Type, b.Op), "under", names(b.Keys), "ends", Clock(b.DeadlineMs),
		opt("by the timeout of", b.DeadlineOf), flag(b.Until != "", "or when "+b.Until),
		fmt.Sprintf("in wheel %d", b.Level))
}
func (b OperationTested) text() string {
	return words(fmt.Sprintf("op %d by", b.Op), Name(b.Key)+":", b.Lacks)
}
func (b OperationCompleted) text() string {
	return words(words(fmt.Sprintf("%s op %d", b.Type, b.Op), opt("of", b.Member))+":", b.How,
		flag(b.Expired, "(expired)"), flag(b.Excused, "(excused: it waits for an answer)"))
}
func (b TimerCascaded) text() string {
	return fmt.Sprintf("op %d from wheel %d to %d", b.Op, b.From, b.Level)
}

// timeout prints a member's timeout; 0 is none that Kafka takes, so it stands for one that nobody told: most lines of logs do not.
func timeout(ms int32) string {
	if ms == 0 {
		return "not known"
	}
	return Duration(int64(ms))
}
