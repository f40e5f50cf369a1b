// Texts in both languages, and which of them is spoken.
const WORDS = {
  en: {
    title: "Training advisor", open: "Open the assistant", close: "Close", ask: "Ask a question", send: "Send", stop: "Stop",
    fresh: "New conversation", greeting: "Ask about training models in the cloud. Every statement comes with its source.",
    understanding: "Understanding …", searching: "Searching …", calculating: "Calculating …", writing: "Writing …", checking: "Checking …",
    not_covered: "Not covered by the documents", needs_input: "More information is needed", refused: "Declined", answered: "",
    source: "Source", calculation: "Calculation", up: "Helpful", down: "Not helpful", page: "p. {n}",
    reason: "What was wrong?", save: "Save", thanks: "Thank you.", stopped: "Stopped.", formula: "Formula:", again: "Try again",
    unreachable: "The assistant can't be reached from this page.", expired: "The session has ended. Reload the page to go on.",
    today: "That was a lot for one day. Please go on tomorrow.", soon: "Too many questions at once. Please wait a moment.",
    failed: "That didn't work.",
    log: "Messages",
  },
  zh: {
    title: "训练顾问", open: "打开助手", close: "关闭", ask: "输入问题", send: "发送", stop: "停止",
    fresh: "新对话", greeting: "可以问云上训练模型的问题，每句话都有出处。",
    understanding: "理解问题 …", searching: "检索资料 …", calculating: "计算 …", writing: "组织回答 …", checking: "核对来源 …",
    not_covered: "资料未覆盖", needs_input: "需要补充信息", refused: "已婉拒", answered: "",
    source: "来源", calculation: "计算", up: "有帮助", down: "没帮助", page: "第 {n} 页",
    reason: "哪里不好？", save: "保存", thanks: "谢谢。", stopped: "已停止。", formula: "计算式：", again: "重试",
    unreachable: "此页面无法连接助手。", expired: "会话已结束，请刷新页面后继续。",
    today: "今天问得够多了，请明天再来。", soon: "提问太频繁，请稍等片刻。",
    failed: "出错了。",
    log: "消息",
  },
};

/** The language that was set, or else the page's, or else the browser's first that is spoken here. */
function language(chosen) {
  const wanted = [chosen, document.documentElement.lang, ...navigator.languages];
  for (const tag of wanted) {
    const name = (tag || "").toLowerCase().slice(0, 2);
    if (name in WORDS) return name;
  }
  return "en";
}
