import type { ActOnPage } from "@shoal/schemas";

/** How a site differs from the recorded one. */
export interface SiteVersion {
  /** Other ids and classes. */
  readonly ids?: boolean;
  /** Fields, rows and forms in another order. */
  readonly order?: boolean;
  /** Late answers, and content that a script adds later. */
  readonly slow?: boolean;
  readonly german?: boolean;
}

/** The versions by their name in addresses. Addresses of flows do not count digits. */
export const siteVersions: Readonly<Record<string, SiteVersion>> = {
  v0: {},
  v1: { ids: true },
  v2: { order: true },
  v3: { slow: true },
  v4: { german: true },
  v5: { ids: true, order: true, slow: true },
};

/** A flow on a site: the actions of an agent on the first version. The last one submits. */
export interface SiteFlow {
  readonly name: string;
  readonly acts: readonly ActOnPage[];
  page(path: string, version: SiteVersion): string | undefined;
  /** A part of the submitted form. */
  readonly submits: string;
}

const words: Readonly<Record<string, string>> = {
  Name: "Vorname",
  "E-mail": "Mailadresse",
  Message: "Nachricht",
  Send: "Absenden",
  Subject: "Betreff",
  Phone: "Telefon",
  Search: "Suche",
  "Add to cart": "In den Warenkorb",
  Size: "Größe",
  Large: "Riesig",
  Small: "Winzig",
  Gift: "Geschenk",
  Express: "Eilig",
  Standard: "Normal",
  Pay: "Bezahlen",
  Order: "Bestellen",
  Next: "Weiter",
  Finish: "Abschließen",
  City: "Ort",
  Street: "Straße",
  Remove: "Entfernen",
  Account: "Konto",
  Save: "Speichern",
  "New entry": "Neuer Eintrag",
  Title: "Titel",
  Billing: "Rechnung",
  Delivery: "Lieferung",
  Close: "Zumachen",
  "Green tea": "Grüner Tee",
  "Black tea": "Schwarzer Tee",
  "White tea": "Weißer Tee",
};
/** For `names` of a run in German. */
export const germanNames = words;

type Text = (english: string) => string;

interface Page {
  readonly t: Text;
  readonly id: Text;
  /** In the order of the version. */
  ordered(parts: readonly string[]): string;
}

function pageOf({ german = false, ids = false, order = false }: SiteVersion): Page {
  return {
    t: (english) => (german ? (words[english] ?? english) : english),
    id: (name) =>
      ids ? `q${Buffer.from(name).toString("hex").slice(0, 8)}` : name.toLowerCase().replaceAll(/[^a-z]/g, "-"),
    ordered: (parts) => (order ? [...parts].reverse() : parts).join("\n"),
  };
}

function shown(body: string, { slow = false }: SiteVersion): string {
  if (!slow) return `<!doctype html><body>${body}`;
  return `<!doctype html><body><p>Loading</p><script>setTimeout(() => { document.body.innerHTML = ${JSON.stringify(body)}; }, 400)</script>`;
}

function field({ id, t }: Page, label: string, type = "text"): string {
  const key = id(label);
  return `<p><label for="${key}">${t(label)}</label> <input id="${key}" name="${label.toLowerCase().replaceAll(/[^a-z]/g, "")}" type="${type}"></p>`;
}
const form = (content: string) => `<form method="post" action="submit">${content}</form>`;
const button = ({ id, t }: Page, label: string) => `<button id="${id(label)}">${t(label)}</button>`;
const done = "<h1>Done</h1>";

type Build = (labels: readonly [string, string]) => Omit<SiteFlow, "name">;
const byRole = (
  type: "click" | "fill" | "check" | "select",
  role: string,
  name: string,
  more: object = {},
): ActOnPage => ({
  ...{ type, role, name },
  ...more,
});

function onePage(submits: string, acts: readonly ActOnPage[], body: (page: Page) => string): Omit<SiteFlow, "name"> {
  return {
    acts,
    submits,
    page: (path, version) =>
      path === "" ? shown(body(pageOf(version)), version) : path === "submit" ? done : undefined,
  };
}

