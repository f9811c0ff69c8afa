// Starts the program of the page: fetches lab.wasm, shows how far that is, and says in the page what went wrong. The
// text of a lesson is there before and without it.
"use strict";

const root = new URL("../", import.meta.url).href;
const zh = () => document.documentElement.lang === "zh";
const say = (en, chinese) => (zh() ? chinese : en);

// note is the line in which progress and errors stand, above the lesson.
let note = null;
const show = (text, role) => {
  if (!note) {
    note = document.createElement("p");
    note.id = "boot";
    note.className = "reason";
    (document.getElementById("side") || document.body).prepend(note);
  }
  note.hidden = text === "";
  note.setAttribute("role", role);
  note.textContent = text;
};

const fail = (text) => {
  show(say("The lab could not start: ", "实验室没能启动：") + text, "alert");
  document.documentElement.dataset.tab = "failed";
};

// The program finds here where it is and how to speak while it has no picture yet.
globalThis.grouplab = { root, progress: (text) => show(text, "status"), fail };

// get fetches a file of dist; what is missing is told with what to do.
const get = async (name, options) => {
  const answer = await fetch(root + "dist/" + name, options);
  if (answer.ok) return answer;
  if (answer.status === 404) {
    throw new Error(say(`dist/${name} is missing; run "make run", which builds it.`, `缺少 dist/${name}；请运行“make run”来构建。`));
  }
  throw new Error(`dist/${name}: HTTP ${answer.status}`);
};

// program is the answer with lab.wasm, compressed on the way: by the server where it sets an encoding, else as
// lab.wasm.gz, unpacked here.
const program = async () => {
  const stop = new AbortController();
  const unpacks = typeof DecompressionStream !== "undefined";
  const plain = await get("lab.wasm", { signal: stop.signal }).catch((error) => error);
  const packs = plain instanceof Response && (plain.headers.get("Content-Encoding") || !unpacks);
  if (packs) return plain;
  const packed = unpacks ? await get("lab.wasm.gz").catch(() => null) : null;
  if (!packed) {
    if (plain instanceof Response) return plain; // only the plain form is there
    throw plain;
  }
  stop.abort();
  // A host may know the ending and unpack on the way.
  const body = packed.headers.get("Content-Encoding") ? packed.body : packed.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(body, { headers: { "Content-Type": "application/wasm" } });
};

// compile uses streaming where the host sends the right type.
const compile = async (answer, imports) => {
  if ((answer.headers.get("Content-Type") || "").startsWith("application/wasm")) {
    return WebAssembly.instantiateStreaming(answer, imports);
  }
  return WebAssembly.instantiate(await answer.arrayBuffer(), imports);
};

const start = async () => {
  show(say("Loading the lab …", "正在加载实验室……"), "status");
  const [answer] = await Promise.all([program(), get("wasm_exec.js").then(() => import(root + "dist/wasm_exec.js"))]);
  const go = new Go();
  const { instance } = await compile(answer, go.importObject);
  await go.run(instance); // returns only when the program has ended, which it never does by itself
  if (document.documentElement.dataset.tab !== "failed") {
    fail(say("it has stopped. Reload the page: the address still leads to this moment.", "程序停止了。请刷新页面：地址仍指向这一刻。"));
  }
};

if (typeof WebAssembly === "undefined") {
  fail(say("this browser has no WebAssembly.", "这个浏览器不支持 WebAssembly。"));
} else {
  start().catch((error) => fail(error.message));
}

// The static site works offline. A server's pages do not need that: they are shown by a program that runs here. The site
// carries its policy in its pages, since no server sets it.
if ("serviceWorker" in navigator && document.querySelector('meta[http-equiv="Content-Security-Policy"]')) {
  addEventListener("load", () => navigator.serviceWorker.register(root + "sw.js").catch(() => {})); // without it the site needs a network
}
