package sim_test

import (
	"slices"

	"grouplab/coordinator/event"
)

// What the campaign notes by itself.
const (
	markReplayed        = "a log was read again beside its coordinator"
	markCommitSurvived  = "an acknowledged commit survived a change of coordinator"
	markRefusedReturned = "a commit that was refused, and written, came back with a load"
)

const (
	empty      = event.Empty
	preparing  = event.PreparingRebalance
	completing = event.CompletingRebalance
	stable     = event.Stable
	noGroup    = event.State("")
)

// API keys by the names that the specification uses.
const (
	commitAPI, fetchAPI, findAPI, joinAPI, beatAPI, leaveAPI, syncAPI int16 = 8, 9, 10, 11, 12, 13, 14
	describeAPI, listAPI, txnCommitAPI, deleteAPI, offsetDeleteAPI    int16 = 15, 16, 28, 42, 47
)

// marks are what must happen, rule by rule.
var marks = slices.Concat(validationMarks, tableMarks, featureMarks, appendMarks, leadershipMarks, cleanupMarks, clientMarks)

// rare marks are asked for only in a long campaign: by the choices that its seeds make, the short one of `make test` meets
// them seldom or never.
var rare = []string{
	"FindCoordinator of a partition without a live leader",
	"OffsetDelete in a live group of another type",
	"ListGroups while a partition is loading",
	"a member did not sync in time: Stable",
	"a full group refuses: CompletingRebalance",
	"a new member has waited for five minutes",
	"DescribeGroups at a broker that is no coordinator",
	"LeaveGroup of a fenced instance",
	"TxnOffsetCommit of a fenced instance",
	"JoinGroup without a protocol type",
	"JoinGroup v0 has no rebalance timeout",
	"SyncGroup to a group that is not there",
	"TxnOffsetCommit of another generation",
	"TxnOffsetCommit of a stranger",
	"TxnOffsetCommit while the assignment is awaited",
	"TxnOffsetCommit of a producer from before KIP-447",
	"a follower joins again unchanged: Stable",
	"an issued id finds the group full",
	"offsets: UNKNOWN_TOPIC_OR_PARTITION",
	"offsets: NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	"a transaction is aborted",
	"an open transaction is loaded",
	"a leader's log is cut back",
	"offsets of a live group expire, of a topic that it does not read",
	"compaction removes a tombstone whose time is over",
}