const kinds: Readonly<Record<string, Build>> = {
  contact: ([first, second]) =>
    onePage(
      "message=Hello",
      [
        byRole("fill", "textbox", first, { text: "Ada" }),
        byRole("fill", "textbox", second, { text: "ada@x.example" }),
        byRole("fill", "textbox", "Message", { text: "Hello" }),
        byRole("click", "button", "Send"),
      ],
      (page) =>
        form(
          page.ordered([
            field(page, first),
            field(page, second, "email"),
            `<p><label>${page.t("Message")} <textarea name="message"></textarea></label></p>`,
          ]) + button(page, "Send"),
        ),
    ),
  search: ([first]) => ({
    submits: "product=tea",
    acts: [
      byRole("fill", "searchbox", "Search", { text: "tea", submit: true }),
      byRole("click", "link", first),
      byRole("click", "button", "Add to cart"),
    ],
    page(path, version) {
      const page = pageOf(version);
      const links = ["Green tea", "Black tea", "White tea"].map((one) => `<li><a href="item">${page.t(one)}</a></li>`);
      if (path === "")
        return shown(
          `<form action="found"><label>${page.t("Search")} <input type="search" name="q" id="${page.id("q")}"></label></form>`,
          version,
        );
      if (path === "found") return shown(`<ul>${page.ordered(links)}</ul>`, version);
      if (path === "item")
        return shown(form(`<input type="hidden" name="product" value="tea">${button(page, "Add to cart")}`), version);
      return path === "submit" ? done : undefined;
    },
  }),
  checkout: ([first, second]) =>
    onePage(
      "size=l&gift=on&way=e",
      [
        byRole("select", "combobox", "Size", { values: ["Large"] }),
        byRole("check", "checkbox", "Gift"),
        byRole("check", "radio", "Express"),
        byRole("click", "button", first),
      ],
      (page) =>
        form(
          `<label>${page.t("Size")} <select name="size"><option value="s">${page.t("Small")}</option><option value="l">${page.t("Large")}</option></select></label>
          <label><input type="checkbox" name="gift"> ${page.t("Gift")}</label>
          ${page.ordered(["Standard", "Express"].map((way) => `<label><input type="radio" name="way" value="${way === "Express" ? "e" : "s"}"> ${page.t(way)}</label>`))}
          <button>${page.t(first)}</button><button type="button">${page.t(second)}</button>`,
        ),
    ),
  rows: ([first, second]) =>
    onePage(
      "tea=Green+tea",
      [{ type: "click", selector: `tr:nth-child(1) button` }],
      (page) =>
        `<table>${page.ordered(
          ["Green tea", "Black tea", "White tea"].map(
            (one, index) =>
              `<tr><td>${page.t(one)}</td><td>${String(index + 3)}.50</td><td><form method="post" action="submit"><input type="hidden" name="tea" value="${one}"><button>${page.t(first)}</button></form> <a href="#">${page.t(second)}</a></td></tr>`,
          ),
        )}</table>`,
    ),
  wizard: ([first, second]) => ({
    submits: "city=Rome",
    acts: [
      byRole("fill", "textbox", first, { text: "Rome" }),
      byRole("click", "button", "Next"),
      byRole("fill", "textbox", second, { text: "Via Appia" }),
      byRole("click", "button", "Finish"),
    ],
    page(path, version) {
      const page = pageOf(version);
      const label = (text: string, name: string) =>
        `<label>${page.t(text)} <input name="${name}" id="${page.id(text)}"></label>`;
      if (path === "")
        return shown(`<form action="second">${label(first, "city")}${button(page, "Next")}</form>`, version);
      if (path === "second")
        return shown(
          form(`<input type="hidden" name="city" value="Rome">${label(second, "street")}${button(page, "Finish")}`),
          version,
        );
      return path === "submit" ? done : undefined;
    },
  }),
  confirm: ([first, second]) =>
    onePage(
      "entry=2",
      [byRole("click", "button", first), { type: "answer_dialog", accept: true }, { type: "wait_for", text: "Done" }],
      (page) =>
        form(
          `<input type="hidden" name="entry" value="2">${page.ordered([
            `<button onclick="return confirm('Sure?')" id="${page.id(first)}">${page.t(first)}</button>`,
            `<button type="button">${page.t(second)}</button>`,
          ])}`,
        ),
    ),
  navigation: ([first, second]) => ({
    submits: "name=Ada",
    acts: [
      byRole("click", "link", "Account"),
      byRole("fill", "textbox", first, { text: "Ada" }),
      byRole("click", "button", second),
    ],
    page(path, version) {
      const page = pageOf(version);
      if (path === "")
        return shown(
          `<nav>${page.ordered([`<a href="account">${page.t("Account")}</a>`, `<a href="other">${page.t("Search")}</a>`])}</nav>`,
          version,
        );
      if (path === "account")
        return shown(form(`<label>${page.t(first)} <input name="name"></label>${button(page, second)}`), version);
      return path === "submit" ? done : undefined;
    },
  }),
  dialog: ([first, second]) =>
    onePage(
      "title=Tea",
      [
        byRole("click", "button", "New entry"),
        byRole("fill", "textbox", first, { text: "Tea" }),
        byRole("click", "button", second),
      ],
      (page) =>
        `<button onclick="entry.showModal()">${page.t("New entry")}</button><button>${page.t(second)}</button>
        <dialog id="entry" aria-label="${page.t("New entry")}">${form(
          `<label>${page.t(first)} <input name="title"></label>${page.ordered([button(page, second), `<button type="button">${page.t("Close")}</button>`])}`,
        )}</dialog>`,
    ),
  twins: ([first, second]) =>
    onePage(
      "part=Delivery&street=Via+Appia",
      [
        { type: "fill", selector: "#delivery input[name=street]", text: "Via Appia" },
        { type: "click", selector: "#delivery button" },
      ],
      (page) =>
        page.ordered(
          ["Billing", "Delivery"].map(
            (part) =>
              `<section aria-label="${page.t(part)}" id="${page.id(part)}"><h2>${page.t(part)}</h2>${form(
                `<input type="hidden" name="part" value="${part}"><label>${page.t(first)} <input name="street"></label><button>${page.t(second)}</button>`,
              )}</section>`,
          ),
        ),
    ),
  bare: ([first, second]) =>
    onePage(
      "name=Ada&phone=1",
      [
        byRole("fill", "textbox", first, { text: "Ada" }),
        byRole("fill", "textbox", second, { text: "1" }),
        byRole("click", "button", "Save"),
      ],
      (page) =>
        form(
          page.ordered([
            `<input name="name" placeholder="${page.t(first)}">`,
            `<input name="phone" aria-label="${page.t(second)}">`,
          ]) + `<button aria-label="${page.t("Save")}" class="${page.id("save")}">+</button>`,
        ),
    ),
};

