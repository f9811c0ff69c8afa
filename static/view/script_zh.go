package view

import "strings"

// ScriptText is what the language of scripts says, its manuals and its errors, in the page's language. It speaks English by
// itself; Chinese is found by the wording. Names, usages and examples in it stay as they are.
func ScriptText(text string, lang Lang) string {
	if lang != Chinese || text == "" {
		return text
	}
	for _, list := range [][][2]string{manualsZh, mistakesZh} {
		for _, w := range list {
			if args, ok := unfill(w[0], text); ok {
				for i, a := range args {
					args[i] = ScriptText(a, lang)
				}
				return lang.fill(Text{Zh: w[1]}, args)
			}
		}
	}
	if code, rest, ok := strings.Cut(text, ": "); ok && code == strings.ToUpper(code) { // an error of Kafka's before its words
		return code + "：" + ScriptText(rest, lang)
	}
	if one, rest, ok := strings.Cut(text, "; "); ok {
		return ScriptText(one, lang) + "；" + ScriptText(rest, lang)
	}
	if one, rest, ok := strings.Cut(text, " is "); ok { // what is the case instead, as in: c2 is REBALANCING
		return one + " 是 " + rest
	}
	return text
}

// unfill takes out of a text what stands at each {} of a pattern. Each is as short as it can be, but the last.
func unfill(pattern, text string) (args []string, ok bool) {
	pieces := strings.Split(pattern, "{}")
	text, ok = strings.CutPrefix(text, pieces[0])
	for i := 1; i < len(pieces) && ok; i++ {
		var arg string
		switch {
		case pieces[i] == "" && i == len(pieces)-1:
			arg, text = text, ""
		case i == len(pieces)-1:
			arg, ok = strings.CutSuffix(text, pieces[i])
			text = ""
		default:
			arg, text, ok = strings.Cut(text, pieces[i])
		}
		args = append(args, arg)
	}
	return args, ok && text == ""
}

// zhLetters is what a name is made of.
const zhLetters = "：1 到 64 个字母、数字、“.”、“_” 或 “-”"

