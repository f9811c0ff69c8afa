package brokerlog

// kind is which message it is.
type kind uint8

const (
	unsaid kind = iota
	// noted is understood, and says nothing that the picture shows.
	noted
	// A broker of Apache Kafka, classic groups.
	preparing
	stabilized
	assigned
	joinedNew
	issuedID
	joinedPending
	joinedStatic
	replacedStatic
	failed
	pendingFailed
	left
	pendingLeft
	notJoined
	notSynced
	becameEmpty
	becameDead
	nobodyRejoined
	groupsDeleted
	loadedGroup
	unloadedGroup
	loadedMember
	loadStarted
	loadFinished
	unloaded
	offsetsGone
	cleanedUp
	// A broker, consumer groups (KIP-848).
	epochBumped
	targetComputed
	memberJoins
	staticJoins
	staticRejoins
	staticAway
	memberLeaves
	memberFenced
	memberSlow
	memberState
	topicsUpdated
	becameConsumer
	becameClassic
	// A client.
	clientSubscribed
	clientJoining
	clientWhy
	clientJoined
	clientLeads
	clientSynced
	clientSessionOver
	clientAssigned
	clientAdded
	clientRevoked
	clientLost
	clientRebalancing
	clientReset
	clientPollExpired
	clientLeaving
	clientNoCoordinator
	clientFoundCoordinator
	clientCommitFailed
	clientFailed
	clientEpoch
	kinds
)

