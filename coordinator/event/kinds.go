package event

import (
	"maps"
	"slices"
)

// Kinds lists the names of all kinds of facts, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Zero returns a body of a kind with nothing in it, nil where no kind has the name.
func Zero(kind string) Body { return kinds[kind] }

// kinds lists every body with nothing in it: what UnmarshalJSON can read, by the name that Kind gives.
var kinds = map[string]Body{
	"GroupCreated":            GroupCreated{},
	"GroupLoaded":             GroupLoaded{},
	"GroupRemoved":            GroupRemoved{},
	"StateChanged":            StateChanged{},
	"RebalanceStarted":        RebalanceStarted{},
	"GenerationStarted":       GenerationStarted{},
	"MemberIDIssued":          MemberIDIssued{},
	"PendingForgotten":        PendingForgotten{},
	"MemberAdded":             MemberAdded{},
	"MemberUpdated":           MemberUpdated{},
	"MemberReplaced":          MemberReplaced{},
	"MemberRemoved":           MemberRemoved{},
	"LeaderElected":           LeaderElected{},
	"AssignmentReceived":      AssignmentReceived{},
	"AssignmentStored":        AssignmentStored{},
	"HeartbeatReceived":       HeartbeatReceived{},
	"RequestReceived":         RequestReceived{},
	"ReplyParked":             ReplyParked{},
	"ReplySent":               ReplySent{},
	"ReplyDropped":            ReplyDropped{},
	"OffsetsPending":          OffsetsPending{},
	"OffsetsCommitted":        OffsetsCommitted{},
	"OffsetsRefused":          OffsetsRefused{},
	"OffsetsRemoved":          OffsetsRemoved{},
	"CleanupRan":              CleanupRan{},
	"TxnVerificationStarted":  TxnVerificationStarted{},
	"TxnVerificationFinished": TxnVerificationFinished{},
	"TxnOffsetsPending":       TxnOffsetsPending{},
	"TxnOffsetsWritten":       TxnOffsetsWritten{},
	"TxnOffsetsEnded":         TxnOffsetsEnded{},
	"AppendStarted":           AppendStarted{},
	"AppendFinished":          AppendFinished{},
	"OperationWatched":        OperationWatched{},
	"OperationTested":         OperationTested{},
	"OperationCompleted":      OperationCompleted{},
	"TimerCascaded":           TimerCascaded{},
	"BrokerStarted":           BrokerStarted{},
	"BrokerStopped":           BrokerStopped{},
	"BrokerFenced":            BrokerFenced{},
	"TopicCreated":            TopicCreated{},
	"PartitionsAdded":         PartitionsAdded{},
	"TopicDeleted":            TopicDeleted{},
	"LeaderChanged":           LeaderChanged{},
	"RecordsAppended":         RecordsAppended{},
	"ReplicaAdvanced":         ReplicaAdvanced{},
	"ReplicaTruncated":        ReplicaTruncated{},
	"LogCompacted":            LogCompacted{},
	"HighWatermarkAdvanced":   HighWatermarkAdvanced{},
	"LoadStarted":             LoadStarted{},
	"LoadProgressed":          LoadProgressed{},
	"LoadFinished":            LoadFinished{},
	"LoadSkipped":             LoadSkipped{},
	"PartitionUnloaded":       PartitionUnloaded{},
	"ClientStarted":           ClientStarted{},
	"ClientStopped":           ClientStopped{},
	"ClientPaused":            ClientPaused{},
	"ClientResumed":           ClientResumed{},
	"ClientStateChanged":      ClientStateChanged{},
	"ClientAssigned":          ClientAssigned{},
	"ClientRevoked":           ClientRevoked{},
	"ClientWaiting":           ClientWaiting{},
	"ClientFailed":            ClientFailed{},
	"CoordinatorFound":        CoordinatorFound{},
	"CoordinatorLost":         CoordinatorLost{},
	"MetadataRefreshed":       MetadataRefreshed{},
	"RequestSent":             RequestSent{},
	"ReplyOnWire":             ReplyOnWire{},
	"ReplyReceived":           ReplyReceived{},
	"RequestFailed":           RequestFailed{},
	"MessageLost":             MessageLost{},
	"ConnectionOpened":        ConnectionOpened{},
	"ConnectionClosed":        ConnectionClosed{},
	"InputGiven":              InputGiven{},
	"TxnStateChanged":         TxnStateChanged{},
	"TxnRemoved":              TxnRemoved{},
	"TxnFenced":               TxnFenced{},
	"TxnAppendStarted":        TxnAppendStarted{},
	"TxnAppendFinished":       TxnAppendFinished{},
	"TxnMarkerSent":           TxnMarkerSent{},
	"TxnMarkerAnswered":       TxnMarkerAnswered{},
	"TxnLoadStarted":          TxnLoadStarted{},
	"TxnLoadFinished":         TxnLoadFinished{},
	"TxnUnloaded":             TxnUnloaded{},
	"ProducerIDsAllocated":    ProducerIDsAllocated{},
	"GroupSummarized":         GroupSummarized{},
	"GenerationRecorded":      GenerationRecorded{},
	"ClusterAttached":         ClusterAttached{},
	"SightChanged":            SightChanged{},
	"CostMeasured":            CostMeasured{},
	"CauseInferred":           CauseInferred{},
	"GroupListed":             GroupListed{},
	"AwaitedSeen":             AwaitedSeen{},
	"LagMeasured":             LagMeasured{},
	"EpochBumped":             EpochBumped{},
	"TargetAssigned":          TargetAssigned{},
	"MemberReconciled":        MemberReconciled{},
	"FactsBegan":              FactsBegan{},
	"FactsEnded":              FactsEnded{},
}