// validationMarks are the errors of each API (sections 1.1 to 1.14).
var validationMarks = []mark{
	reply("1.1", "JoinGroup without a group id", joinAPI, 24), reply("1.1", "SyncGroup without a group id", syncAPI, 24),
	reply("1.1", "Heartbeat without a group id", beatAPI, 24), reply("1.1", "LeaveGroup without a group id", leaveAPI, 24),
	reply("1.1", "OffsetDelete without a group id", offsetDeleteAPI, 24), reply("1.1", "TxnOffsetCommit without a group id", txnCommitAPI, 24),
	at("1.1", "the empty group id commits", func(_ *scene, e event.Event, b event.ReplySent) bool {
		return b.API == commitAPI && b.Code == 0 && e.Group == ""
	}),
	reply("1.1", "JoinGroup while its partition is loading", joinAPI, 14), reply("1.1", "SyncGroup while its partition is loading", syncAPI, 14),
	reply("1.1", "Heartbeat is answered NONE while its partition is loading", beatAPI, 0, "loading"),
	reply("1.1", "OffsetCommit while its partition is loading", commitAPI, 14), reply("1.1", "OffsetFetch while its partition is loading", fetchAPI, 14),
	reply("1.1", "JoinGroup at a broker that is no coordinator", joinAPI, 16, "not led"), reply("1.1", "SyncGroup at a broker that is no coordinator", syncAPI, 16, "not led"),
	reply("1.1", "Heartbeat at a broker that is no coordinator", beatAPI, 16), reply("1.1", "LeaveGroup at a broker that is no coordinator", leaveAPI, 16),
	reply("1.1", "OffsetCommit at a broker that is no coordinator", commitAPI, 16, "not led"), reply("1.1", "OffsetFetch at a broker that is no coordinator", fetchAPI, 16),
	reply("1.1", "DescribeGroups at a broker that is no coordinator", describeAPI, 16), reply("1.1", "DeleteGroups at a broker that is no coordinator", deleteAPI, 16, "not led"),
	reply("1.1", "OffsetDelete at a broker that is no coordinator", offsetDeleteAPI, 16, "not led"),
	reply("1.1", "TxnOffsetCommit at a broker that is no coordinator", txnCommitAPI, 16, "not led"),

	reply("1.2", "JoinGroup of a fenced instance", joinAPI, 82, "belongs to another"), reply("1.2", "SyncGroup of a fenced instance", syncAPI, 82, "belongs to another"),
	reply("1.2", "Heartbeat of a fenced instance", beatAPI, 82), reply("1.2", "LeaveGroup of a fenced instance", leaveAPI, 82),
	reply("1.2", "OffsetCommit of a fenced instance", commitAPI, 82), reply("1.2", "TxnOffsetCommit of a fenced instance", txnCommitAPI, 82),
	reply("1.2", "an instance id that is not mapped", beatAPI, 25, "instance id is not known"), reply("1.2", "SyncGroup of an issued id", syncAPI, 25, "issued"),

	reply("1.3", "FindCoordinator finds one", findAPI, 0), reply("1.3", "FindCoordinator before __consumer_offsets exists", findAPI, 15, "does not exist"),
	reply("1.3", "FindCoordinator of a partition without a live leader", findAPI, 15, "no leader"),

	reply("1.4", "JoinGroup with a session timeout out of bounds", joinAPI, 26), reply("1.4", "JoinGroup with an id to a group that is not there", joinAPI, 25, "does not exist"),
	reply("1.4", "JoinGroup to a full group", joinAPI, 81), reply("1.4", "JoinGroup with another protocol type", joinAPI, 23, "protocol type", "not the group's"),
	reply("1.4", "JoinGroup without a protocol type", joinAPI, 23, "type is empty"), reply("1.4", "JoinGroup without protocols", joinAPI, 23, "list is empty"),
	reply("1.4", "JoinGroup with nothing in common", joinAPI, 23, "no protocol is supported"), reply("1.4", "JoinGroup is told its id first", joinAPI, 79),
	reply("1.4", "an issued id comes with an instance id", joinAPI, -1, "never a static"), reply("1.4", "JoinGroup with an id that was never issued", joinAPI, 25, "not a member"),
	at("1.4", "JoinGroup v0 has no rebalance timeout", func(s *scene, _ event.Event, b event.ReplyParked) bool {
		return b.API == joinAPI && s.asked[b.Ticket].version == 0
	}),

	reply("1.5", "SyncGroup v5 without a type or name", syncAPI, 23, "null"), reply("1.5", "SyncGroup to a group that is not there", syncAPI, 25, "does not exist"),
	reply("1.5", "SyncGroup of a stranger", syncAPI, 25, "not a member"), reply("1.5", "SyncGroup of another generation", syncAPI, 22),
	reply("1.5", "SyncGroup of another protocol type", syncAPI, 23, "protocol type"), reply("1.5", "SyncGroup of another protocol", syncAPI, 23, "not the elected"),

	reply("1.6", "Heartbeat to a group that is not there", beatAPI, 25, "does not exist"), reply("1.6", "Heartbeat of a stranger", beatAPI, 25, "not a member"),
	reply("1.6", "Heartbeat of another generation", beatAPI, 22),

	reply("1.7", "LeaveGroup from a group that is not there", leaveAPI, 25, "does not exist"), reply("1.7", "LeaveGroup of a stranger", leaveAPI, 25, "not a member"),
	forgotten("1.7", "an issued id leaves", event.WhyMemberLeft),
	at("1.7", "an administrator removes a static member by its instance", func(s *scene, e event.Event, b event.MemberRemoved) bool {
		g := s.at(e.Broker, e.Group)
		return b.Why == event.WhyMemberLeft && g != nil && g.members[b.Member].instance != "" && b.ClientReason == "removed by a tool"
	}),
	at("1.7", "LeaveGroup v2 names one member", func(s *scene, _ event.Event, b event.ReplySent) bool {
		return b.API == leaveAPI && b.Code == 0 && s.asked[b.Ticket].version <= 2
	}),

	reply("1.8", "OffsetCommit v9 with a generation to a group that is not there", commitAPI, 69),
	at("1.8", "OffsetCommit below v9 with a generation to a group that is not there", func(s *scene, _ event.Event, b event.ReplySent) bool {
		return b.API == commitAPI && b.Code == 22 && s.asked[b.Ticket].state == noGroup
	}),
	reply("1.8", "OffsetCommit of nobody into a group with members", commitAPI, 25, "names none"), reply("1.8", "OffsetCommit of a stranger", commitAPI, 25, "not a member"),
	reply("1.8", "OffsetCommit of another generation", commitAPI, 22, "generation"), reply("1.8", "OffsetCommit while the assignment is awaited", commitAPI, 27),
	reply("1.8", "OffsetCommit of a partition that is not there", commitAPI, 3), reply("1.8", "OffsetCommit with too much metadata", commitAPI, 12),

	answered("1.9", "OffsetFetch of a group that is not there", fetchAPI, noGroup, "", 0),
	at("1.9", "OffsetFetch v1 has no place for a group's error", func(s *scene, _ event.Event, b event.ReplySent) bool {
		return b.API == fetchAPI && s.asked[b.Ticket].version == 1
	}),
	reply("1.9", "a stable read meets a commit that is being written", fetchAPI, 0, "is being written"),
	reply("1.9", "a stable read meets an open transaction", fetchAPI, 0, "open transaction"),

	reply("1.10", "OffsetDelete in a group that is not there", offsetDeleteAPI, 69), reply("1.10", "OffsetDelete of what the group reads", offsetDeleteAPI, 86),
	reply("1.10", "OffsetDelete of a partition that is not there", offsetDeleteAPI, 3), reply("1.10", "OffsetDelete in a live group of another type", offsetDeleteAPI, 68),
	lost("1.10", "OffsetDelete removes an offset", event.WhyOffsetsDeleted),

	reply("1.11", "TxnOffsetCommit of another generation", txnCommitAPI, 22, "generation"), reply("1.11", "TxnOffsetCommit of a stranger", txnCommitAPI, 25, "not a member"),
	reply("1.11", "TxnOffsetCommit that the transaction coordinator does not know", txnCommitAPI, 49),
	at("1.11", "TxnOffsetCommit is verified", func(_ *scene, _ event.Event, b event.TxnVerificationFinished) bool { return b.Code == 0 }),
	at("1.11", "TxnOffsetCommit in no open transaction", func(_ *scene, _ event.Event, b event.TxnVerificationFinished) bool {
		return b.Code == 120 || b.Code == 48
	}),
	at("1.11", "TxnOffsetCommit while the assignment is awaited", func(s *scene, e event.Event, _ event.TxnOffsetsPending) bool {
		g := s.at(e.Broker, e.Group)
		return g != nil && g.state == completing
	}),
	at("1.11", "TxnOffsetCommit of a producer from before KIP-447", func(s *scene, e event.Event, b event.TxnOffsetsPending) bool {
		g := s.at(e.Broker, e.Group)
		return g != nil && g.state != empty && b.Member == "" && b.Generation < 0
	}),

	answered("1.12", "DescribeGroups of a group that is not there", describeAPI, noGroup, "", 0), answered("1.12", "DescribeGroups of an Empty group", describeAPI, empty, "", 0),
	answered("1.12", "DescribeGroups of a Stable group", describeAPI, stable, "", 0),
	at("1.12", "DescribeGroups of a group that rebalances", func(s *scene, _ event.Event, b event.ReplySent) bool {
		m := s.asked[b.Ticket]
		return b.API == describeAPI && (m.state == preparing || m.state == completing)
	}),
	reply("1.13", "ListGroups", listAPI, 0), reply("1.13", "ListGroups while a partition is loading", listAPI, 14),
	reply("1.14", "DeleteGroups of a group that is not there", deleteAPI, 69), reply("1.14", "DeleteGroups of a group with members", deleteAPI, 68),
	gone("1.14", "DeleteGroups deletes an Empty group", event.WhyGroupDeleted),
}

