package event

// OpKind is a kind of delayed operation, by Kafka's class names.
type OpKind string

const (
	DelayedJoin        OpKind = "DelayedJoin"
	InitialDelayedJoin OpKind = "InitialDelayedJoin"
	DelayedSync        OpKind = "DelayedSync"
	DelayedHeartbeat   OpKind = "DelayedHeartbeat"
)

// OperationWatched fires when a delayed operation was not complete at its two tries and now waits: under its keys for
// the condition (door A) and in the wheel for its time (door B).
type OperationWatched struct {
	Op     int64    `json:"op"`
	Type   OpKind   `json:"type"`
	Keys   []string `json:"keys"`
	Member string   `json:"member,omitempty"`
	// Generation binds a DelayedSync to the generation whose members it waits for.
	Generation int32 `json:"generation,omitempty"`
	StartMs    int64 `json:"startMs"`
	DeadlineMs int64 `json:"deadlineMs"`
	// RemainingMs is how far an InitialDelayedJoin may still be extended beyond DeadlineMs.
	RemainingMs int64 `json:"remainingMs,omitempty"`
	// DeadlineOf is the member whose timeout set the deadline (the largest rebalance timeout), "" where it is a setting.
	DeadlineOf string `json:"deadlineOf,omitempty"`
	// Until says in words which condition ends it earlier; "" where only time ends it.
	Until string `json:"until,omitempty"`
	// Pending is set for the timer of an id that has not joined yet; New for the five-minute timer of a first join.
	Pending bool `json:"pending,omitempty"`
	New     bool `json:"new,omitempty"`
	// Level is the wheel (0 = 1 ms cells, 1 = 20 ms, 2 = 400 ms, …) and CellMs the start of its cell.
	Level  int   `json:"level"`
	CellMs int64 `json:"cellMs"`
	// Unswept and Over are the purgatory's, with this operation in it.
	Unswept int `json:"unswept,omitempty"`
	Over    int `json:"over,omitempty"`
}

// OperationTested fires when a knock on one of its keys tested an operation that stayed incomplete.
type OperationTested struct {
	Op  int64  `json:"op"`
	Key string `json:"key"`
	// Lacks names the clause that failed: "2 of 3 rejoined, missing c3-4e1f".
	Lacks string `json:"lacks"`
}

// OperationCompleted fires when an operation is over, once for each.
type OperationCompleted struct {
	Op   int64  `json:"op"`
	Type OpKind `json:"type"`
	// Expired is set where time was up (door B); otherwise the condition was met or the operation was replaced (door A).
	Expired bool   `json:"expired,omitempty"`
	Member  string `json:"member,omitempty"`
	// How says in words what ended it: "heartbeat", "everyone has rejoined", "replaced", "time is up".
	How string `json:"how"`
	// Unswept is how many operations that are over still lie in watch lists of the purgatory, until somebody knocks there (Kafka:
	// PurgatorySize less NumDelayedOperations). Over is how many are over by Kafka's estimate since all lists were purged, which
	// happens when there are more than 1 000. Both are told where time was up.
	Unswept int `json:"unswept,omitempty"`
	Over    int `json:"over,omitempty"`
	// Excused is set where a session timer fired for a member that waits in a shelf: nothing happens to it.
	Excused bool `json:"excused,omitempty"`
}

// TimerCascaded fires when the clock reached the cell of a coarse wheel and a timer dropped to a finer one.
type TimerCascaded struct {
	Op     int64 `json:"op"`
	From   int   `json:"from"`
	Level  int   `json:"level"`
	CellMs int64 `json:"cellMs"`
}
