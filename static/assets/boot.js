// All that a page needs before and beside its program, in four parts.
//
// First, what a viewer chose about the page itself: language, theme, motion. It runs before the first paint, so that
// nothing flashes, and it works on pages that start no program. The choices stand as attributes of <html>: lang,
// data-theme (auto, light, dark), data-motion (full, reduced, none). The program reads them there; it is told of the same
// clicks afterwards, with the event "grouplab:chosen" on document as well.
//
// Then what is recorded: the first steps of a lesson, which play until its program is there, or without it.
//
// Then the contents page: progress and search. They need no program.
//
// Then the program: lab.wasm, or live.wasm where no machine is needed, is fetched, the page shows how far that is, and what went wrong is said in the page. The
// text of a lesson is there before and without it.
"use strict";
(() => {
  const root = document.documentElement;
  const orders = { lang: ["en", "zh"], theme: ["auto", "light", "dark"], motion: ["full", "reduced", "none"] };

  const read = (what) => {
    try {
      return localStorage.getItem("grouplab." + what);
    } catch {
      return null; // storage is switched off: the choice lasts as long as the page
    }
  };
  const keep = (what, value, usual) => {
    try {
      if (value === usual) localStorage.removeItem("grouplab." + what);
      else localStorage.setItem("grouplab." + what, value);
    } catch {
      // as above
    }
  };

  // A page that was asked for in a language, by ?lang=, is followed by others in it while the tab is there, until another
  // is chosen.
  const ofTab = (lang) => {
    try {
      if (lang === "") sessionStorage.removeItem("grouplab.lang");
      else if (orders.lang.includes(lang)) sessionStorage.setItem("grouplab.lang", lang);
      return sessionStorage.getItem("grouplab.lang");
    } catch {
      return null;
    }
  };

  const usual = {
    lang: (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en",
    theme: "auto",
    motion: matchMedia("(prefers-reduced-motion: reduce)").matches ? "reduced" : "full",
  };
  const asked = new URLSearchParams(location.search);
  // A link to a moment carries the language of whoever made it, as ?lang= does.
  const linked = () => (/~lang=(en|zh)/.exec(location.hash) || [])[1];
  const now = {};
  for (const what of Object.keys(orders)) {
    const first = what === "lang" ? [asked.get(what), linked(), ofTab(asked.get(what))] : [asked.get(what)];
    now[what] = [...first, read(what), usual[what]].find((v) => orders[what].includes(v));
  }

  // In somebody else's page a lesson shows its stage alone. A plain host cannot forbid to be framed, so whoever frames
  // the whole page gets that form, too.
  const framed = window.parent !== window;
  if (asked.has("embed") || framed) root.setAttribute("data-embed", "");

  // Pictures of the gallery are drawn where the page is written, in the language of its address. Elsewhere the address
  // need not say what is chosen here.
  const gallery = root.dataset.page === "gallery";
  const address = () => {
    const to = new URL(location.href);
    if (gallery) {
      to.searchParams.set("lang", now.lang);
      location.replace(to);
    } else if (to.searchParams.has("lang")) {
      to.searchParams.delete("lang");
      history.replaceState(history.state, "", to);
    }
  };
  if (gallery && root.lang !== now.lang && !asked.has("lang")) address();

  const show = (what) => {
    if (what === "lang") {
      root.lang = now.lang;
      const title = root.getAttribute("data-title-" + now.lang);
      if (title) document.title = title;
    } else {
      root.setAttribute("data-" + what, now[what]);
    }
  };
  Object.keys(orders).forEach(show);

  addEventListener("DOMContentLoaded", () => {
    show("lang");
    document.addEventListener(
      "click",
      (e) => {
        const button = e.target.closest("[data-do]");
        const what = button && button.dataset.do;
        if (what === "help") {
          const keys = document.getElementById("keys");
          if (keys && !keys.open) keys.showModal();
          return;
        }
        if (!orders[what]) return;
        const order = orders[what];
        now[what] = order[(order.indexOf(now[what]) + 1) % order.length];
        keep(what, now[what], usual[what]);
        show(what);
        if (what === "lang") {
          ofTab("");
          address();
        }
        document.dispatchEvent(new CustomEvent("grouplab:chosen", { detail: what }));
      },
      true,
    );
    // The link to whoever made this carries the moment. Nothing is sent by itself.
    document.addEventListener("click", (e) => {
      const link = e.target.closest("a[data-feedback]");
      if (link) link.href = link.dataset.feedback + encodeURIComponent(location.href);
      const open = e.target.closest("a[data-embed-open]");
      if (open) open.href = open.href.split("#")[0] + location.hash;
    });
    addEventListener("hashchange", () => {
      const lang = linked();
      if (!lang || lang === now.lang) return;
      now.lang = lang;
      show("lang");
      document.dispatchEvent(new CustomEvent("grouplab:chosen", { detail: "lang" }));
    });
  });
})();

// steps are the recorded beginning of a lesson: a list of pictures, of each the parts that differ from the one before.
const grouplabSteps = (() => {
  let list = null;
  let lang = "";
  let place = 0;
  let chosen = "";
  const drawn = {};
  const root = document.documentElement;
  const moment = () => /^#m1\./.test(location.hash);
  // serving tells whether the recorded steps are what the viewer has: until the program is there, or for good.
  const serving = () =>
    root.dataset.page === "lesson" && root.dataset.tab !== "ready" && (root.dataset.tab === "failed" || !moment()) && !root.dataset.crashed;

  const load = async () => {
    if (list && lang === root.lang) return;
    const want = root.lang;
    const answer = await fetch(`steps.${want}.json`);
    if (!answer.ok) throw new Error(`steps.${want}.json: HTTP ${answer.status}`);
    list = await answer.json();
    lang = want;
  };

  const draw = () => {
    for (const id of Object.keys(list[0].parts)) {
      const el = document.getElementById("part-" + id);
      const from = list.findLast((step, i) => i <= place && id in step.parts);
      if (el && drawn[id] !== from.parts[id]) el.innerHTML = from.parts[id];
      drawn[id] = from.parts[id];
    }
    const answer = chosen && list[place].answers && list[place].answers[chosen];
    if (answer) document.getElementById("part-lesson").innerHTML = drawn.lesson = answer.panel;
  };

  // later does what was asked for before the program was there, once it is.
  const waiting = [];
  const later = (again) => {
    if (root.dataset.tab === "ready") again();
    else if (root.dataset.tab !== "failed") waiting.push(again);
  };
  new MutationObserver(() => {
    if (root.dataset.tab === "ready") for (const again of waiting.splice(0)) again();
  }).observe(root, { attributes: true, attributeFilter: ["data-tab"] });
  const press = (key) => () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const click = (what, arg) => () => {
    const button = document.querySelector(`[data-do="${CSS.escape(what)}"]` + (arg === undefined ? "" : `[data-arg="${CSS.escape(arg)}"]`));
    if (button) button.click();
  };

  // go moves by so many pictures. again does the same in the program, where that has come meanwhile.
  const go = async (by, answer, again) => {
    try {
      await load();
    } catch {
      return; // the text is there; the rest needs the program
    }
    if (!serving()) {
      if (again) later(again);
      return;
    }
    chosen = answer || "";
    const to = place + by;
    const end = to >= list.length;
    place = Math.max(0, Math.min(to, list.length - 1));
    draw();
    document.dispatchEvent(new CustomEvent("grouplab:recorded", { detail: end }));
  };

  const moves = { next: 1, play: 1, step: 1, prev: -1, back: -1, start: -1e6, end: 1e6 };
  const keys = { n: 1, " ": 1, ArrowRight: 1, p: -1, ArrowLeft: -1, Home: -1e6 };
  addEventListener("DOMContentLoaded", () => {
    if (root.dataset.page !== "lesson") return;
    document.addEventListener("click", (e) => {
      const button = e.target.closest("[data-do]");
      if (!button || root.dataset.tab === "ready") return;
      const { do: what, arg } = button.dataset;
      if (!serving()) {
        if (what in moves) later(click(what, arg));
        return;
      }
      if (what in moves) go(moves[what], "", click(what, arg));
      if (what !== "predict-check") return;
      const picked = document.querySelector("#part-lesson input[name=predict]:checked");
      go(1, arg === "" && picked ? picked.value : "", click(what, arg));
    });
    document.addEventListener("change", (e) => {
      if (serving() && e.target.name === "predict") document.querySelector("[data-do=predict-check][data-arg='']").disabled = false;
    });
    document.addEventListener("keydown", (e) => {
      if (root.dataset.tab === "ready" || !(e.key in keys) || e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, select, textarea, dialog, button, summary")) return;
      if (e.key.length === 1 && globalThis.grouplab.stored("keys") === "off") return;
      e.preventDefault();
      if (serving()) go(keys[e.key], "", press(e.key));
      else later(press(e.key));
    });
    document.addEventListener("grouplab:chosen", () => {
      if (serving()) go(0, chosen);
    });
    if (root.lang !== root.dataset.written && serving()) go(0);
  });

  return {
    serving,
    // link is the fragment that leads to where the viewer is, "" at the start.
    link: () => (!serving() || place === 0 ? "" : ((list[place].answers || {})[chosen] || list[place]).link),
  };
})();

// Keys on the stage that need no program: the arrows up and down go through what can be selected, also through what the Tab
// key passes over; Enter on what is drawn is a click.
document.addEventListener("keydown", (e) => {
  const item = e.target.closest && e.target.closest("#stage [data-do=select]");
  if (!item || e.ctrlKey || e.altKey || e.metaKey || e.shiftKey) return;
  if ((e.key === "Enter" || e.key === " ") && item.tagName !== "BUTTON") {
    e.preventDefault();
    item.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  }
  if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
  const all = [...document.querySelectorAll("#stage [data-do=select]")].filter((el) => el.getClientRects().length > 0);
  const next = all[all.indexOf(item) + (e.key === "ArrowDown" ? 1 : -1)];
  e.preventDefault();
  if (next) next.focus();
});

// The contents page: what was done, and search.
(() => {
  const root = document.documentElement;
  const word = (id, ...args) => {
    const el = document.querySelector(`#${id} .${root.lang}`);
    return args.reduce((text, arg, i) => text.replace(`{${i}}`, arg), el ? el.textContent : "");
  };
  const prefix = /^grouplab\.(done|at)\.([a-z0-9-]+)$/;

  // progress is what is kept, by "done.ID" and "at.ID"; null where the browser keeps nothing.
  const progress = () => {
    try {
      return Object.fromEntries(Object.keys(localStorage).filter((key) => prefix.test(key)).map((key) => [key.slice(9), localStorage.getItem(key)]));
    } catch {
      return null;
    }
  };

  const mark = () => {
    const kept = progress() || {};
    let next = true;
    for (const card of document.querySelectorAll(".lesson-card[data-lesson]")) {
      const id = card.dataset.lesson;
      const at = kept["at." + id];
      const href = card.getAttribute("href").split("#")[0];
      const state = kept["done." + id] ? "done" : at ? "resume" : next ? "next" : "";
      if (state !== "done") next = false;
      card.dataset.progress = state;
      card.setAttribute("href", state === "resume" ? href + "#" + at : href);
    }
  };

  const say = (text) => (document.getElementById("progress-said").textContent = text);

  const save = () => {
    const kept = progress() || {};
    const text = JSON.stringify({ grouplab: "progress", version: 1, progress: kept }, null, 2);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "grouplab-progress.json";
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    say(word("progress-saved", Object.keys(kept).filter((key) => key.startsWith("done.")).length));
  };

  // read takes a file apart and throws with what is wrong about it, before anything is changed.
  const read = (text) => {
    let file;
    try {
      file = JSON.parse(text);
    } catch (error) {
      throw new Error("JSON: " + error.message);
    }
    if (!file || file.grouplab !== "progress" || typeof file.progress !== "object" || !file.progress) throw new Error('"grouplab": "progress"');
    const entries = Object.entries(file.progress);
    for (const [key, value] of entries) {
      if (!prefix.test("grouplab." + key) || typeof value !== "string" || value.length > 20000) throw new Error(JSON.stringify(key));
    }
    return entries;
  };

  const load = async (file) => {
    try {
      if (file.size > 1e6) throw new Error(file.size + " bytes");
      const entries = read(await file.text());
      try {
        for (const [key, value] of entries) localStorage.setItem("grouplab." + key, value);
        say(word("progress-loaded", entries.filter(([key]) => key.startsWith("done.")).length));
      } catch {
        say(word("progress-blocked"));
      }
      mark();
    } catch (error) {
      say(word("progress-bad", error.message));
    }
  };

  let sure = false;
  const forget = () => {
    if (!sure) {
      sure = true;
      say(word("progress-sure"));
      return;
    }
    sure = false;
    for (const key of Object.keys(progress() || {})) localStorage.removeItem("grouplab." + key);
    say(word("progress-forgot"));
    mark();
  };

  // The index is fetched when somebody begins to look for something, in the language of the page.
  const indexes = {};
  const index = (form) => (indexes[root.lang] ||= fetch(form.dataset.index + root.lang + ".json").then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status))));
  const most = 20;

  const excerpt = (text, words) => {
    const at = Math.min(...words.map((w) => text.toLowerCase().indexOf(w)).filter((i) => i >= 0), text.length);
    const from = at === text.length || at < 50 ? 0 : at - 40;
    return (from > 0 ? "… " : "") + text.slice(from, from + 130) + (from + 130 < text.length ? " …" : "");
  };

  const find = async (form, list, count) => {
    const words = form.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    let all;
    try {
      all = words.length ? await index(form) : [];
    } catch {
      delete indexes[root.lang];
      count.textContent = word("find-failed");
      return;
    }
    if (words.join() !== form.q.value.toLowerCase().split(/\s+/).filter(Boolean).join()) return; // typed on meanwhile
    const hits = all
      .map((entry) => [words.filter((w) => entry.title.toLowerCase().includes(w)).length, entry])
      .filter(([, entry]) => words.every((w) => (entry.title + " " + entry.text).toLowerCase().includes(w)))
      .sort(([a], [b]) => b - a);
    list.replaceChildren(
      ...hits.slice(0, most).map(([, entry]) => {
        const link = document.createElement("a");
        link.href = form.dataset.index.replace(/search\.$/, "") + entry.link;
        const title = link.appendChild(document.createElement("b"));
        title.textContent = entry.title;
        const text = link.appendChild(document.createElement("span"));
        text.textContent = excerpt(entry.text, words);
        const item = document.createElement("li");
        item.append(link);
        return item;
      }),
    );
    count.textContent = words.length === 0 ? "" : hits.length ? word("find-some", hits.length) : word("find-none");
  };

  addEventListener("DOMContentLoaded", () => {
    const form = document.querySelector(".finder");
    if (form) {
      const list = document.getElementById("found");
      const count = document.getElementById("found-count");
      form.hidden = false;
      form.addEventListener("submit", (e) => {
        e.preventDefault();
        const first = list.querySelector("a");
        if (first) first.click();
      });
      form.q.addEventListener("input", () => find(form, list, count));
      document.addEventListener("grouplab:chosen", () => find(form, list, count));
      document.addEventListener("keydown", (e) => {
        if (e.key !== "/" || e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, textarea, dialog")) return;
        e.preventDefault();
        form.q.focus();
      });
      if (form.q.value) find(form, list, count);
    }
    const tools = document.getElementById("progress-tools");
    if (!tools) return;
    tools.hidden = false;
    mark();
    addEventListener("storage", mark);
    addEventListener("pageshow", mark);
    if (progress() === null) say(word("progress-blocked"));
    document.addEventListener("click", (e) => {
      const button = e.target.closest("[data-do]");
      if (button && button.dataset.do === "progress-save") save();
      if (button && button.dataset.do === "progress-forget") forget();
    });
    document.getElementById("progress-file").addEventListener("change", (e) => {
      if (e.target.files[0]) load(e.target.files[0]);
      e.target.value = "";
    });
  });
})();