// tableMarks are the cells of the tables of states and requests (sections 2.1 to 2.6).
var tableMarks = []mark{
	answered("2.1", "a new client is told its id: no group", joinAPI, noGroup, "", 79), answered("2.1", "a new client is told its id: Empty", joinAPI, empty, "nobody", 79),
	answered("2.1", "a new client is told its id: PreparingRebalance", joinAPI, preparing, "nobody", 79),
	answered("2.1", "a new client is told its id: CompletingRebalance", joinAPI, completing, "nobody", 79),
	answered("2.1", "a new client is told its id: Stable", joinAPI, stable, "nobody", 79),
	parkedIn("2.1", "an issued id joins: Empty", joinAPI, empty, "pending"), parkedIn("2.1", "an issued id joins: PreparingRebalance", joinAPI, preparing, "pending"),
	parkedIn("2.1", "an issued id joins: CompletingRebalance", joinAPI, completing, "pending"), parkedIn("2.1", "an issued id joins: Stable", joinAPI, stable, "pending"),
	parkedIn("2.1", "a client without an id joins at once: Empty", joinAPI, empty, "nobody"),
	parkedIn("2.1", "a client without an id joins at once: PreparingRebalance", joinAPI, preparing, "nobody"),
	parkedIn("2.1", "a client without an id joins at once: CompletingRebalance", joinAPI, completing, "nobody"),
	parkedIn("2.1", "a client without an id joins at once: Stable", joinAPI, stable, "nobody"),
	parkedIn("2.1", "the leader joins again: PreparingRebalance", joinAPI, preparing, "leader"), parkedIn("2.1", "the leader joins again: Stable", joinAPI, stable, "leader"),
	answered("2.1", "the leader joins again unchanged: CompletingRebalance", joinAPI, completing, "leader", 0),
	parkedIn("2.1", "a follower joins again: PreparingRebalance", joinAPI, preparing, "follower"),
	answered("2.1", "a follower joins again unchanged: CompletingRebalance", joinAPI, completing, "follower", 0),
	answered("2.1", "a follower joins again unchanged: Stable", joinAPI, stable, "follower", 0),
	parkedIn("2.1", "a follower joins again with other metadata: Stable", joinAPI, stable, "follower"),
	answered("2.1", "an unknown id joins: Stable", joinAPI, stable, "stranger", 25), answered("2.1", "an unknown id joins: Empty", joinAPI, empty, "stranger", 25),
	answered("2.1", "an unknown id joins: PreparingRebalance", joinAPI, preparing, "stranger", 25),

	parkedIn("2.2", "the leader syncs: CompletingRebalance", syncAPI, completing, "leader"), parkedIn("2.2", "a follower syncs: CompletingRebalance", syncAPI, completing, "follower"),
	answered("2.2", "a member syncs: PreparingRebalance", syncAPI, preparing, "", 27), answered("2.2", "the leader syncs: Stable", syncAPI, stable, "leader", 0),
	answered("2.2", "a follower syncs: Stable", syncAPI, stable, "follower", 0),
	at("2.2", "a rebalance answers a parked sync", func(s *scene, _ event.Event, b event.ReplySent) bool {
		return b.API == syncAPI && b.Code == 27 && s.asked[b.Ticket].parked
	}),

	at("2.3", "a heartbeat: PreparingRebalance", func(_ *scene, _ event.Event, b event.HeartbeatReceived) bool { return b.Code == 27 }),
	at("2.3", "a heartbeat: CompletingRebalance", func(s *scene, e event.Event, b event.HeartbeatReceived) bool {
		g := s.at(e.Broker, e.Group)
		return g != nil && g.state == completing && b.Code == 0
	}),
	at("2.3", "a heartbeat: Stable", func(s *scene, e event.Event, b event.HeartbeatReceived) bool {
		g := s.at(e.Broker, e.Group)
		return g != nil && g.state == stable && b.Code == 0
	}),

	removedFor("2.4", "a member leaves: Stable", event.WhyMemberLeft, stable), removedFor("2.4", "a member leaves: CompletingRebalance", event.WhyMemberLeft, completing),
	removedFor("2.4", "a member leaves: PreparingRebalance", event.WhyMemberLeft, preparing),
	reply("2.4", "a parked joiner leaves", joinAPI, 25, "the member was removed: member left"),

	parkedIn("2.5", "a commit makes a group", commitAPI, noGroup, ""), parkedIn("2.5", "a commit: Empty", commitAPI, empty, ""),
	parkedIn("2.5", "a member's commit: PreparingRebalance", commitAPI, preparing, ""), parkedIn("2.5", "a member's commit: Stable", commitAPI, stable, ""),

	removedFor("2.6", "a session ends: Stable", event.WhySessionExpired, stable), removedFor("2.6", "a session ends: CompletingRebalance", event.WhySessionExpired, completing),
	removedFor("2.6", "a session ends: PreparingRebalance", event.WhySessionExpired, preparing),
	at("2.6", "a session ends while its member waits in a shelf, and nothing happens", func(_ *scene, _ event.Event, b event.OperationCompleted) bool { return b.Excused }),
	forgotten("2.6", "an issued id does not come back", event.WhyPendingExpired),
	removedFor("2.6", "a member did not rejoin in time", event.WhyNotRejoined, ""),
	removedFor("2.6", "a member did not sync in time: CompletingRebalance", event.WhyNotSynced, completing),
	removedFor("2.6", "a member did not sync in time: Stable", event.WhyNotSynced, stable),
}

