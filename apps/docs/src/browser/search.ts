import MiniSearch from "minisearch";
import { siteUrl } from "./place.ts";

interface Sections {
  readonly pages: readonly (readonly [path: string, title: string, group: string])[];
  readonly sections: readonly (readonly [page: number, id: string, heading: string, text: string])[];
}

interface Found {
  readonly href: string;
  readonly title: string;
  readonly place: string;
  readonly excerpt: string;
}

type Find = (text: string) => Found[];

const maxResults = 12;

async function readIndex(): Promise<Find> {
  const answer = await fetch(new URL(document.documentElement.dataset.search ?? "", siteUrl));
  if (!answer.ok) throw new Error(`The service answered ${answer.status}.`);
  const { pages, sections } = (await answer.json()) as Sections;
  const index = new MiniSearch<{ id: number; heading: string; title: string; text: string }>({
    fields: ["heading", "title", "text"],
    // `browsers.create` is also found by its parts.
    tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => [word, ...splitName(word)]),
    searchOptions: { boost: { heading: 4, title: 3 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
  });
  index.addAll(sections.map(([page, , heading, text], id) => ({ id, heading, title: pages[page]?.[1] ?? "", text })));
  return (wanted) =>
    index
      .search(wanted)
      .slice(0, maxResults)
      .flatMap(({ id, terms }) => {
        const [page = 0, anchor, heading = "", text = ""] = sections[id as number] ?? [];
        const [path = "", title = "", group = ""] = pages[page] ?? [];
        const href = new URL(path === "" ? "./" : path, siteUrl).href + (anchor ? `#${anchor}` : "");
        const place = [group, title === heading ? "" : title].filter((part) => part !== "").join(" › ");
        return [{ href, title: heading, place, excerpt: excerptOf(text, terms) }];
      });
}

/** `timeout_seconds` and `saveProfile` are also found by their words. */
function splitName(word: string): string[] {
  const parts = word.split(/_|(?<=[a-z])(?=[A-Z])/);
  return parts.length > 1 ? parts : [];
}

const excerptLength = 140;

function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const first = Math.min(...terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0));
  const start = Number.isFinite(first) && first > 60 ? first - 50 : 0;
  // Whole words.
  const part = text
    .slice(start, start + excerptLength)
    .replace(start > 0 ? /^\S*\s/ : /^/, "")
    .replace(/\s\S*$/, "");
  return `${start > 0 ? "… " : ""}${part}${text.length > start + excerptLength ? " …" : ""}`;
}

let index: Promise<Find> | undefined;
let dialog: HTMLDialogElement | undefined;

/** Opens the search: arrow keys choose, Enter opens, Escape closes. */
export function openSearch(): void {
  index ??= readIndex().catch((error: unknown) => {
    index = undefined;
    throw error;
  });
  dialog ??= createDialog();
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("input")?.select();
}

function createDialog(): HTMLDialogElement {
  const made = document.createElement("dialog");
  made.className = "finder";
  made.ariaLabel = "Search";
  const input = Object.assign(document.createElement("input"), {
    type: "search",
    placeholder: "Search pages, operations, settings",
    autocomplete: "off",
    spellcheck: false,
    role: "combobox",
    ariaLabel: "Search",
    ariaExpanded: "true",
    ariaAutoComplete: "list",
  });
  input.setAttribute("aria-controls", "found");
  const list = Object.assign(document.createElement("ul"), { id: "found", role: "listbox", ariaLabel: "Results" });
  const note = Object.assign(document.createElement("p"), { className: "note", role: "status" });
  made.append(input, note, list);
  document.body.append(made);
  const choose = (at: number) => {
    const options = [...list.children];
    const chosen = options.at(options.length === 0 ? 0 : at % options.length);
    for (const option of options) option.ariaSelected = String(option === chosen);
    input.setAttribute("aria-activedescendant", chosen?.id ?? "");
    chosen?.scrollIntoView({ block: "nearest" });
  };
  const chosenAt = () => [...list.children].findIndex((option) => option.ariaSelected === "true");
  input.addEventListener("input", () => void show(input.value, { list, note, choose }));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosenAt() + 1);
    else if (event.key === "ArrowUp") choose(chosenAt() - 1);
    else if (event.key === "Enter") list.children[chosenAt()]?.querySelector("a")?.click();
    else return;
    event.preventDefault();
  });
  // A click outside of the box.
  made.addEventListener("click", ({ target }) => {
    if (target === made || (target instanceof Element && target.closest("a") !== null)) made.close();
  });
  return made;
}

interface Parts {
  readonly list: HTMLElement;
  readonly note: HTMLElement;
  readonly choose: (at: number) => void;
}

let asked = 0;

async function show(text: string, { choose, list, note }: Parts): Promise<void> {
  const own = ++asked;
  try {
    const found = text.trim() === "" ? [] : ((await index)?.(text) ?? []);
    // A later letter was typed while the index loaded.
    if (own !== asked) return;
    note.textContent = text.trim() !== "" && found.length === 0 ? "Nothing found. Try fewer or other words." : "";
    list.replaceChildren(...found.map(optionOf));
    choose(0);
  } catch (error) {
    note.textContent = `The search could not load: ${String(error)} Close it and try again.`;
  }
}

function optionOf({ excerpt, href, place, title }: Found, at: number): HTMLElement {
  const option = Object.assign(document.createElement("li"), { id: `found-${at}`, role: "option" });
  const link = Object.assign(document.createElement("a"), { href, tabIndex: -1 });
  for (const [name, text] of [
    ["place", place],
    ["title", title],
    ["excerpt", excerpt],
  ] as const)
    link.append(Object.assign(document.createElement("span"), { className: name, textContent: text }));
  option.append(link);
  return option;
}
