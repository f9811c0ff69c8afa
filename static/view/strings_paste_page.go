package view

// wordsOfPastePage are the words of the shell of the page of a pasted log.
var wordsOfPastePage = map[string]Text{
	"nav.paste":        {"Paste a log", "粘贴日志"},
	"title.paste":      {"Paste your log", "粘贴你的日志"},
	"side.paste":       {"The log", "日志"},
	"paste.label":      {"Lines of a broker’s or a consumer’s log", "服务器或消费者的日志"},
	"paste.go":         {"Show", "显示"},
	"paste.file":       {"Choose a file", "选择文件"},
	"paste.example":    {"Show me one", "看个例子"},
	"paste.private":    {"It stays in this browser: nothing is sent anywhere, and the page may not. A file can be dropped here, too. A link cannot carry a log.", "内容只留在这个浏览器里：不会发往任何地方，本页也无权发送。也可以把文件拖到这里。链接带不走日志。"},
	"paste.more":       {"Refused, and not understood", "被拒绝的、没看懂的"},
	"contents.paste":   {"You have a log?", "手里有日志？"},
	"contents.paste.1": {"Paste the lines that a broker or a consumer wrote: they become the same picture, in your browser, and nothing leaves it.", "把服务器或消费者写下的日志粘贴进来，就会变成同样的图；全部在浏览器里完成，内容不会外传。"},
	"paste.groups":     {"Groups in this log", "日志里的消费组"},
}