// brokerRules are Apache Kafka's brokers': kafka.coordinator.group.GroupCoordinator and GroupMetadataManager up to 4.0, and
// org.apache.kafka.coordinator.group.GroupMetadataManager from 3.7 on. Of two that begin alike the more special comes first.
var brokerRules = []struct {
	kind kind
	text string
}{
	{preparing, "Preparing to rebalance group {g} in state {s} with old generation {n}|{r}"},
	{preparing, "Preparing to rebalance group {g} with old generation {n}|{r}"},
	{preparing, "Preparing to restabilize group {g} with old generation {n}|{r}"},
	{stabilized, "Stabilized group {g} generation {n}|{r}"},
	{assigned, "Assignment received from leader for group {g} for generation {n}|"},
	{assigned, "Assignment received from leader {m} for group {g} for generation {n}|"},
	{issuedID, "Dynamic {x} with unknown member id joins the consumer group. Created a new member id {m} and requesting"},
	{joinedNew, "Dynamic {x} with unknown member id {x}joins group {g} in state {s}. Created a new member id {m} and added|"},
	{joinedNew, "Dynamic {x} with unknown member id {x}joins group {g} in {s} state. Created a new member id {m} for this member and add|"},
	{issuedID, "Dynamic {x} with unknown member id {x}joins group {g} in {s} state. Created a new member id {m} and request|"},
	{joinedPending, "Pending dynamic member with id {m} joins group {g} in {s} state|"},
	{replacedStatic, "Static member with groupInstanceId={i} and unknown member id {x}joins group {g} in {s} state. Replacing previously mapped member {o} with|"},
	{joinedStatic, "Static member with groupInstanceId={i} and unknown member id {x}joins group {g} in {s} state. Created a new member id {m} for this|"},
	{noted, "Static member which joins during Stable stage and doesn't affect"},
	{failed, "Member {m} in group {g} has failed|, removing it from the group"},
	{left, "Member[group.instance.id {i}, member.id {m}] in group {g} has left|, removing it from the group"},
	{left, "Member {m} in group {g} has left|, removing it from the group"},
	{left, "Member {m} has left group {g} through explicit `LeaveGroup`|{c}"},
	{left, "Member {m} has left group through explicit `LeaveGroup` request|{c}"},
	{left, "Dynamic {x} {m} has left group through explicit `LeaveGroup` request|{c}"},
	{left, "Static {x} {m} with instance id {i} has left group through explicit `LeaveGroup` request|{c}"},
	{pendingLeft, "Pending member with memberId={m} has left group {g} through explicit|"},
	{pendingLeft, "Pending member {m} has left group through explicit|"},
	{pendingFailed, "Pending member {m} in group {g} has been removed after|"},
	{notJoined, "Group {g} removed dynamic members who haven't joined: {t}"},
	{notSynced, "Group {g} removed members who haven't sent their sync {x}: {t}"},
	{becameEmpty, "Group {g} with generation {n} is now empty|"},
	{becameDead, "Group {g} transitioned to Dead in generation {n}|"},
	{nobodyRejoined, "Group {g} could not complete rebalance because no members rejoined|"},
	{noted, "Group {g} removed from the metadata cache and marked for deletion"},
	{noted, "Group {g} is dead, skipping rebalance stage"},
	{noted, "Group leader "},
	{noted, "Request memberId={m} for static member with groupInstanceId={i} is fenced by"},
	{groupsDeleted, "The following groups were deleted: {t}. A total of {n} offsets were removed|"},
	{offsetsGone, "The following offsets of the group {g} were deleted: {t}. A total of {n} offsets were removed|"},
	{offsetsGone, "Removing expired/deleted offset and metadata for {g}, {t}: {x}"},
	{offsetsGone, "Removing expired offset and metadata for {t}"},
	{offsetsGone, "Expired offset for partition={t}"},
	{cleanedUp, "Removed {n} expired offsets in {k} milliseconds|"},
	{cleanedUp, "Generated {n} tombstone records while cleaning up group metadata in {k} milliseconds|"},
	{noted, "Removed {n} offsets associated with deleted partitions|"},
	{noted, "Generated {n} tombstone records in {k} milliseconds while|"},
	{noted, "Creating simple consumer group {g} via manual offset commit|"},
	{noted, "Creating a simple consumer group via manual offset commit|"},
	{loadedGroup, "Loading group metadata for {g} with generation {n}|"},
	{unloadedGroup, "Unloading group metadata for {g} with generation {n}|"},
	{unloadedGroup, "Unloading group metadata for generation {n}|"},
	{unloadedGroup, "Unloaded group metadata for group epoch {n}|"},
	{loadedMember, "Loaded member {m} in {x} group {g}."},
	{loadedGroup, "Loaded classic group {g} with {k} members|"},
	{loadedGroup, "Loaded consumer group {g} with {k} members|"},
	{noted, "Loaded group metadata "},
	{loadStarted, "Scheduling loading of offsets and group metadata from {t} for epoch {n}|"},
	{loadStarted, "Scheduling loading of offsets and group metadata from {t}"},
	{loadStarted, "Scheduling loading of metadata from {t} with epoch {n}|"},
	{noted, "Started loading offsets and group metadata from "},
	{noted, "Already loading offsets and group metadata from "},
	{noted, "Not loading offsets and group metadata for "},
	{loadFinished, "Finished loading offsets and group metadata from {t} in {k} milliseconds| for epoch {n},"},
	{loadFinished, "Finished loading of metadata from {t} with epoch {n} in {k}ms|"},
	{loadFinished, "Failed to load metadata from {t} with epoch {n} due to {r}"},
	{loadFinished, "Error loading offsets from {t}"},
	{noted, "Scheduling unloading of offsets and group metadata from "},
	{noted, "Scheduling unloading of metadata for "},
	{noted, "Started unloading offsets and group metadata for "},
	{noted, "Started unloading metadata for "},
	{unloaded, "Finished unloading {t} for coordinator epoch {n}|"},
	{unloaded, "Finished unloading metadata for {t} with epoch {n}|"},
	{noted, "Not removing offsets and group metadata for "},
	{noted, "Ignored unloading metadata for "},
	{noted, "Ignored loading metadata from "},
	{noted, "Elected as the group coordinator for partition {n} in epoch {k}"},
	{noted, "Resigned as the group coordinator for partition {n} in epoch {k}"},
	{noted, "Freshly-loaded group "},
	{noted, "Group's selectedProtocol will change because "},
	{noted, "Failed to persist metadata for group "},
	{noted, "Failed to write empty metadata for group "},
	{noted, "Sending empty assignment to member "},
	{noted, "Setting empty assignments for members "},
	{noted, "Received notification of heartbeat expiration for member "},
	{noted, "Received unexpected notification of sync expiration "},
	{noted, "Cannot complete join phase of group "},
	{noted, "Initialized offsets "},
	{noted, "Failed to append "},
	{noted, "Successfully appended "},
	{noted, "Unknown message key with version "},
	{noted, "Transition from {s} to {s}"},
	{noted, "Applying new metadata image with version "},
	{noted, "Scheduling applying of a new metadata image with version "},
	{noted, "The state machine of the coordinator "},
	{noted, "Failed to write "},

	{epochBumped, "Bumped group epoch to {n}|"},
	{epochBumped, "Bumped streams group epoch to {n}|"},
	{targetComputed, "Computed a new target assignment for epoch {n} with '{p}' assignor in {k}ms|: {t}"},
	{noted, "Computed new metadata hash: "},
	{noted, "Computed new subscription metadata: "},
	{memberJoins, "Member {m} joins the consumer group using the {p} protocol"},
	{memberJoins, "Member {m} joins the consumer group|"},
	{memberJoins, "Member {m} joins the share group|"},
	{staticJoins, "Static {x} {m} with instance id {i} joins the consumer group|"},
	{staticRejoins, "Static {x} with instance id {i} re-joins the consumer group using the {p} protocol. Created a new member {m} to replace the existing member {o}."},
	{staticAway, "Static {x} {m} with instance id {i} temporarily left the consumer group|"},
	{memberLeaves, "Static {x} {m} with instance id {i} left the consumer group|"},
	{noted, "Static {x} {m} with instance id {i} is fenced by existing member "},
	{noted, "Static {x} {m} with instance id {i} cannot join the group because "},
	{memberLeaves, "Member {m} left the {x} group"},
	{memberSlow, "Member {m} fenced from the group because it failed to transition from epoch {n} within {k}ms|"},
	{memberFenced, "Member {m} fenced from the group because {r}"},
	{memberState, "Member {m} new assignment state: epoch={n}, previousEpoch={k}, state={s}, assignedPartitions={t}"},
	{topicsUpdated, "Member {m} updated its subscribed topics to: {t}"},
	{topicsUpdated, "Member {m} updated its subscribed regex to: {t}"},
	{becameConsumer, "Converted the classic group to a consumer group"},
	{becameConsumer, "Converted the empty classic group to a consumer group"},
	{becameClassic, "Converted the consumer group to a classic group"},
	{becameClassic, "Converted the empty consumer group to a classic group"},
	{noted, "Assignment delayed due to "},
	{noted, "Ignoring rebalance timeout for "},
	{noted, "Could not fence "},
	{noted, "Received updated regular expressions "},
	{noted, "Refreshing regular expressions"},
	{noted, "Scanned {n} topics to refresh regular expressions"},
	{noted, "Committing offsets "},
	{noted, "Committing transactional offsets "},
	{noted, "Starting up."},
	{noted, "Startup complete."},
	{noted, "Shutting down."},
	{noted, "Shutdown complete."},
}