// Kind names the fact.
func (GroupCreated) Kind() string { return "GroupCreated" }

// Kind names the fact.
func (GroupLoaded) Kind() string { return "GroupLoaded" }

// Kind names the fact.
func (GroupRemoved) Kind() string { return "GroupRemoved" }

// Kind names the fact.
func (StateChanged) Kind() string { return "StateChanged" }

// Kind names the fact.
func (RebalanceStarted) Kind() string { return "RebalanceStarted" }

// Kind names the fact.
func (GenerationStarted) Kind() string { return "GenerationStarted" }

// Kind names the fact.
func (MemberIDIssued) Kind() string { return "MemberIDIssued" }

// Kind names the fact.
func (PendingForgotten) Kind() string { return "PendingForgotten" }

// Kind names the fact.
func (MemberAdded) Kind() string { return "MemberAdded" }

// Kind names the fact.
func (MemberUpdated) Kind() string { return "MemberUpdated" }

// Kind names the fact.
func (MemberReplaced) Kind() string { return "MemberReplaced" }

// Kind names the fact.
func (MemberRemoved) Kind() string { return "MemberRemoved" }

// Kind names the fact.
func (LeaderElected) Kind() string { return "LeaderElected" }

// Kind names the fact.
func (AssignmentReceived) Kind() string { return "AssignmentReceived" }

// Kind names the fact.
func (AssignmentStored) Kind() string { return "AssignmentStored" }

// Kind names the fact.
func (HeartbeatReceived) Kind() string { return "HeartbeatReceived" }

// Kind names the fact.
func (RequestReceived) Kind() string { return "RequestReceived" }

// Kind names the fact.
func (ReplyParked) Kind() string { return "ReplyParked" }

// Kind names the fact.
func (ReplySent) Kind() string { return "ReplySent" }

// Kind names the fact.
func (ReplyDropped) Kind() string { return "ReplyDropped" }

// Kind names the fact.
func (OffsetsPending) Kind() string { return "OffsetsPending" }

// Kind names the fact.
func (OffsetsCommitted) Kind() string { return "OffsetsCommitted" }

// Kind names the fact.
func (OffsetsRefused) Kind() string { return "OffsetsRefused" }

// Kind names the fact.
func (OffsetsRemoved) Kind() string { return "OffsetsRemoved" }

// Kind names the fact.
func (CleanupRan) Kind() string { return "CleanupRan" }

// Kind names the fact.
func (TxnVerificationStarted) Kind() string { return "TxnVerificationStarted" }

// Kind names the fact.
func (TxnVerificationFinished) Kind() string { return "TxnVerificationFinished" }

// Kind names the fact.
func (TxnOffsetsPending) Kind() string { return "TxnOffsetsPending" }

// Kind names the fact.
func (TxnOffsetsWritten) Kind() string { return "TxnOffsetsWritten" }

// Kind names the fact.
func (TxnOffsetsEnded) Kind() string { return "TxnOffsetsEnded" }

// Kind names the fact.
func (AppendStarted) Kind() string { return "AppendStarted" }

// Kind names the fact.
func (AppendFinished) Kind() string { return "AppendFinished" }

// Kind names the fact.
func (OperationWatched) Kind() string { return "OperationWatched" }

// Kind names the fact.
func (OperationTested) Kind() string { return "OperationTested" }

// Kind names the fact.
func (OperationCompleted) Kind() string { return "OperationCompleted" }

// Kind names the fact.
func (TimerCascaded) Kind() string { return "TimerCascaded" }

// Kind names the fact.
func (BrokerStarted) Kind() string { return "BrokerStarted" }

// Kind names the fact.
func (BrokerStopped) Kind() string { return "BrokerStopped" }

// Kind names the fact.
func (BrokerFenced) Kind() string { return "BrokerFenced" }

// Kind names the fact.
func (TopicCreated) Kind() string { return "TopicCreated" }

// Kind names the fact.
func (PartitionsAdded) Kind() string { return "PartitionsAdded" }

// Kind is "TopicDeleted".
func (TopicDeleted) Kind() string { return "TopicDeleted" }

// Kind names the fact.
func (LeaderChanged) Kind() string { return "LeaderChanged" }

// Kind names the fact.
func (RecordsAppended) Kind() string { return "RecordsAppended" }

// Kind names the fact.
func (ReplicaAdvanced) Kind() string { return "ReplicaAdvanced" }