const labels: Readonly<Record<string, readonly [readonly [string, string], readonly [string, string]]>> = {
  contact: [
    ["Name", "E-mail"],
    ["Subject", "Phone"],
  ],
  search: [
    ["Black tea", ""],
    ["White tea", ""],
  ],
  checkout: [
    ["Pay", "Close"],
    ["Order", "Remove"],
  ],
  rows: [
    ["Order", "Remove"],
    ["Remove", "Order"],
  ],
  wizard: [
    ["City", "Street"],
    ["Title", "Street"],
  ],
  confirm: [
    ["Remove", "Close"],
    ["Order", "Save"],
  ],
  navigation: [
    ["Name", "Save"],
    ["Title", "Send"],
  ],
  dialog: [
    ["Title", "Save"],
    ["Name", "Send"],
  ],
  twins: [
    ["Street", "Save"],
    ["Street", "Order"],
  ],
  bare: [
    ["Name", "Phone"],
    ["Title", "E-mail"],
  ],
};

/** Twenty flows: ten kinds of pages, each with two sets of labels. */
export const siteFlows: readonly SiteFlow[] = Object.entries(kinds).flatMap(([kind, build]) =>
  (labels[kind] ?? []).map((pair, index) => ({ name: `${kind}-${String(index + 1)}`, ...build(pair) })),
);