(() => {
  const site = new URL("../", document.currentScript.src).href;
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

  const root = document.documentElement;
  const lessonsGoOn = () => (root.dataset.page === "lesson" ? say(" The first steps are recorded: go through them with the buttons.", "开头几步已经录好，可以用按钮逐步查看。") : "");
  const fail = (text) => {
    root.dataset.tab = "failed";
    show(say("The lab could not start: ", "实验室没能启动：") + text + lessonsGoOn(), "alert");
  };

  // stopped says that the program has ended, and offers ways on. Nothing is loaded again by itself.
  const stopped = (text) => {
    root.dataset.tab = "failed";
    root.dataset.crashed = "true";
    show(text, "alert");
    const way = (words, href) => {
      const link = document.createElement("a");
      link.textContent = words;
      link.href = href;
      note.append(" ", link);
      return link;
    };
    way(say("Load this moment again", "重新打开这一刻"), location.href).addEventListener("click", (e) => {
      e.preventDefault();
      location.reload();
    });
    way(say("Begin anew", "从头开始"), location.pathname);
    const report = document.querySelector("a[data-feedback]");
    if (report) way(say("Tell us", "告诉我们"), report.dataset.feedback + encodeURIComponent(location.href + "\n\n" + text));
  };

  document.addEventListener("grouplab:recorded", (e) => {
    if (root.dataset.tab === "failed") return;
    show(e.detail ? say("What follows needs the lab, which is still loading …", "后面的内容需要实验室，正在加载……") : say("These steps are recorded. Loading the lab …", "这几步是录好的。正在加载实验室……"), "status");
  });

  // The program finds here where it is and how to speak while it has no picture yet.
  const ended = (what) => stopped(say(`The lab's program broke and cannot go on: ${what}. The address still leads to this moment.`, `实验室的程序出错，无法继续：${what}。地址仍指向这一刻。`));
  // Where storage is blocked even asking for it throws, which would end the program: it asks here.
  const stored = (name) => {
    try {
      return localStorage.getItem("grouplab." + name);
    } catch {
      return null;
    }
  };
  const store = (name, value) => {
    try {
      if (value === "") localStorage.removeItem("grouplab." + name);
      else localStorage.setItem("grouplab." + name, value);
      return "";
    } catch (error) {
      return error.name; // full, or blocked
    }
  };
  globalThis.grouplab = { root: site, progress: (text) => show(text, "status"), fail, ended, stored, store };

  // get fetches a file of dist; what is missing is told with what to do.
  const get = async (name, options) => {
    const answer = await fetch(site + "dist/" + name, options);
    if (answer.ok) return answer;
    if (answer.status === 404) {
      throw new Error(say(`dist/${name} is missing; run "make run", which builds it.`, `缺少 dist/${name}；请运行“make run”来构建。`));
    }
    throw new Error(`dist/${name}: HTTP ${answer.status}`);
  };

  // program is the answer with the program, compressed on the way: by the server where it sets an encoding, else as the .gz
  // beside it, unpacked here.
  const program = async (name) => {
    const stop = new AbortController();
    const unpacks = typeof DecompressionStream !== "undefined";
    const plain = await get(name, { signal: stop.signal }).catch((error) => error);
    const packs = plain instanceof Response && (plain.headers.get("Content-Encoding") || !unpacks);
    if (packs) return plain;
    const packed = unpacks ? await get(name + ".gz").catch(() => null) : null;
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

  const start = async (name) => {
    show(say("Loading the lab …", "正在加载实验室……"), "status");
    const [answer] = await Promise.all([program(name), get("wasm_exec.js").then(() => import(site + "dist/wasm_exec.js"))]);
    const go = new Go();
    const { instance } = await compile(answer, go.importObject);
    // Who went on in the recorded steps is taken over where he is; the link's check sum says whether that is the same.
    const link = grouplabSteps.link();
    if (link) history.replaceState(history.state, "", "#" + link);
    await go.run(instance); // returns only when the program has ended, which it never does by itself
    if (root.dataset.tab !== "failed") stopped(say("The lab's program has stopped. The address still leads to this moment.", "实验室的程序停止了。地址仍指向这一刻。"));
  };

  // Lessons and the live page have a program; the other pages only have choices.
  addEventListener("DOMContentLoaded", () => {
    const name = document.querySelector('meta[name="grouplab-program"]');
    if (!name) return;
    if (typeof WebAssembly === "undefined") {
      fail(say("this browser has no WebAssembly.", "这个浏览器不支持 WebAssembly。"));
    } else {
      start(name.content).catch((error) => fail(error.message));
    }
  });

  // The static site works offline. A server's pages do not need that: they are shown by a program that runs here. The site
  // carries its policy in its pages, since no server sets it.
  addEventListener("load", () => {
    if (!("serviceWorker" in navigator) || !document.querySelector('meta[http-equiv="Content-Security-Policy"]')) return;
    navigator.serviceWorker.register(site + "sw.js").catch(() => {}); // without it the site needs a network
  });
})();
