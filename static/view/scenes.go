package view

import (
	"embed"
	"strings"

	"grouplab/coordinator/event"
)

// Scene is a picture of the gallery whose facts come from the simulator: a script is run to its end, and what happened is
// folded. The script is in the language of lessons; this package has no simulator, so a host runs it and gives the facts.
type Scene struct {
	Name  string
	Title Text
	// Note says what is to be seen.
	Note Text
	// Selected is what the selection card explains.
	Selected string
}

//go:embed scenes/*.txt
var sceneScripts embed.FS

// scenes in the order of the list.
var scenes = []Scene{
	{"static-fenced", Text{"Static members: replaced, and fenced", "静态成员：被替换与被 fence"},
		Text{"The pin holds a group.instance.id. Struck ids are earlier incarnations of the same member: c2 restarted without a rebalance; then c3 came with its instance id, and c2 is answered FENCED_INSTANCE_ID.",
			"图钉固定 group.instance.id。划去的 id 是同一成员的先前化身：c2 重启时没有 rebalance；随后 c3 带着它的实例 id 加入，c2 得到 FENCED_INSTANCE_ID。"}, ""},
	{"pending-id", Text{"An id was given out, and nobody is a member", "发出了 id，却没有成员"},
		Text{"A square timer is an id that was handed out (KIP-394). It is no member: it has no assignment, and its time runs out.",
			"方形计时器表示一个已发出的 id（KIP-394）。它不是成员：没有分配，时间一到就作废。"}, ""},
	{"txn-open", Text{"Offsets of a transaction wait for its marker", "事务的 offset 在等标记"},
		Text{"A folded corner is a record of a transaction. What is in the siding is in the log, and nobody sees it until the marker comes.",
			"折角表示事务记录。侧线里的内容已在日志中，但在标记到来之前谁也看不到。"}, ""},
	{"txn-aborted", Text{"The transaction was aborted: its offsets are dropped", "事务被中止：它的 offset 被丢弃"},
		Text{"The next process with the same transactional id fenced the old epoch and had its transaction aborted. The ABORT marker strikes what it had written; what was committed before still counts.",
			"使用同一 transactional id 的下一个进程 fence 了旧 epoch，并中止了它的事务。ABORT 标记划去它写入的内容；此前提交的仍然有效。"}, ""},
	{"expiring", Text{"Offsets of an empty group will expire", "空组的 offset 将会过期"},
		Text{"The hourglass says when they expire and by which rule (KIP-211); the clean-up job then writes tombstones.",
			"沙漏说明何时、按哪条规则过期（KIP-211）；届时清理任务写入 tombstone。"}, ""},
	{"expired", Text{"Offsets expired: each tombstone deletes one key", "offset 已过期：每个 tombstone 删除一个键"},
		Text{"Nobody reads the topic old any more, so its offsets expired. Each tombstone hangs on a thread to the record that it kills. Those of orders are kept: a member reads it.",
			"topic old 已无人读取，其 offset 过期。每个 tombstone 用线连到被它杀死的记录。orders 的 offset 保留：有成员读取它。"}, ""},
	{"compacted", Text{"Compaction, before and after", "压实：之前与之后"},
		Text{"Above the log as it was, below what is left, each record at the offset that it had. What is below the last cleaned offset is clean; the rest is dirty.",
			"上面是压实前的日志，下面是留下的记录，offset 不变。清理点以前是干净的，其余未压实。"}, ""},
	{"compacted-all", Text{"Compaction: every reason for which a record goes", "压实：记录被移除的各种原因"},
		Text{"Superseded, aborted, a marker of which nothing else is left, a tombstone whose time is over.",
			"被取代、被中止、事务已无其他记录的标记、到期的 tombstone。"}, ""},
	{"loading-records", Text{"The next coordinator reads the log, record by record", "下一任 coordinator 逐条读取日志"},
		Text{"The old coordinator was killed. Until the log is read, who joins is answered COORDINATOR_LOAD_IN_PROGRESS; heartbeats are answered NONE, so that nobody is thrown out.",
			"原 coordinator 被杀。日志读完之前，加入者得到 COORDINATOR_LOAD_IN_PROGRESS；心跳得到 NONE，因此没有人被移除。"}, ""},
	{"loaded", Text{"Loaded: the group is back, and its member said nothing", "加载完成：组回来了，成员没有说一句话"},
		Text{"Members, their assignment and the offsets come from the log alone. Every session begins anew.",
			"成员、分配与 offset 全部来自日志。每个会话重新开始。"}, ""},
	{"append-failed", Text{"The log refuses a commit", "日志拒绝一次提交"},
		Text{"Two of three replicas are gone and min.insync.replicas is 2. The log says NOT_ENOUGH_REPLICAS; the client is told COORDINATOR_NOT_AVAILABLE, as in Kafka, and tries again.",
			"三个副本没了两个，而 min.insync.replicas 为 2。日志返回 NOT_ENOUGH_REPLICAS；客户端得到的是 COORDINATOR_NOT_AVAILABLE，与 Kafka 一致，然后重试。"}, ""},
}

// Scenes are the pictures of the gallery that a host makes by running their scripts.
func Scenes() []Scene { return scenes }

// Script is a scene's script.
func (s Scene) Script() string {
	text, err := sceneScripts.ReadFile("scenes/" + s.Name + ".txt")
	if err != nil {
		panic("view: the scene " + s.Name + " has no script: " + err.Error())
	}
	return string(text)
}

// Of makes the picture of what a scene's script did until nowMs.
func (s Scene) Of(events []event.Event, nowMs int64) Named {
	m := NewModel()
	for _, e := range events {
		m.Apply(e)
	}
	m.SetNow(nowMs)
	o := galleryOptions(s.Selected)
	for _, line := range strings.Split(s.Script(), "\n") {
		if group, found := strings.CutPrefix(line, "group "); found {
			o.Group = group
		}
	}
	return Named{s.Name, s.Title, m, o}
}

// sceneNamed finds a scene, nil where none has the name.
func sceneNamed(name string) *Scene {
	for i := range scenes {
		if scenes[i].Name == name {
			return &scenes[i]
		}
	}
	return nil
}