// Kind names the fact.
func (ReplicaTruncated) Kind() string { return "ReplicaTruncated" }

// Kind names the fact.
func (LogCompacted) Kind() string { return "LogCompacted" }

// Kind names the fact.
func (HighWatermarkAdvanced) Kind() string { return "HighWatermarkAdvanced" }

// Kind names the fact.
func (LoadStarted) Kind() string { return "LoadStarted" }

// Kind names the fact.
func (LoadProgressed) Kind() string { return "LoadProgressed" }

// Kind names the fact.
func (LoadFinished) Kind() string { return "LoadFinished" }

// Kind names the fact.
func (LoadSkipped) Kind() string { return "LoadSkipped" }

// Kind names the fact.
func (PartitionUnloaded) Kind() string { return "PartitionUnloaded" }

// Kind names the fact.
func (ClientStarted) Kind() string { return "ClientStarted" }

// Kind names the fact.
func (ClientStopped) Kind() string { return "ClientStopped" }

// Kind names the fact.
func (ClientPaused) Kind() string { return "ClientPaused" }

// Kind names the fact.
func (ClientResumed) Kind() string { return "ClientResumed" }

// Kind names the fact.
func (ClientStateChanged) Kind() string { return "ClientStateChanged" }

// Kind names the fact.
func (ClientAssigned) Kind() string { return "ClientAssigned" }

// Kind names the fact.
func (ClientRevoked) Kind() string { return "ClientRevoked" }

// Kind names the fact.
func (ClientWaiting) Kind() string { return "ClientWaiting" }

// Kind names the fact.
func (ClientFailed) Kind() string { return "ClientFailed" }

// Kind names the fact.
func (CoordinatorFound) Kind() string { return "CoordinatorFound" }

// Kind names the fact.
func (CoordinatorLost) Kind() string { return "CoordinatorLost" }

// Kind names the fact.
func (MetadataRefreshed) Kind() string { return "MetadataRefreshed" }

// Kind names the fact.
func (RequestSent) Kind() string { return "RequestSent" }

// Kind names the fact.
func (ReplyOnWire) Kind() string { return "ReplyOnWire" }

// Kind names the fact.
func (ReplyReceived) Kind() string { return "ReplyReceived" }

// Kind names the fact.
func (RequestFailed) Kind() string { return "RequestFailed" }

// Kind names the fact.
func (MessageLost) Kind() string { return "MessageLost" }

// Kind names the fact.
func (ConnectionOpened) Kind() string { return "ConnectionOpened" }

// Kind names the fact.
func (ConnectionClosed) Kind() string { return "ConnectionClosed" }

// Kind names the fact.
func (InputGiven) Kind() string { return "InputGiven" }

// Kind names the fact.
func (FactsBegan) Kind() string { return "FactsBegan" }

// Kind names the fact.
func (FactsEnded) Kind() string { return "FactsEnded" }

// Kind names the fact.
func (TxnStateChanged) Kind() string { return "TxnStateChanged" }

// Kind names the fact.
func (TxnRemoved) Kind() string { return "TxnRemoved" }

// Kind names the fact.
func (TxnFenced) Kind() string { return "TxnFenced" }

// Kind names the fact.
func (TxnAppendStarted) Kind() string { return "TxnAppendStarted" }

// Kind names the fact.
func (TxnAppendFinished) Kind() string { return "TxnAppendFinished" }

// Kind names the fact.
func (TxnMarkerSent) Kind() string { return "TxnMarkerSent" }

// Kind names the fact.
func (TxnMarkerAnswered) Kind() string { return "TxnMarkerAnswered" }

// Kind names the fact.
func (TxnLoadStarted) Kind() string { return "TxnLoadStarted" }

// Kind names the fact.
func (TxnLoadFinished) Kind() string { return "TxnLoadFinished" }

// Kind names the fact.
func (TxnUnloaded) Kind() string { return "TxnUnloaded" }

// Kind names the fact.
func (ProducerIDsAllocated) Kind() string { return "ProducerIDsAllocated" }

// Kind names the fact.
func (GroupSummarized) Kind() string { return "GroupSummarized" }

// Kind names the fact.
func (GenerationRecorded) Kind() string { return "GenerationRecorded" }

// Kind names the fact.
func (ClusterAttached) Kind() string { return "ClusterAttached" }

// Kind names the fact.
func (SightChanged) Kind() string { return "SightChanged" }

// Kind names the fact.
func (CostMeasured) Kind() string { return "CostMeasured" }

// Kind names the fact.
func (CauseInferred) Kind() string { return "CauseInferred" }

// Kind names the fact.
func (GroupListed) Kind() string { return "GroupListed" }

// Kind names the fact.
func (AwaitedSeen) Kind() string { return "AwaitedSeen" }

// Kind names the fact.
func (LagMeasured) Kind() string { return "LagMeasured" }

// Kind names the fact.
func (EpochBumped) Kind() string { return "EpochBumped" }

// Kind names the fact.
func (TargetAssigned) Kind() string { return "TargetAssigned" }

// Kind names the fact.
func (MemberReconciled) Kind() string { return "MemberReconciled" }