// featureMarks are the states (section 3) and the features (section 4).
var featureMarks = []mark{
	moves("3", "Empty to PreparingRebalance", empty, preparing), moves("3", "PreparingRebalance to CompletingRebalance", preparing, completing),
	moves("3", "PreparingRebalance to Empty", preparing, empty), moves("3", "CompletingRebalance to Stable", completing, stable),
	moves("3", "CompletingRebalance to PreparingRebalance", completing, preparing), moves("3", "Stable to PreparingRebalance", stable, preparing),
	moves("3", "Empty to Dead", empty, event.Dead), moves("3", "PreparingRebalance to Dead", preparing, event.Dead),
	moves("3", "CompletingRebalance to Dead", completing, event.Dead), moves("3", "Stable to Dead", stable, event.Dead),
	rebalances("3", "a first member starts a rebalance", event.WhyFirstMember), rebalances("3", "a new member starts a rebalance", event.WhyNewMember),
	rebalances("3", "the leader joins again and starts a rebalance", event.WhyLeaderRejoined), rebalances("3", "other metadata starts a rebalance", event.WhyMetadataChanged),
	rebalances("3", "who leaves starts a rebalance", event.WhyMemberLeft), rebalances("3", "an expired session starts a rebalance", event.WhySessionExpired),
	rebalances("3", "who does not sync starts a rebalance", event.WhyNotSynced), rebalances("3", "a failed append starts a rebalance", event.WhySyncAppendFailed),

	at("4.1", "an issued id holds up a join phase", func(s *scene, e event.Event, b event.OperationTested) bool {
		g := s.at(e.Broker, e.Group)
		return g != nil && len(g.pending) > 0 && g.state == preparing
	}),
	forgotten("4.1", "an issued id joins", event.WhyPendingJoined),
	at("4.2", "a static member comes back in Stable without a rebalance", func(_ *scene, _ event.Event, b event.ReplyParked) bool {
		return b.API == joinAPI && b.Until == "the new member id is written"
	}),
	rebalances("4.2", "a static member comes back where the assignment cannot stay", event.WhyStaticRestarted),
	leads("4.2", "a static leader comes back", event.WhyLeaderReplaced),
	reply("4.2", "a static member's parked join is fenced", joinAPI, 82, "another process"), reply("4.2", "a static member's parked sync is fenced", syncAPI, 82, "another process"),
	at("4.2", "a static member that did not rejoin is kept", func(s *scene, e event.Event, b event.GenerationStarted) bool {
		g := s.at(e.Broker, e.Group)
		if g == nil || b.Why != event.WhyRebalanceTimeout {
			return false
		}
		for id, m := range g.members {
			if m.instance != "" && g.parked[id] != joinAPI && slices.Contains(b.Members, id) {
				return true
			}
		}
		return false
	}),
	at("4.3", "the initial delay goes into another round", func(s *scene, e event.Event, b event.OperationWatched) bool {
		g := s.at(e.Broker, e.Group)
		return b.Type == event.InitialDelayedJoin && g != nil && g.rounds > 0
	}),
	at("4.3", "the initial delay is over", func(_ *scene, _ event.Event, b event.GenerationStarted) bool {
		return b.Why == event.WhyInitialDelayOver
	}),
	answered("4.4", "a full group refuses: PreparingRebalance", joinAPI, preparing, "", 81), answered("4.4", "a full group refuses: Stable", joinAPI, stable, "", 81),
	answered("4.4", "a full group refuses: CompletingRebalance", joinAPI, completing, "", 81),
	removedFor("4.4", "a member is one too many when it joins again", event.WhyGroupFull, preparing),
	forgotten("4.4", "an issued id finds the group full", event.WhyGroupFull),
	rebalances("4.4", "a loaded group is too large", event.WhyGroupTooLarge),
	at("4.6", "a JoinGroup gives a reason", func(_ *scene, _ event.Event, b event.RebalanceStarted) bool { return b.ClientReason != "" }),
	at("4.9", "everyone synced, which ends the sync timer", func(_ *scene, _ event.Event, b event.OperationCompleted) bool {
		return b.Type == event.DelayedSync && !b.Expired
	}),
	at("4.10", "a group elects a protocol that not every member prefers", func(s *scene, e event.Event, b event.GenerationStarted) bool {
		g := s.at(e.Broker, e.Group)
		if g == nil {
			return false
		}
		for _, m := range g.members {
			if m.protocols > 1 {
				return true
			}
		}
		return false
	}),
	leads("4.11", "the first to join leads", event.WhyFirstToJoin), leads("4.11", "the leader is gone, another leads", event.WhyLeaderGone),
	leads("4.11", "the leader did not rejoin, another leads", event.WhyLeaderNotRejoined),
	at("4.13", "everyone has rejoined", func(_ *scene, _ event.Event, b event.GenerationStarted) bool { return b.Why == event.WhyAllRejoined }),
	at("4.13", "a join phase runs out of time", func(_ *scene, _ event.Event, b event.GenerationStarted) bool {
		return b.Why == event.WhyRebalanceTimeout
	}),
	at("4.13", "a join phase goes on, since only static members are there and none came", func(s *scene, e event.Event, b event.OperationWatched) bool {
		g := s.at(e.Broker, e.Group)
		return b.Type == event.DelayedJoin && g != nil && g.state == preparing && g.expiredJoin
	}),
	removedFor("4.14", "a new member has waited for five minutes", event.WhyNewMemberTimeout, ""),
	at("4.14", "the timer of a new member", func(_ *scene, _ event.Event, b event.OperationWatched) bool { return b.New }),
}

