package view

import (
	"strings"

	"grouplab/coordinator/event"
)

// says is a fact in one plain sentence of the viewer's language.
func (s *stage) says(e *event.Event) string {
	if s.o.ext != nil {
		if key, args := s.o.ext.says(s, e); key != "" {
			for i := range args {
				args[i] = plainText(args[i], 120)
			}
			return s.t("says."+key, args...)
		}
	}
	key, args := s.factSentence(e)
	if !s.knows("says." + key) {
		return plainText(e.Text(), 200) // only a running cluster's page has a sentence for it
	}
	for i := range args {
		args[i] = plainText(args[i], 120)
	}
	return s.t("says."+key, args...)
}

// factSentence is the key of a fact's sentence, without "says.", and what fills it.
func (s *stage) factSentence(e *event.Event) (key string, args []string) {
	key = e.Body.Kind()
	if args = s.clientArgs(e, &key); args != nil {
		return key, args
	}
	if args = s.groupArgs(e, &key); args != nil {
		return key, args
	}
	return key, s.clusterArgs(e, &key)
}

// memberOf is the label of a member of the fact's group, or the client's name where there is no id yet.
func (s *stage) memberOf(e *event.Event, member, client string) string {
	if member == "" {
		return name(client)
	}
	m, _ := s.head()
	if g := m.Groups[e.Group]; g != nil {
		return name(g.Label(member))
	}
	return name(member)
}

// because says a rule of the coordinator in words.
func (s *stage) because(e *event.Event, why event.Why, member string) string {
	key := "why." + string(why)
	if !s.knows(key) {
		return plainText(string(why), 60)
	}
	return s.t(key, s.memberOf(e, member, ""))
}

// clientArgs fills the sentences of clients and of the wire; nil for other facts.
func (s *stage) clientArgs(e *event.Event, key *string) []string {
	api := event.APIName
	switch b := e.Body.(type) {
	case event.InputGiven:
		return []string{b.Text}
	case event.ClientStarted:
		return []string{name(b.Client)}
	case event.ClientStopped:
		if b.Killed {
			*key = "killed"
		}
		return []string{name(b.Client)}
	case event.ClientPaused:
		return []string{name(b.Client)}
	case event.ClientResumed:
		return []string{name(b.Client)}
	case event.ClientStateChanged:
		return []string{name(b.Client), string(b.To), strings.TrimSuffix(b.Reason, ".")}
	case event.ClientAssigned:
		return []string{name(b.Client), event.Partitions(b.Topics)}
	case event.ClientRevoked:
		return []string{name(b.Client), event.Partitions(b.Topics)}
	case event.ClientWaiting:
		return []string{name(b.Client), b.For}
	case event.ClientFailed:
		return []string{name(b.Client), b.Error}
	case event.CoordinatorFound:
		return []string{name(b.Client), num(b.ID)}
	case event.CoordinatorLost:
		return []string{name(b.Client), b.Reason}
	case event.MetadataRefreshed:
		if b.Changed {
			*key = "metadata"
		}
		return []string{name(b.Client)}
	case event.RequestSent:
		return []string{name(b.Client), api(b.API), num(b.To)}
	case event.ReplyOnWire:
		return []string{name(b.Client), api(b.API)}
	case event.ReplyReceived:
		return []string{name(b.Client), api(b.API), event.CodeName(b.Code)}
	case event.RequestFailed:
		return []string{name(b.Client), api(b.API), b.Reason}
	case event.MessageLost:
		return []string{name(b.Client), api(b.API)}
	case event.ConnectionOpened:
		return []string{name(b.ClientID)}
	case event.ConnectionClosed:
		return []string{name(b.ClientID)}
	case event.RequestReceived:
		return []string{s.memberOf(e, b.Member, b.ClientID), api(b.API)}
	case event.HeartbeatReceived:
		return []string{s.memberOf(e, b.Member, "")}
	case event.ReplyParked:
		return []string{s.memberOf(e, b.Member, b.ClientID), api(b.API), b.Until}
	case event.ReplySent:
		if b.Code != 0 {
			*key = "refused"
		}
		return []string{s.memberOf(e, b.Member, "?"), api(b.API), event.CodeName(b.Code), b.Guard}
	case event.ReplyDropped:
		return []string{s.memberOf(e, b.Member, "?"), api(b.API), b.Reason}
	}
	return nil
}

