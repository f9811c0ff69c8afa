// All that a page needs before and beside its program, in two parts.
//
// First, what a viewer chose about the page itself: language, theme, motion. It runs before the first paint, so that
// nothing flashes, and it works on pages that start no program. The choices stand as attributes of <html>: lang,
// data-theme (auto, light, dark), data-motion (full, reduced, none). The program reads them there; it is told of the same
// clicks afterwards, with the event "grouplab:chosen" on document as well.
//
// Then the program: lab.wasm is fetched, the page shows how far that is, and what went wrong is said in the page. The
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

  const usual = {
    lang: (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en",
    theme: "auto",
    motion: matchMedia("(prefers-reduced-motion: reduce)").matches ? "reduced" : "full",
  };
  const asked = new URLSearchParams(location.search);
  const now = {};
  for (const what of Object.keys(orders)) {
    now[what] = [asked.get(what), read(what), usual[what]].find((v) => orders[what].includes(v));
  }

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
        if (what === "lang") address();
        document.dispatchEvent(new CustomEvent("grouplab:chosen", { detail: what }));
      },
      true,
    );
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

  const fail = (text) => {
    show(say("The lab could not start: ", "实验室没能启动：") + text, "alert");
    document.documentElement.dataset.tab = "failed";
  };

  // The program finds here where it is and how to speak while it has no picture yet.
  globalThis.grouplab = { root: site, progress: (text) => show(text, "status"), fail };

  // get fetches a file of dist; what is missing is told with what to do.
  const get = async (name, options) => {
    const answer = await fetch(site + "dist/" + name, options);
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
    const [answer] = await Promise.all([program(), get("wasm_exec.js").then(() => import(site + "dist/wasm_exec.js"))]);
    const go = new Go();
    const { instance } = await compile(answer, go.importObject);
    await go.run(instance); // returns only when the program has ended, which it never does by itself
    if (document.documentElement.dataset.tab !== "failed") {
      fail(say("it has stopped. Reload the page: the address still leads to this moment.", "程序停止了。请刷新页面：地址仍指向这一刻。"));
    }
  };

  // Lessons and the live page have a program; the other pages only have choices.
  addEventListener("DOMContentLoaded", () => {
    if (!document.querySelector('meta[name="grouplab-program"]')) return;
    if (typeof WebAssembly === "undefined") {
      fail(say("this browser has no WebAssembly.", "这个浏览器不支持 WebAssembly。"));
    } else {
      start().catch((error) => fail(error.message));
    }
  });

  // The static site works offline. A server's pages do not need that: they are shown by a program that runs here. The site
  // carries its policy in its pages, since no server sets it.
  addEventListener("load", () => {
    if (!("serviceWorker" in navigator) || !document.querySelector('meta[http-equiv="Content-Security-Policy"]')) return;
    navigator.serviceWorker.register(site + "sw.js").catch(() => {}); // without it the site needs a network
  });
})();
