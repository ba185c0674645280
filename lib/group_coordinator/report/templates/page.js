"use strict";

/* Draws the charts; where somebody serves the page, asks for news and puts them in place, section by section. */

async function draw(root) {
  const boxes = [...root.querySelectorAll(".chart")];
  await Promise.all(boxes.map(async (box) => {
    try {
      const spec = JSON.parse(box.nextElementSibling.textContent);
      await window.vegaEmbed(box, spec, { renderer: "svg", actions: false, tooltip: { theme: "page" } });
      box.dataset.drawn = "yes";
    } catch (error) {
      box.dataset.drawn = "no";
      box.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }));
}

const seen = new Map();

function remember(root) {
  for (const section of root.querySelectorAll("main > section")) {
    seen.set(section.id, section.outerHTML);
  }
}

/* The new section is drawn behind the scene first: nothing jumps, and nothing is blank for a moment. */
async function replace(section) {
  const old = document.getElementById(section.id);
  const html = section.outerHTML;
  if (!old || seen.get(section.id) === html) return;
  seen.set(section.id, html);
  section.classList.add("drawing");
  section.removeAttribute("id");
  old.after(section);
  await draw(section);
  const tables = [...old.querySelectorAll(".scroll")].map((table) => table.scrollLeft);
  section.id = old.id;
  section.classList.remove("drawing");
  old.remove();
  section.querySelectorAll(".scroll").forEach((table, number) => { table.scrollLeft = tables[number] ?? 0; });
}

function say(text) {
  document.getElementById("news").textContent = text;
}

async function refresh() {
  const answer = await fetch("content", { cache: "no-store" });
  if (!answer.ok) throw new Error(await answer.text());
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.querySelector("header").replaceWith(fresh.querySelector("header"));
  for (const section of fresh.querySelectorAll("main > section")) await replace(section);
}

async function watch(everySeconds) {
  for (;;) {
    await new Promise((wake) => setTimeout(wake, everySeconds * 1000));
    if (document.hidden) continue;
    try {
      await refresh();
    } catch (error) {
      say(`Not updated: ${error.message}`);
    }
  }
}

remember(document);
draw(document).then(() => {
  const every = Number(document.body.dataset.watchEvery);
  if (every) watch(every);
});
