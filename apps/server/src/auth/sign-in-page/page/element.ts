type Content = Node | string | undefined;

/** Creates an element. Texts never become HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  made.append(...content.filter((part) => part !== undefined));
  return made;
}

export function required(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

const longest = 240;

/** Shows the words of a site. They are cut, and their direction does not change the text around them. */
export function siteWords(text: string): HTMLElement {
  const shown = text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
  return element("bdi", { class: "site-words" }, shown);
}

/** Replaces the placeholder `name` in a text of this page by an element with that name. */
export function withName(text: (name: string) => string, name: string): (Node | string)[] {
  const mark = "\u0000";
  const [before = "", after = ""] = text(mark).split(mark);
  return [before, siteWords(name), after];
}