// appendMarks are the outcomes of appends (section 5).
var appendMarks = []mark{
	reply("5.1", "a group record fails with UNKNOWN_TOPIC_OR_PARTITION, NOT_ENOUGH_REPLICAS, …_AFTER_APPEND or REQUEST_TIMED_OUT", syncAPI, 15, "was not written"),
	reply("5.1", "a group record fails with NOT_LEADER_OR_FOLLOWER or KAFKA_STORAGE_ERROR", syncAPI, 16, "was not written"),
	reply("5.1", "a group record fails with MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE or INVALID_FETCH_SIZE", syncAPI, -1, "was not written"),
	reply("5.1", "a group record fails with another error, which is passed on", syncAPI, 2, "was not written"),
	reply("5.1", "a static member's new id cannot be written", joinAPI, 15, "was not written"),
	at("5.1", "the group has moved on when its record is written", func(s *scene, e event.Event, b event.AppendFinished) bool {
		return b.Ignored && b.Code == 0 && s.appends[opID{e.Broker, b.Append}].what == "group" && s.at(e.Broker, e.Group) != nil
	}),
	at("5.1", "an empty generation cannot be written", func(s *scene, e event.Event, b event.AppendFinished) bool {
		g := s.at(e.Broker, e.Group)
		return b.Code != 0 && g != nil && g.state == empty && s.appends[opID{e.Broker, b.Append}].what == "group"
	}),
	outcome("5.2", "offsets: NETWORK_EXCEPTION", "offsets", 13), outcome("5.2", "offsets: UNKNOWN_TOPIC_OR_PARTITION", "offsets", 3), outcome("5.2", "offsets: NOT_ENOUGH_REPLICAS", "offsets", 19),
	outcome("5.2", "offsets: NOT_ENOUGH_REPLICAS_AFTER_APPEND", "offsets", 20), outcome("5.2", "offsets: NOT_LEADER_OR_FOLLOWER", "offsets", 6),
	outcome("5.2", "offsets: KAFKA_STORAGE_ERROR", "offsets", 56), outcome("5.2", "offsets: MESSAGE_TOO_LARGE", "offsets", 10), outcome("5.2", "offsets: RECORD_LIST_TOO_LARGE", "offsets", 18),
	outcome("5.2", "offsets: INVALID_FETCH_SIZE", "offsets", 4), outcome("5.2", "offsets: REQUEST_TIMED_OUT", "offsets", 7), outcome("5.2", "offsets: CORRUPT_MESSAGE", "offsets", 2),
	reply("5.2", "a commit is told COORDINATOR_LOAD_IN_PROGRESS for a lost connection", commitAPI, 14, "not written"),
	reply("5.2", "a commit is told COORDINATOR_NOT_AVAILABLE", commitAPI, 15, "not written"), reply("5.2", "a commit is told NOT_COORDINATOR by the log", commitAPI, 16, "not written"),
	reply("5.2", "a commit is told UNKNOWN_SERVER_ERROR", commitAPI, -1, "not written"), reply("5.2", "a commit is told the log's own error", commitAPI, 2, "not written"),
	at("5.3", "a commit is overtaken while it is being written", func(s *scene, e event.Event, b event.OffsetsPending) bool {
		n := 0
		for id, u := range s.appends {
			if id.broker == e.Broker && u.group == e.Group && u.what == "offsets" {
				n++
			}
		}
		return n > 0
	}),
	outcome("5.3", "offsets of a transaction are written", "transactional offsets", 0),
	at("5.3", "offsets of a transaction cannot be written", func(s *scene, e event.Event, b event.AppendFinished) bool {
		return b.Code != 0 && s.appends[opID{e.Broker, b.Append}].what == "transactional offsets"
	}),
	at("5.3", "a transaction is committed", func(_ *scene, _ event.Event, b event.TxnOffsetsEnded) bool { return b.Commit && len(b.Offsets) > 0 }),
	at("5.3", "a transaction is aborted", func(_ *scene, _ event.Event, b event.TxnOffsetsEnded) bool { return !b.Commit && len(b.Offsets) > 0 }),
	at("5.3", "a transaction times out", func(_ *scene, _ event.Event, b event.TxnFenced) bool {
		return b.Why == "the transaction is open for longer than its timeout"
	}),
	at("5.3", "a producer that starts again fences its transaction", func(_ *scene, _ event.Event, b event.TxnFenced) bool { return b.Why == "a new producer uses the id" }),
	at("5.3", "a marker is sent again", func(_ *scene, _ event.Event, b event.TxnMarkerAnswered) bool { return b.RetryMs > 0 }),
	outcome("5.3", "tombstones cannot be written", "tombstones", 2, 3, 4, 6, 7, 10, 13, 18, 19, 20, 56),
}

