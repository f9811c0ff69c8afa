package tab

import (
	"slices"
	"strings"

	"grouplab/static/view"
)

// waitClause says in words one kind of clause that a lesson's step may wait for. Like holds the words of the clause as
// a script writes them; a word {0} or {1} of it stands for any name or number, to be put where Says has the same.
type waitClause struct {
	Like string
	Says view.Text
}

var waitClauses = []waitClause{
	{"event CoordinatorFound client={0}", view.Text{En: "{0} has found its coordinator", Zh: "{0} 找到协调者"}},
	{"event MemberIDIssued", view.Text{En: "the coordinator has given out a member id", Zh: "协调者发出一个成员 ID"}},
	{"event ReplyParked api=11", view.Text{En: "a JoinGroup is parked", Zh: "有 JoinGroup 被搁置"}},
	{"event ReplyParked api=14", view.Text{En: "a SyncGroup is parked", Zh: "有 SyncGroup 被搁置"}},
	{"event GenerationStarted", view.Text{En: "a new generation has begun", Zh: "新的一代开始"}},
	{"event RebalanceStarted", view.Text{En: "a rebalance has begun", Zh: "再均衡开始"}},
	{"event ClientAssigned client={0}", view.Text{En: "{0} knows what to read", Zh: "{0} 知道自己该读什么"}},
	{"event HeartbeatReceived member={0}", view.Text{En: "the next heartbeat of {0} has arrived", Zh: "{0} 的下一次心跳到达"}},
	{"event MemberRemoved member={0}", view.Text{En: "{0} has been removed from the group", Zh: "{0} 被移出消费组"}},
	{"event HeartbeatReceived member={0} code={1}", view.Text{En: "a heartbeat of {0} is answered {1}", Zh: "{0} 的心跳得到 {1}"}},
	{"event ReplyReceived client={0} api={1}", view.Text{En: "{0} has the answer to its {1}", Zh: "{0} 收到 {1} 的响应"}},
	{"event ReplySent code={0}", view.Text{En: "a request is answered {0}", Zh: "有请求得到 {0}"}},
	{"event ClientRevoked client={0}", view.Text{En: "{0} has given up its partitions", Zh: "{0} 放弃了分区"}},
	{"event ClientFailed client={0}", view.Text{En: "{0} ends with an error", Zh: "{0} 因错误退出"}},
	{"event MessageLost client={0}", view.Text{En: "a message of {0} is lost", Zh: "{0} 的一条报文丢失"}},
	{"event OffsetsCommitted", view.Text{En: "an offset is committed", Zh: "有位移提交成功"}},
	{"event OffsetsRefused", view.Text{En: "a commit is refused", Zh: "有提交被拒绝"}},
	{"event AppendFinished", view.Text{En: "the log has answered", Zh: "日志有了结果"}},
	{"event GroupRemoved", view.Text{En: "the group is removed", Zh: "消费组被移除"}},
	{"committed {0} >= {1}", view.Text{En: "{0} is committed at {1} or beyond", Zh: "{0} 至少提交到 {1}"}},
	{"committed {0} == {1}", view.Text{En: "{0} is committed at {1}", Zh: "{0} 提交到 {1}"}},
	{"owner {0} {1}", view.Text{En: "{1} owns {0}", Zh: "{0} 归 {1}"}},
	{"unowned == 0", view.Text{En: "every partition has an owner", Zh: "每个分区都有所有者"}},
	{"waiting-for {0}", view.Text{En: "the group waits for {0}", Zh: "消费组在等 {0}"}},
	{"not waiting-for {0}", view.Text{En: "no longer for {0}", Zh: "不再等 {0}"}},
	{"state {0}", view.Text{En: "the group is {0}", Zh: "消费组处于 {0}"}},
	{"members == {0}", view.Text{En: "it has {0} members", Zh: "有 {0} 个成员"}},
	{"generation >= {0}", view.Text{En: "its generation is {0} or later", Zh: "到了第 {0} 代或更晚"}},
	{"client {0} {1}", view.Text{En: "{0} is {1}", Zh: "{0} 处于 {1}"}},
}

