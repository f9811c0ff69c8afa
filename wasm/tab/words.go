package tab

import (
	"strings"

	"grouplab/static/view"
)

// words are what the tab itself says, beside what the view has. {0} stands for an argument. Names of Kafka's protocol
// are not translated.
var words = map[string]view.Text{
	"quiet":           {En: "Nothing will happen any more unless you do something.", Zh: "如果你不做点什么，就不会再发生任何事了。"},
	"goal-met":        {En: "The goal is reached.", Zh: "目标达成了。"},
	"step-over":       {En: "This step is over. Next goes on.", Zh: "这一步结束了，按“下一步”继续。"},
	"answer-first":    {En: "Time stands still until you have chosen an answer, or asked to be shown it.", Zh: "先选一个答案，或者直接看答案；在那之前时间不会走。"},
	"answer-right":    {En: "Right. The coordinator's copy says the same.", Zh: "答对了，协调者的副本跑出来也是这个结果。"},
	"answer-wrong":    {En: "Not so. The coordinator's copy took another way.", Zh: "不对，协调者的副本走了另一条路。"},
	"answer-shown":    {En: "Here is the answer, found by running a copy.", Zh: "答案在这里，是跑了一份副本得出来的。"},
	"nothing-asked":   {En: "Nothing is asked here.", Zh: "这里没有问题要回答。"},
	"pick-first":      {En: "Choose one of the answers first.", Zh: "请先选一个答案。"},
	"not-allowed":     {En: "This step does not offer “{0}”. Take over, and you can do what you like.", Zh: "这一步不能用“{0}”。点“由我操作”之后就可以随意操作。"},
	"forked":          {En: "You acted in the past: its {0} later events are a branch now, below the timeline.", Zh: "你在过去做了改动：后面的 {0} 个事件成了一条分支，在时间线下面。"},
	"nothing-to-undo": {En: "There is nothing to undo.", Zh: "没有可以撤销的操作。"},
	"undone":          {En: "Undone.", Zh: "已撤销。"},
	"at-start":        {En: "This is the first event that is kept.", Zh: "这里已经是保留的第一个事件。"},
	"no-such-step":    {En: "No {0} in the next half hour.", Zh: "接下来的半小时里没有{0}。"},
	"grain-event":     {En: "event", Zh: "事件"},
	"grain-request":   {En: "request", Zh: "请求"},
	"grain-state":     {En: "change of state", Zh: "状态变化"},
	"grain-timer":     {En: "timer that ends", Zh: "到期的定时器"},
	"last-step":       {En: "This was the last step. Time is yours now.", Zh: "这是最后一步，接下来时间由你掌握。"},
	"taken-over":      {En: "You have taken over. “Back to the lesson” returns to where you left it.", Zh: "现在已经由你操作。点“回到课程”可以回到离开的地方。"},
	"took-over":       {En: "The lesson is yours: start, stop, kill what you like.", Zh: "现在由你操作：启动、停止、杀死，随你。"},
	"came-back":       {En: "Back in the lesson, where you left it. U returns to what you did.", Zh: "回到了课程里离开的地方，按 U 可以回到你刚才的操作。"},
	"not-taken-over":  {En: "You are in the lesson already.", Zh: "你本来就在课程里。"},
	"step-never-ends": {En: "What this step waits for does not come.", Zh: "这一步等的事情一直没有发生。"},
	"no-cause":        {En: "Nothing led to this: it is the root of the chain.", Zh: "没有更早的原因，这里就是源头。"},
	"no-hints":        {En: "There are no more hints.", Zh: "没有更多提示了。"},
	"hint-shown":      {En: "Hint {0} of {1}: {2}", Zh: "提示 {0}/{1}：{2}"},
	"link-copied":     {En: "The link to this moment is copied.", Zh: "指向这一刻的链接已复制。"},
	"link-shape":      {En: "This link cannot be read: {0}. The lesson begins at its start.", Zh: "读不懂这个链接：{0}。课程从头开始。"},
	"link-lesson":     {En: "This link leads to a moment of lesson {0}, but this page is lesson {1}.", Zh: "这个链接指向课程 {0} 的某一刻，而本页是课程 {1}。"},
	"link-nowhere":    {En: "The moment of this link does not exist: there is no event {0}. This is the nearest one, event {1}.", Zh: "链接指向的那一刻不存在：没有第 {0} 个事件。这里是最近的一刻，第 {1} 个事件。"},
	"link-changed":    {En: "This link was made by another version of the lab: what led here may differ from what its sender saw.", Zh: "这个链接是另一个版本生成的：来到这一刻的经过可能和发送者看到的不一样。"},
	"link-broken":     {En: "This link cannot be followed to its end: {0}. This is as far as it leads.", Zh: "这个链接走不到底：{0}。这里是它能到的最远处。"},
	"chasing":         {En: "On the way to that moment: event {0} of {1}.", Zh: "正在赶往那一刻：第 {0} 个事件，共 {1} 个。"},
	"link-live":       {En: "A running cluster has no links to moments: open a lesson for that.", Zh: "运行中的集群没有“某一刻”的链接，请在课程里使用。"},
	"not-here":        {En: "“{0}” is not possible here.", Zh: "这里不能做“{0}”。"},
	"keys-off":        {En: "Single-letter keys are off. “?” still opens the help.", Zh: "单键快捷键已关闭，“?” 仍可打开帮助。"},
	"keys-on":         {En: "Single-letter keys are on.", Zh: "单键快捷键已打开。"},
	"waiting-nobody":  {En: "{0} waits for nobody.", Zh: "{0} 没有在等谁。"},
	"no-group":        {En: "There is no group yet.", Zh: "还没有消费组。"},
	"needs-token":     {En: "This page may look but not touch: open the address that was printed at start.", Zh: "这个页面只能看不能动：请打开启动时打印的地址。"},
	"asked-server":    {En: "Asked the server: {0}.", Zh: "已请求服务器：{0}。"},
	"server-refused":  {En: "The server refused: {0}", Zh: "服务器拒绝了：{0}"},
	"frozen":          {En: "The picture is frozen; what happens is kept.", Zh: "画面已冻结，期间发生的事会保留。"},
	"thawed":          {En: "The picture follows the cluster again.", Zh: "画面重新跟上集群。"},
	"gap":             {En: "{0} events were missed, {1}.", Zh: "漏掉了 {0} 个事件，跨 {1}。"},
	"gap-unknown":     {En: "Some events were missed: {0}.", Zh: "漏掉了一些事件：{0}。"},
	"connected":       {En: "Connected to the cluster.", Zh: "已连上集群。"},
	"disconnected":    {En: "The connection is lost; trying again.", Zh: "连接断开，正在重试。"},
	"failed":          {En: "That did not work: {0}", Zh: "没有成功：{0}"},
	"merged-beats":    {En: "{0} heartbeats", Zh: "{0} 次心跳"},
	"merged-more":     {En: "{0} more events", Zh: "另有 {0} 个事件"},
	"then":            {En: ", then ", Zh: "，然后 "},
}

// word says a key of the table in the page's language.
func (t *Tab) word(key string, args ...string) string {
	w, ok := words[key]
	if !ok {
		w, ok = wordsOfSandbox[key]
	}
	if !ok {
		w, ok = wordsOfShare[key]
	}
	if !ok {
		w, ok = wordsOfBranches[key]
	}
	if !ok {
		return "?" + key
	}
	s := w.In(t.options.Lang)
	for i, a := range args {
		s = strings.ReplaceAll(s, "{"+string(rune('0'+i))+"}", a)
	}
	return s
}