// leadershipMarks are loads and unloads (section 6).
var leadershipMarks = []mark{
	at("6.1", "a group is loaded with members", func(_ *scene, _ event.Event, b event.GroupLoaded) bool { return b.State == stable }),
	at("6.1", "an Empty group is loaded", func(_ *scene, _ event.Event, b event.GroupLoaded) bool { return b.State == empty && b.Generation > 0 }),
	at("6.1", "a group is loaded that only has offsets", func(_ *scene, _ event.Event, b event.GroupLoaded) bool { return b.State == empty && b.Generation == 0 }),
	at("6.1", "offsets are loaded", func(_ *scene, _ event.Event, b event.OffsetsCommitted) bool { return b.Loaded }),
	at("6.1", "an open transaction is loaded", func(_ *scene, _ event.Event, b event.TxnOffsetsWritten) bool { return b.Loaded }),
	at("6.1", "a load takes several chunks", func(s *scene, e event.Event, b event.LoadProgressed) bool { return b.Offset < b.EndOffset }),
	at("6.1", "a static member is loaded", func(_ *scene, _ event.Event, b event.MemberAdded) bool { return b.Loaded && b.InstanceID != "" }),
	at("6.2", "a partition is lost while it is loading", func(s *scene, e event.Event, b event.PartitionUnloaded) bool {
		return s.loading[partitionAt{e.Broker, b.Partition}]
	}),
	at("6.2", "a partition is lost with its groups", func(_ *scene, _ event.Event, b event.PartitionUnloaded) bool { return b.Groups > 0 }),
	reply("6.2", "a parked join is told NOT_COORDINATOR", joinAPI, 16, "no longer the coordinator"), reply("6.2", "a parked sync is told NOT_COORDINATOR", syncAPI, 16, "no longer the coordinator"),
	at("6.2", "an append is answered when its group has left", func(s *scene, e event.Event, b event.AppendFinished) bool {
		return b.Ignored && s.at(e.Broker, e.Group) == nil
	}),
	noted("6.1", markReplayed), noted("6.1", markCommitSurvived), noted("6.1", markRefusedReturned),
	at("6", "a broker dies and is noticed", func(_ *scene, _ event.Event, b event.BrokerFenced) bool { return true }),
	at("6", "two brokers are down", func(s *scene, _ event.Event, b event.BrokerStopped) bool { return len(s.down) > 0 && !s.isDown(b.ID) }),
	at("6", "a leader's log is cut back", func(_ *scene, _ event.Event, b event.ReplicaTruncated) bool { return b.Topic == "__consumer_offsets" }),
	at("6", "a transaction coordinator is loaded", func(_ *scene, _ event.Event, b event.TxnLoadFinished) bool { return b.Transactions > 0 }),
}

