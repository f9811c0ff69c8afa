package tab

import "grouplab/static/view"

// wordsOfShare are what the tab says about links, files and what goes wrong around it.
var wordsOfShare = map[string]view.Text{
	"code-copied":   {En: "The code is copied. It shows this moment, standing still.", Zh: "代码已复制。它显示这一刻，静止不动。"},
	"saved":         {En: "Saved as {0}.", Zh: "已存为 {0}。"},
	"unsaved":       {En: "The browser could not make this file: {0}", Zh: "浏览器无法生成这个文件：{0}"},
	"sandbox-title": {En: "Sandbox", Zh: "沙盒"},
	"event-number":  {En: "event {0}", Zh: "第 {0} 个事件"},
	"story-link":    {En: "This moment", Zh: "这一刻"},
	"story-what":    {En: "What happened", Zh: "经过"},
	"story-because": {En: "because", Zh: "因为"},
	"story-more":    {En: "And more: the link leads to all of it.", Zh: "后面还有：链接里是全部经过。"},
	"unstored":      {En: "This browser keeps nothing more for this page ({0}), so progress is not kept. Everything else works.", Zh: "这个浏览器不再为本页保存数据（{0}），所以进度不会保留。其余功能都正常。"},
	"was-hidden":    {En: "Time stood still for {0} while the page was hidden.", Zh: "页面隐藏期间时间停了 {0}。"},
	"crashed":       {En: "Something in the lab broke: {0}. This is the last moment before that; the address leads here. Please tell us, with this link.", Zh: "实验室内部出错：{0}。这里是出错前的最后一刻，地址就指向这里。请带上这个链接告诉我们。"},
	"crashed-start": {En: "Something in the lab broke: {0}. The lesson begins anew. Please tell us what you did.", Zh: "实验室内部出错：{0}。课程从头开始。请告诉我们你做了什么。"},
}
