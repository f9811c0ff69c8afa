// Brings the program's HTML of a part into the page. Elements that are there already stay and only what differs is changed: so
// only that is styled, laid out and painted again, and the focus, scroll positions and what was unfolded are kept. What the
// viewer has done to a field is not: it shows what the HTML says.
"use strict";
(() => {
  const template = document.createElement("template");

  // settled tells whether an element keeps an attribute that its new HTML has not: what the viewer unfolded stays so.
  const settled = (el, name) => name === "open" && el.id !== "";

  const attributes = (old, fresh) => {
    const place = old.dataset.scroll;
    for (const name of fresh.getAttributeNames()) {
      const value = fresh.getAttribute(name);
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    for (const name of old.getAttributeNames()) if (!fresh.hasAttribute(name) && !settled(old, name)) old.removeAttribute(name);
    if (place !== old.dataset.scroll) old.scrollTo(0, 0); // something else begins at its top
  };

  // node makes one node like another. keep is an element that the viewer drags: it stays as it is, and so do those that hold it.
  const node = (old, fresh, keep) => {
    if (old === keep || old.isEqualNode(fresh)) return;
    const holds = keep && old.contains(keep);
    if (old.nodeName !== fresh.nodeName) {
      if (!holds) old.replaceWith(fresh);
    } else if (old.nodeType !== Node.ELEMENT_NODE) {
      old.data = fresh.data;
    } else {
      if (!holds) attributes(old, fresh);
      children(old, fresh, keep);
    }
  };

  // children pairs what is between the first and the last that differ, in order; what is left over comes or goes.
  const children = (old, fresh, keep) => {
    const olds = Array.from(old.childNodes);
    const news = Array.from(fresh.childNodes);
    let from = 0;
    let gone = olds.length;
    let come = news.length;
    while (from < gone && from < come && olds[from].isEqualNode(news[from])) from++;
    while (gone > from && come > from && olds[gone - 1].isEqualNode(news[come - 1])) gone--, come--;
    const end = olds[gone] || null;
    for (; from < gone && from < come; from++) node(olds[from], news[from], keep);
    for (let i = from; i < gone; i++) if (!keep || !olds[i].contains(keep)) olds[i].remove();
    for (let i = from; i < come; i++) old.insertBefore(news[i], end);
  };

  // fields show what their HTML says.
  const fields = (part, keep) => {
    for (const field of part.querySelectorAll("input, textarea, select")) {
      if (field === keep || field.type === "file") continue;
      if (field.type === "radio" || field.type === "checkbox") field.checked = field.defaultChecked;
      else if (field.tagName === "SELECT") field.selectedIndex = Math.max(0, [...field.options].findIndex((o) => o.defaultSelected));
      else if (field.value !== field.defaultValue) field.value = field.defaultValue;
    }
  };

  // name is a selector by which an element is found again where its part was drawn anew.
  const name = (el) => {
    if (el.id) return "#" + CSS.escape(el.id);
    const said = ["data-do", "data-arg", "data-key", "name", "value", "href"].filter((n) => el.hasAttribute(n));
    return el.tagName.toLowerCase() + said.map((n) => `[${n}="${CSS.escape(el.getAttribute(n))}"]`).join("");
  };

  // focus returns what gives the focus back to what has it now, where that is another element afterwards.
  const focus = (part) => {
    const active = document.activeElement;
    if (!active || active === part || !part.contains(active)) return () => {};
    const selector = name(active);
    const nth = [...part.querySelectorAll(selector)].indexOf(active);
    const { selectionStart: start, selectionEnd: end } = active;
    return () => {
      const found = part.querySelectorAll(selector);
      if (!found.length || (document.activeElement === active && active.matches(selector))) return;
      const again = found[Math.min(nth, found.length - 1)];
      again.focus({ preventScroll: true });
      if (typeof start === "number" && typeof again.selectionStart === "number") again.setSelectionRange(start, end);
    };
  };

  // news returns what scrolls to what a lesson's panel says anew: the beginning of another step where the whole page scrolls; of the
  // same step the replies to an answer, the first where not all have room, or a hint.
  const news = (part) => {
    const said = () => {
      const body = part.querySelector(".lesson-body");
      return body && { step: body.dataset.scroll, replies: part.querySelectorAll(".option-why"), hints: part.querySelectorAll(".hint") };
    };
    const was = said();
    return () => {
      const now = said();
      if (!was || !now) return;
      const show = (el) => el && el.scrollIntoView({ block: "nearest" });
      if (now.step !== was.step) {
        show(part.querySelector(".lesson-body > *"));
      } else if (now.replies.length > was.replies.length) {
        show(now.replies[now.replies.length - 1]);
        show(now.replies[was.replies.length]);
      } else if (now.hints.length > was.hints.length) {
        show(now.hints[now.hints.length - 1]);
      }
    };
  };

  // A way that is shorter than this is not animated: the next frames draw it.
  const shortMs = 40;
  const ways = new WeakMap();

  // travel moves what is on the wire: an element with data-move-ms is drawn at data-move-from and glides to data-move-to, both
  // fractions of the wire's width, which is its own.
  const travel = (part, rate) => {
    for (const el of part.querySelectorAll("[data-move-ms]")) {
      const { moveMs, moveFrom, moveTo } = el.dataset;
      const way = [moveMs, moveFrom, moveTo, rate].join();
      if (ways.get(el) === way) continue;
      ways.set(el, way);
      for (const a of el.getAnimations()) a.cancel();
      const duration = moveMs * rate;
      if (!(duration > shortMs)) continue;
      el.animate([{ transform: "translateX(0)" }, { transform: `translateX(${100 * (moveTo - moveFrom)}%)` }], { duration, fill: "forwards" });
    }
  };

  // patch shows html in the part with an id. dragged is a slider that the pointer drags, or null; rate is for how many
  // milliseconds of the viewer one of the world's lasts, 0 where time stands.
  globalThis.grouplab.patch = (id, html, dragged, rate) => {
    const part = document.getElementById(id);
    if (!part) return;
    const keep = dragged && part.contains(dragged) ? dragged : null;
    const refocus = focus(part);
    const follow = news(part);
    template.innerHTML = html;
    children(part, template.content, keep);
    fields(part, keep);
    refocus();
    follow();
    travel(part, rate);
  };

  // The program need not draw what nobody sees: it is told which parts are out of sight. A part without a place may show
  // something at any moment and is none of them.
  const hidden = new Set();
  globalThis.grouplab.hidden = () => [...hidden].join(" ");
  addEventListener("DOMContentLoaded", () => {
    const sight = new IntersectionObserver(
      (list) => {
        for (const { target, isIntersecting, boundingClientRect } of list) {
          const away = !isIntersecting && (boundingClientRect.height > 0 || target.closest("details:not([open])"));
          hidden[away ? "add" : "delete"](target.id.replace("part-", ""));
        }
        document.dispatchEvent(new CustomEvent("grouplab:sight"));
      },
      { rootMargin: "50%" },
    );
    for (const part of document.querySelectorAll("[id^=part-]")) sight.observe(part);
  });
})();