// cleanupMarks are expiry and compaction (section 7).
var cleanupMarks = []mark{
	lost("7.2", "offsets expire", event.WhyOffsetsExpired),
	at("7.2", "offsets expire by the retention that their commit asked for", func(_ *scene, _ event.Event, b event.OffsetsRemoved) bool {
		return b.Why == event.WhyOffsetsExpired && slices.ContainsFunc(b.Offsets, func(o event.OffsetValue) bool { return o.ExpireMs > 0 })
	}),
	at("7.2", "offsets of an Empty group expire together", func(s *scene, e event.Event, b event.OffsetsRemoved) bool {
		g := s.at(e.Broker, e.Group)
		return b.Why == event.WhyOffsetsExpired && g != nil && g.state == empty && g.generation > 0 && len(b.Offsets) > 1
	}),
	at("7.2", "offsets of a live group expire, of a topic that it does not read", func(s *scene, e event.Event, b event.OffsetsRemoved) bool {
		g := s.at(e.Broker, e.Group)
		return b.Why == event.WhyOffsetsExpired && g != nil && g.state == stable
	}),
	gone("7.1", "the clean-up job removes a group that is left with nothing", event.WhyNothingLeft),
	lost("7.1", "a topic goes, and its offsets", event.WhyTopicDeleted),
	outcome("7.1", "tombstones are written", "tombstones", 0),
	at("7", "a log of __consumer_offsets is compacted", func(_ *scene, _ event.Event, b event.LogCompacted) bool {
		return b.Count > 0 && b.Topic == "__consumer_offsets"
	}),
	at("7", "a log of __transaction_state is compacted", func(_ *scene, _ event.Event, b event.LogCompacted) bool {
		return b.Count > 0 && b.Topic == "__transaction_state"
	}),
	at("7", "compaction removes a tombstone whose time is over", func(_ *scene, _ event.Event, b event.LogCompacted) bool {
		return slices.ContainsFunc(b.Removed, func(r event.RemovedRecord) bool { return r.Why == event.WhyTombstoneOver })
	}),
}