// mistakesZh are the wordings of errors and their Chinese; the first that fits is taken.
var mistakesZh = [][2]string{
	// what a line lacks, or has too much
	{"no verb \"{}\"{}", "没有 “{0}” 这个命令{1}"},
	{"the line is {} bytes long; at most {} are read", "这一行有 {0} 字节，最多读 {1} 字节"},
	{"what must fail? A command follows the '!', as in `! kill c9`", "要失败的是什么？“!” 后面跟一条命令，例如 `! kill c9`"},
	{"this quote is not closed", "这个引号没有闭合"},
	{"{} is missing: {}", "缺少 {0}：{1}"},
	{"a clause is missing beside this `and`", "这个 `and` 旁边缺一个条件"},
	{"a clause is missing after `not`", "`not` 后面缺一个条件"},
	{"\"{}\" is one word too many: {}", "“{0}” 是多余的：{1}"},
	{"there is no condition; write one as in `state Stable and members == 3`", "没有条件：写一个，例如 `state Stable and members == 3`"},
	{"no condition begins with \"{}\"{}", "没有以 “{0}” 开头的条件{1}"},
	{"\"{}\" was to fail, and did not", "“{0}” 本该失败，却成功了"},
	{"the world is there already: {} comes before the first topic", "集群已经建好了：{0} 要写在第一个主题之前"},
	{"gave up on {} after {}: {}", "等了 {1}，{0} 还不成立：{2}"},
	{"{} lacks a condition: {}", "{0} 缺一个条件：{1}"},
	{"{} lacks {}: {}", "{0} 缺少 {1}：{2}"},
	{"{}= is there twice", "{0}= 写了两次"},
	{"{}=: {}", "{0}=：{1}"},
	{"{} has no option \"{}\"{}", "{0} 没有 “{1}” 这个选项{2}"},
	{"{} has no field \"{}\"{}", "{0} 没有 “{1}” 这个字段{2}"},
	{"{} cannot follow at: a line of its own says it", "{0} 不能跟在 at 后面：请单独写一行"},
	{"after the count comes nothing, or the word {}, not \"{}\"", "次数后面什么也不写，或者写 {0}，不是 “{1}”"},
	// what a word is not
	{"\"{}\" cannot be a consumer's name: it has 1 to 64 letters, digits, '.', '_' or '-'", "“{0}” 不能作消费者的名字" + zhLetters},
	{"\"{}\" cannot be a topic's name: it has 1 to 249 letters, digits, '.', '_' or '-'", "“{0}” 不能作主题的名字：1 到 249 个字母、数字、“.”、“_” 或 “-”"},
	{"\"{}\" cannot be a transactional id: it has 1 to 64 letters, digits, '.', '_' or '-'", "“{0}” 不能作 transactional.id" + zhLetters},
	{"\"{}\" cannot be metadata here: it has 1 to 64 letters, digits, '.', '_' or '-'", "“{0}” 不能作元数据" + zhLetters},
	{"\"{}\" cannot be {}: it has 1 to 64 letters, digits, '.', '_' or '-'", "“{0}” 不能作 group.instance.id" + zhLetters},
	{"a group id is not empty", "消费组 ID 不能为空"},
	{"{} is a whole number from {} to {}, not \"{}\", or all", "{0} 是 {1} 到 {2} 的整数或 all，不是 “{3}”"},
	{"{} is a whole number from {} to {}, not \"{}\"", "{0} 是 {1} 到 {2} 的整数，不是 “{3}”"},
	{"{} is at least {} ms, not \"{}\"", "{0} 至少 {1} ms，不是 “{2}”"},
	{"no kind of event is called \"{}\"{}", "没有叫 “{0}” 的事件{1}"},
	{"\"{}\" is no duration: write 250ms, 5s, 1m or 1m30s", "“{0}” 不是时长：写作 250ms、5s、1m 或 1m30s"},
	{"\"{}\" is more than 1000 days", "“{0}” 超过 1000 天"},
	{"\"{}\" is no percentage: write 0% to 100%, as in 2.5%", "“{0}” 不是百分比：写作 0% 到 100%，例如 2.5%"},
	{"\"{}\" is no partition: write TOPIC-NUMBER, as in orders-3", "“{0}” 不是分区：写作 TOPIC-NUMBER，例如 orders-3"},
	{"\"{}\" is no FIELD=VALUE", "“{0}” 不是 FIELD=VALUE"},
	{"\"{}\" is no state of a group{}", "“{0}” 不是消费组的状态{1}"},
	{"\"{}\" is no state of a client{}", "“{0}” 不是客户端的状态{1}"},
	{"\"{}\" is no comparison{}", "“{0}” 不是比较符{1}"},
	{"\"{}\" is no number of an event", "“{0}” 不是事件的编号"},
	{"\"{}\" is no {}{}", "“{0}” 不在可选之列{2}"},
	{"no setting is called \"{}\"{}", "没有叫 “{0}” 的配置{1}"},
	{"{} is \"{}\"; it takes {}", "{0} 是 “{1}”，可取 {2}"},
	{"a group coordinator answers no \"{}\"{}", "消费组的协调者不支持 “{0}”{1}"},
	{"consumers send no \"{}\"{}", "消费者不发送 “{0}”{1}"},
	{"no coordinator writes \"{}\"{}", "协调者不写 “{0}”{1}"},
	{"no append fails with \"{}\"{}", "追加不会以 “{0}” 失败{1}"},
	{"no assignor is called \"{}\"{}", "没有叫 “{0}” 的分配器{1}"},
	{"; did you mean \"{}\"?", "；是不是想写 “{0}”？"},
	{"; there are {} and any", "；有 {0} 和 any"},
	{"; there are {}", "；有 {0}"},
	{"; it has {}", "；它有 {0}"},
	{"; it answers {}", "；它支持 {0}"},
	{"; they send {}", "；它们发送 {0}"},
	{"; README and sim.Names list them", "；README 里列有全部名称"},
	{"a number from 0 to 1", "0 到 1 的数"},
	{"true or false", "true 或 false"},
	{"only {} here", "只有 {0}"},
	{"a whole number from {} to {}", "{0} 到 {1} 的整数"},
	// what the world does not allow
	{"there is no consumer \"{}\" whose producer that could be", "没有消费者 “{0}”，也就没有它的 producer"},
	{"there is no consumer \"{}\"; there is none at all yet", "没有消费者 “{0}”：还一个都没有"},
	{"there is no consumer \"{}\"{}", "没有消费者 “{0}”{1}"},
	{"there is no consumer yet", "还没有消费者"},
	{"there is a consumer called {} already", "已经有叫 {0} 的消费者"},
	{"there is nothing to {} there: {}", "那里没有什么可以 {0}：{1}"},
	{"there is no v={} of {} here: {} to {}", "这里没有 {1} 的 v={0}：{2} 到 {3}"},
	{"there is no broker to ask: none runs", "没有可问的 broker：一个都没有运行"},
	{"there is no broker {}; there are 1 to {}", "没有 broker {0}；有 1 到 {1}"},
	{"there is no API with key {}", "没有编号为 {0} 的 API"},
	{"there is no topic \"{}\"", "没有主题 “{0}”"},
	{"there is no partition {}", "没有分区 {0}"},
	{"there cannot be {} brokers: 1 to 9", "不能有 {0} 个 broker：1 到 9 个"},
	{"{} does not run: start it first", "{0} 没有运行：先启动它"},
	{"{} runs already", "{0} 已经在运行"},
	{"{} is paused: a frozen process cannot close; resume it, or kill it", "{0} 被冻结了：冻结的进程不能关闭；先让它继续，或者杀死它"},
	{"{} is paused: resume it first", "{0} 被冻结了：先让它继续"},
	{"{} is paused already", "{0} 已经被冻结"},
	{"{} is closing already", "{0} 已经在关闭"},
	{"{} is not paused", "{0} 没有被冻结"},
	{"{} has no records to work on: it is {}", "{0} 没有记录可处理：它处于 {1}"},
	{"{} knows no coordinator yet", "{0} 还不知道协调者是谁"},
	{"broker {} does not run", "broker {0} 没有运行"},
	{"broker {} runs, or is starting already", "broker {0} 在运行，或者正在启动"},
	{"broker {} has no replica of {}", "broker {0} 没有 {1} 的副本"},
	{"broker {} is not in sync with {}; only a replica that is can lead it", "broker {0} 与 {1} 不同步；只有同步副本才能当它的 leader"},
	{"{} and broker {} are cut off from each other already", "{0} 和 broker {1} 已经被隔开"},
	{"{} and broker {} are not cut off from each other", "{0} 和 broker {1} 没有被隔开"},
	{"a latency of {} ms is out of bounds: 1 ms to 60 s", "{0} ms 的延迟超出范围：1 ms 到 60 s"},
	{"a loss of {} in a million is out of bounds: 0 to 1 000 000", "百万分之 {0} 的丢失率超出范围：0 到 1 000 000"},
	{"{} ms is out of bounds: 0 ms to 1 h", "{0} ms 超出范围：0 ms 到 1 h"},
	{"{} messages cannot be dropped, delayed or doubled: 0 to 1 000 000", "不能丢掉、延迟或重复 {0} 条报文：0 到 1 000 000"},
	{"an answer cannot be kept back for {} ms: 1 ms to 1 h", "响应不能搁置 {0} ms：1 ms 到 1 h"},
	{"{} appends are out of bounds: 0 to 1 000 000", "{0} 次追加超出范围：0 到 1 000 000"},
	{"{} cannot be changed while the brokers run: set it before the first topic", "broker 运行时不能改 {0}：要在第一个主题之前设置"},
	{"{} is {}, but there are {} brokers", "{0} 是 {1}，而 broker 有 {2} 个"},
	{"topic {} exists already", "主题 {0} 已经存在"},
	{"topic {} collides with {}: '.' and '_' count as the same", "主题 {0} 与 {1} 冲突：“.” 和 “_” 算同一个字符"},
	{"a topic's name has at most 249 characters, this one has {}", "主题的名字最多 249 个字符，这个有 {0} 个"},
	{"a topic's name has only letters a to z, digits, '.', '_' and '-', not {}", "主题的名字只有字母 a 到 z、数字、“.”、“_” 和 “-”，没有 {0}"},
	{"a topic cannot be called \"{}\"", "主题不能叫 “{0}”"},
	{"{} has {} partitions already; the new number must be larger than that, not {}", "{0} 已经有 {1} 个分区；新的数目必须更大，不能是 {2}"},
	{"this cluster has at most {} partitions: {} are there, {} more were asked for", "这个集群最多 {0} 个分区：已有 {1} 个，又要 {2} 个"},
	// what a consumer cannot be
	{"no consumer can be called \"{}\": a name has 1 to 64 letters, digits, '.', '_' or '-'", "消费者不能叫 “{0}”" + zhLetters},
	{"consumer {} subscribes to \"{}\", which does not exist: create the topic first", "消费者 {0} 订阅了不存在的 “{1}”：先创建主题"},
	{"consumer {} subscribes to nothing: give it a topic", "消费者 {0} 什么也没订阅：给它一个主题"},
	{"consumer {} has no group: give it one", "消费者 {0} 没有消费组：给它一个"},
	{"consumer {}: its commits cannot carry \"{}\" as metadata: it has 1 to 64 letters, digits, '.', '_' or '-'", "消费者 {0} 的提交不能带元数据 “{1}”" + zhLetters},
	{"consumer {}: no assignor is called \"{}\"; there are {}", "消费者 {0}：没有叫 “{1}” 的分配器；有 {2}"},
	{"consumer {}: it has the assignor {} twice", "消费者 {0}：分配器 {1} 写了两次"},
	{"consumer {}: no transactional id can be \"{}\": it has 1 to 64 letters, digits, '.', '_' or '-'", "消费者 {0}：transactional.id 不能是 “{1}”" + zhLetters},
	{"consumer {}: a transactional consumer needs an interval for its commits", "消费者 {0}：用事务的消费者需要提交间隔"},
	{"consumer {}: no instance can be called \"{}\": a name has 1 to 64 letters, digits, '.', '_' or '-'", "消费者 {0}：group.instance.id 不能是 “{1}”" + zhLetters},
	{"consumer {}: JoinGroup v{} cannot carry an instance id: v5 is the first that can", "消费者 {0}：JoinGroup v{1} 带不了 group.instance.id，v5 起才可以"},
	{"consumer {}: its heartbeat interval ({} ms) must be below its session timeout ({} ms)", "消费者 {0}：心跳间隔（{1} ms）必须小于会话超时（{2} ms）"},
	{"consumer {}: its {} is {}; it goes from {} to {}", "消费者 {0}：{1} 是 {2}，范围是 {3} 到 {4}"},
	{"session timeout", "会话超时"}, {"rebalance timeout", "再均衡超时"}, {"heartbeat interval", "心跳间隔"},
	{"auto-commit interval", "自动提交间隔"}, {"metadata age", "元数据的最长时间"}, {"retry back-off", "重试间隔"},
	{"request timeout", "请求超时"}, {"rate", "速率"}, {"transaction timeout", "事务超时"}, {"version of JoinGroup", "JoinGroup 的版本"},
	// what is the case instead
	{"expected {}, but {}", "期望 {0}，而 {1}"},
	{"{} is over: it is {}; step back, or click there on the timeline", "{0} 已经过去：现在是 {1}；请退回，或在时间线上点那里"},
	{"{} is over: it is {}", "{0} 已经过去：现在是 {1}"},
	{"state is {}", "状态是 {0}"}, {"generation is {}", "代是 {0}"}, {"no broker has the group", "没有 broker 持有该消费组"},
	{"there is 1 member", "有 1 个成员"}, {"there are {} members", "有 {0} 个成员"}, {"nobody owns {}", "{0} 没有所有者"},
	{"{} is owned by {}", "{0} 归 {1}"}, {"{} partitions have no owner: {}", "{0} 个分区没有所有者：{1}"},
	{"every partition has an owner", "每个分区都有所有者"}, {"{} is committed at {}", "{0} 提交到 {1}"},
	{"{} has no committed offset", "{0} 没有已提交的位移"}, {"the group waits for nobody", "消费组没有在等谁"},
	{"the group waits for {}", "消费组在等 {0}"}, {"broker {} has the group", "broker {0} 持有该消费组"},
	{"the leader is {}", "组长是 {0}"}, {"there is no leader", "没有组长"}, {"it is {}", "现在是 {0}"},
	{"no {} happened", "没有发生 {0}"}, {"{} happened, {} in number", "{0} 发生了 {1} 次，但条件不符"}, {"{} happened", "发生了 {0}"},
	// what a run and a lesson cannot be
	{"{} cannot be negated here", "这里不能对 {0} 用 “!”"},
	{"{} cannot be negated in a run", "运行里不能对 {0} 用 “!”"},
	{"a run has at most {} commands", "一次运行最多 {0} 条命令"},
	{"more than {} events happen until then; a run is shorter", "到那时会发生 {0} 个以上的事件，一次运行没有这么长"},
	{"nothing has become of it yet: let time pass until the group has changed, then make the lesson", "还没有发生什么：先让时间过去，等消费组有了变化，再做成课程"},
	{"the end comes by itself, without what was done: do something that changes the group", "什么都不做也会有同样的结局：做点能改变消费组的事"},
	{"step {} is never over: {}", "步骤 {0} 永远不会结束：{1}"},
	{"the run does not work as a lesson: {}", "这次运行做不成课程：{0}"},
	{"the lesson would end short of its goal: {}", "课程到不了自己的目标：{0}"},
	// what a link is not
	{"it names no event; a link ends with @EVENT-HASH", "没有写事件；链接以 @EVENT-HASH 结尾"},
	{"it begins with \"{}\", links of this lab begin with \"{}\"", "开头是 “{0}”，而这里的链接以 “{1}” 开头"},
	{"it names no lesson", "没有写课程"},
	{"it has {} inputs, at most {} are followed", "有 {0} 个操作，最多跟随 {1} 个"},
	{"\"{}\" at its end is cut or changed", "结尾的 “{0}” 被截断或改动了"},
	{"its check sum \"{}\" is cut or changed", "校验和 “{0}” 被截断或改动了"},
	{"input {}, \"{}\", {}", "第 {0} 个操作 “{1}” {2}"},
	{"is none: it begins with n, p, t or c and a time", "不是操作：开头应是 n、p、t 或 c，再加时刻"},
	{"has no time in base 36", "没有 36 进制的时刻"},
	{"is escaped wrongly", "转义有误"},
	{"no input is called \"{}\"", "没有叫 “{0}” 的操作"},
	{"\"{}\" is nothing that a learner can do", "“{0}” 不是学习者能做的事"},
	{"input {} is given at {} ms, but the lesson stands still at {} ms then", "第 {0} 个操作在 {1} ms，而那时课程停在 {2} ms"},
	{"the lesson did not repeat itself up to event {}; please report this with the link to this moment", "到第 {0} 个事件为止，课程没有重现；请把这一刻的链接告诉我们"},
	{"it is not over after {} moments", "过了 {0} 个时刻还没有结束"},
}