// nowClauses say what is the case where a goal does not hold: Like is what package script says. {0} may stand for any
// word. The first that fits counts.
var nowClauses = []waitClause{
	{"state is {0}", view.Text{Zh: "现在是 {0}"}},
	{"no broker has the group", view.Text{Zh: "还没有 broker 持有这个消费组"}},
	{"generation is {0}", view.Text{Zh: "现在是第 {0} 代"}},
	{"there is 1 member", view.Text{Zh: "现在有 1 个成员"}},
	{"there are {0} members", view.Text{Zh: "现在有 {0} 个成员"}},
	{"{0} is owned by {1}", view.Text{Zh: "{0} 归 {1}"}},
	{"nobody owns {0}", view.Text{Zh: "{0} 没有所有者"}},
	{"every partition has an owner", view.Text{Zh: "每个分区都有所有者"}},
	{"{0} is committed at {1}", view.Text{Zh: "{0} 提交到 {1}"}},
	{"{0} has no committed offset", view.Text{Zh: "{0} 没有已提交的位移"}},
	{"the group waits for nobody", view.Text{Zh: "消费组没有在等谁"}},
	{"broker {0} has the group", view.Text{Zh: "持有消费组的是 broker {0}"}},
	{"the leader is {0}", view.Text{Zh: "组长是 {0}"}},
	{"there is no leader", view.Text{Zh: "没有组长"}},
	{"it is {0}", view.Text{Zh: "现在是 {0}"}},
	{"{0} is {1}", view.Text{Zh: "{0} 处于 {1}"}},
}

// nowWords says in the page's language what package script says in English.
func nowWords(now string, lang view.Lang) string {
	if lang != view.Chinese || now == "" {
		return now
	}
	list := strings.Split(now, "; ")
	for i, clause := range list {
		list[i], _ = wordsOf(nowClauses, clause, lang)
		if before, after, found := strings.Cut(clause, " partitions have no owner: "); found {
			list[i] = before + " 个分区没有所有者：" + after
		}
	}
	return strings.Join(list, "；")
}

// waitWords says a condition of a lesson's script in words. Where a clause has none, the step's own text says what comes.
func waitWords(condition string, lang view.Lang) string {
	var said []string
	for clause := range strings.SplitSeq(condition, " and ") {
		text, ok := wordsOf(waitClauses, clause, lang)
		if !ok {
			return view.Text{En: "what it is about has happened", Zh: "这一步要看的事发生"}.In(lang)
		}
		said = append(said, text)
	}
	if lang == view.Chinese {
		return strings.Join(said, "，")
	}
	if last := len(said) - 1; last > 0 {
		return strings.Join(said[:last], ", ") + " and " + said[last]
	}
	return said[0]
}

// wordsOf says one clause, and whether there are words for it.
func wordsOf(list []waitClause, clause string, lang view.Lang) (string, bool) {
	have := strings.FieldsFunc(clause, isBreak)
	for _, c := range list {
		names, ok := matchWords(have, strings.FieldsFunc(c.Like, isBreak))
		if !ok {
			continue
		}
		text := c.Says.In(lang)
		for i, name := range names {
			text = strings.ReplaceAll(text, "{"+string(rune('0'+i))+"}", name)
		}
		return text, true
	}
	return clause, false
}

func isBreak(r rune) bool { return r == ' ' || r == '=' }

// matchWords returns what stands for {0}, {1} … in the pattern.
func matchWords(have, like []string) ([]string, bool) {
	var names []string
	same := slices.EqualFunc(have, like, func(word, pattern string) bool {
		if strings.HasPrefix(pattern, "{") {
			names = append(names, word)
			return true
		}
		return word == pattern
	})
	return names, same
}