// groupArgs fills the sentences of a group; nil for other facts.
func (s *stage) groupArgs(e *event.Event, key *string) []string {
	switch b := e.Body.(type) {
	case event.GroupRemoved:
		return []string{s.because(e, b.Why, "")}
	case event.StateChanged:
		return []string{string(b.To), s.because(e, b.Why, b.Member)}
	case event.RebalanceStarted:
		return []string{s.because(e, b.Why, b.Member)}
	case event.GenerationStarted:
		return []string{num(b.Generation), s.because(e, b.Why, "")}
	case event.MemberIDIssued:
		return []string{name(b.ClientID)}
	case event.PendingForgotten:
		return []string{s.memberOf(e, b.Member, ""), s.because(e, b.Why, b.Member)}
	case event.MemberAdded:
		return []string{s.memberOf(e, b.Member, "")}
	case event.MemberUpdated:
		return []string{s.memberOf(e, b.Member, "")}
	case event.MemberReplaced:
		return []string{s.memberOf(e, b.Old, ""), s.memberOf(e, b.Member, "")}
	case event.MemberRemoved:
		return []string{s.memberOf(e, b.Member, ""), s.because(e, b.Why, b.Member)}
	case event.LeaderElected:
		return []string{s.memberOf(e, b.Member, ""), s.because(e, b.Why, b.Member)}
	case event.AssignmentReceived:
		return []string{s.memberOf(e, b.Member, "")}
	case event.OffsetsPending:
		return []string{s.memberOf(e, b.Member, "?")}
	case event.OffsetsRefused:
		return []string{s.memberOf(e, b.Member, "?"), event.CodeName(b.Code)}
	case event.OffsetsRemoved:
		return []string{s.because(e, b.Why, "")}
	case event.TxnVerificationStarted:
		return []string{num(b.ProducerID)}
	case event.TxnVerificationFinished:
		return []string{event.CodeName(b.Code)}
	case event.TxnOffsetsPending:
		return []string{num(b.ProducerID)}
	case event.TxnOffsetsWritten:
		return []string{num(b.ProducerID)}
	case event.TxnOffsetsEnded:
		return []string{num(b.ProducerID)}
	case event.AppendStarted:
		return []string{b.What}
	case event.AppendFinished:
		return []string{event.CodeName(b.Code)}
	case event.OperationWatched:
		if b.Type == event.DelayedHeartbeat {
			*key = "armed"
			return []string{s.memberOf(e, b.Member, "?"), s.clock(b.DeadlineMs)}
		}
		return []string{string(b.Type), s.clock(b.DeadlineMs)}
	case event.OperationTested:
		return []string{b.Lacks}
	case event.OperationCompleted:
		switch {
		case b.Expired && b.Type == event.DelayedHeartbeat && !b.Excused:
			*key = "silent"
			return []string{s.memberOf(e, b.Member, "?")}
		case b.Expired:
			*key = "expired"
		}
		return []string{string(b.Type), b.How}
	}
	return nil
}

// clusterArgs fills the sentences of brokers, partitions and transactions.
func (s *stage) clusterArgs(e *event.Event, key *string) []string {
	part := partitionName
	switch b := e.Body.(type) {
	case event.BrokerStarted:
		return []string{num(b.ID)}
	case event.BrokerStopped:
		if b.Killed {
			*key = "died"
		}
		return []string{num(b.ID)}
	case event.BrokerFenced:
		return []string{num(b.ID)}
	case event.TopicCreated:
		return []string{name(b.Topic)}
	case event.PartitionsAdded:
		return []string{name(b.Topic), num(b.To)}
	case event.TopicDeleted:
		return []string{name(b.Topic)}
	case event.LeaderChanged:
		if b.Leader < 0 {
			*key = "noleader"
		}
		return []string{part(b.Topic, b.Partition), num(b.Leader)}
	case event.RecordsAppended:
		return []string{part(b.Topic, b.Partition)}
	case event.ReplicaAdvanced:
		return []string{part(b.Topic, b.Partition)}
	case event.ReplicaTruncated:
		return []string{part(b.Topic, b.Partition)}
	case event.LogCompacted:
		return []string{part(b.Topic, b.Partition)}
	case event.HighWatermarkAdvanced:
		return []string{part(b.Topic, b.Partition), num(b.Offset)}
	case event.LoadStarted:
		return []string{tapeName(b.Partition)}
	case event.LoadProgressed:
		return []string{tapeName(b.Partition)}
	case event.LoadFinished:
		return []string{tapeName(b.Partition)}
	case event.LoadSkipped:
		return []string{tapeName(b.Partition)}
	case event.PartitionUnloaded:
		return []string{tapeName(b.Partition)}
	case event.TxnStateChanged:
		return []string{name(b.TransactionalID), string(b.To)}
	case event.TxnRemoved:
		return []string{name(b.TransactionalID)}
	case event.TxnFenced:
		return []string{name(b.TransactionalID)}
	case event.TxnAppendStarted:
		return []string{name(b.TransactionalID)}
	case event.TxnAppendFinished:
		return []string{name(b.TransactionalID)}
	case event.TxnMarkerSent:
		return []string{name(b.TransactionalID)}
	case event.TxnMarkerAnswered:
		return []string{name(b.TransactionalID)}
	case event.TxnLoadStarted:
		return []string{"__transaction_state-" + num(b.Partition)}
	case event.TxnLoadFinished:
		return []string{"__transaction_state-" + num(b.Partition)}
	case event.TxnUnloaded:
		return []string{"__transaction_state-" + num(b.Partition)}
	}
	return nil
}
