package view

// wordsOfKafka say what the states of a group mean.
var wordsOfKafka = map[string]Text{
	"state.says.Empty":               {"No members. Committed offsets are kept until they expire; the first JoinGroup begins a rebalance.", "没有成员。已提交的位移保留到过期；第一个 JoinGroup 会开始再均衡。"},
	"state.says.PreparingRebalance":  {"The join phase. Every JoinGroup is held until all known members have rejoined or the rebalance timeout ends it. Heartbeats are answered REBALANCE_IN_PROGRESS.", "加入阶段。每个 JoinGroup 都会搁置，直到所有已知成员重新加入，或再均衡超时结束它。心跳得到 REBALANCE_IN_PROGRESS。"},
	"state.says.CompletingRebalance": {"The sync phase (AwaitingSync up to Kafka 1.0). The generation is new; the leader must send the assignment in its SyncGroup, the others are held until it is written.", "同步阶段（Kafka 1.0 及以前称 AwaitingSync）。已是新的一代；组长须在 SyncGroup 中交出分配结果，其他成员的 SyncGroup 搁置到它写入为止。"},
	"state.says.Stable":              {"Everyone has an assignment or can fetch it. Heartbeats re-arm session timers; commits of this generation are accepted.", "每个成员都有或可取得分配。心跳重置会话定时器；接受本代的提交。"},
	"state.says.Dead":                {"The group is being removed, or moved to another coordinator. Requests are answered COORDINATOR_NOT_AVAILABLE or UNKNOWN_MEMBER_ID.", "该组正在被移除，或移到另一个协调者。请求得到 COORDINATOR_NOT_AVAILABLE 或 UNKNOWN_MEMBER_ID。"},
}