// clientMarks are what clients and the network must have gone through.
var clientMarks = []mark{
	at("-", "a request times out", func(_ *scene, _ event.Event, b event.RequestFailed) bool { return b.Reason == "no answer in time" }),
	at("-", "a client is no longer joining when its join is answered", func(_ *scene, _ event.Event, b event.RequestFailed) bool {
		return b.Reason == "UnjoinedGroupException: the client is no longer joining"
	}),
	at("-", "a message is lost", func(_ *scene, _ event.Event, b event.MessageLost) bool { return true }),
	at("-", "a request arrives twice", func(_ *scene, _ event.Event, b event.RequestSent) bool { return b.CopyOf != 0 }),
	at("-", "a client loses its partitions", func(_ *scene, _ event.Event, b event.ClientRevoked) bool { return b.Lost }),
	at("-", "a client keeps partitions over a rebalance", func(_ *scene, _ event.Event, b event.ClientAssigned) bool {
		return b.Cooperative && len(b.Topics) > len(b.Added)
	}),
	at("-", "a poll interval runs out", func(_ *scene, _ event.Event, b event.MemberRemoved) bool {
		return b.ClientReason == "consumer poll timeout has expired."
	}),
	at("-", "a leader rejoins for new partitions", func(_ *scene, _ event.Event, b event.RebalanceStarted) bool {
		return len(b.ClientReason) > 15 && b.ClientReason[:15] == "cached metadata"
	}),
	at("-", "a client is fenced and gives up", func(_ *scene, _ event.Event, b event.ClientFailed) bool { return b.Code == 82 }),
	at("-", "a topic is deleted", func(_ *scene, _ event.Event, b event.TopicDeleted) bool { return true }),
}
