import { randomUUID } from "node:crypto";
import { secretFieldHelpers } from "../../secrets/secret-field.ts";
import { maxFields, maxStoredItems, maxTabCharacters, type PageContent } from "./saved-tab.ts";

const maxValueCharacters = 100_000;
/** For fields that the page creates after it has loaded, in milliseconds. */
const lateFieldsMs = 2_000;

/** Defines `keyedFields()`: the fields of the document and of open shadow roots, by their names. */
const fieldHelpers = `
  const fieldsOf = function* (root) {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) {
      if (/^(?:input|textarea|select)$/.test(walk.currentNode.localName)) yield walk.currentNode;
      if (walk.currentNode.shadowRoot) yield* fieldsOf(walk.currentNode.shadowRoot);
    }
  };
  const keyedFields = () => {
    const counts = new Map();
    return [...fieldsOf(document)].map((field) => {
      const key = JSON.stringify([field.localName, field.type, field.name, field.id]);
      counts.set(key, (counts.get(key) ?? -1) + 1);
      return { field, key, place: counts.get(key) };
    });
  };
  // Hidden fields are the page's own, such as tokens against forged requests.
  const isPersons = (field) => !/^(?:password|hidden|file|submit|button|reset|image)$/.test(field.type) && !isSecret(field);
`;

/** Returns a {@link PageContent} in an isolated world, or nothing if the tab shows a page of another origin meanwhile. */
export const readPageScript = (url: string): string => `(() => {
  ${returnElsewhere(url)}
  ${secretFieldHelpers}
  ${fieldHelpers}
  noteSecrets();
  const changeOf = (field) => {
    if (field.localName === "select") {
      const options = [...field.options].slice(0, 1000);
      return options.some((option) => option.selected !== option.defaultSelected)
        ? { selected: options.flatMap((option, place) => option.selected ? [place] : []) } : undefined;
    }
    if (/^(?:checkbox|radio)$/.test(field.type)) return field.checked === field.defaultChecked ? undefined : { checked: field.checked };
    return field.value === field.defaultValue || field.value.length > ${String(maxValueCharacters)} ? undefined : { value: field.value };
  };
  // Counted here: all tabs answer at once.
  let left = ${String(maxTabCharacters)};
  const fits = (value) => {
    const { length } = JSON.stringify(value);
    if (length > left) return false;
    left -= length;
    return true;
  };
  const fields = [];
  for (const { field, key, place } of keyedFields()) {
    const change = key.length > 2000 || !isPersons(field) ? undefined : changeOf(field);
    if (change === undefined) continue;
    if (fields.length >= ${String(maxFields)} || !fits({ key, place, ...change })) break;
    fields.push({ key, place, ...change });
  }
  const itemsOf = (area) => {
    try {
      const storage = globalThis[area];
      if (storage.length > ${String(maxStoredItems)}) return undefined;
      const names = Array.from({ length: storage.length }, (_, place) => storage.key(place));
      const items = names.map((name) => ({ name, value: storage.getItem(name) ?? "" }));
      return fits(items) ? items : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    scroll: { x: scrollX, y: scrollY },
    fields,
    local_storage: itemsOf("localStorage"),
    session_storage: itemsOf("sessionStorage"),
  };
})()`;

/** Marks the documents that answer while the histories are made. They have no scripts. */
export const emptyPageId = randomUUID();

/** Replaces the storage of the page's origin, in an empty page of this origin. */
export function fillStorageScript({ local_storage, session_storage }: PageContent, url: string): string {
  return `(() => {
  ${returnElsewhere(url)}
  if (document.getElementById(${JSON.stringify(emptyPageId)}) === null) return;
  const areas = ${embedded({ localStorage: local_storage, sessionStorage: session_storage })};
  for (const [area, items] of Object.entries(areas)) {
    globalThis[area].clear();
    for (const { name, value } of items) globalThis[area].setItem(name, value);
  }
})()`;
}

/**
 * Fills the fields and scrolls, in an isolated world. Resolves when everything is there, or does not appear.
 * @param url - of the saved page. A page of another origin gets nothing: a site may redirect to it.
 */
export function restorePageScript({ fields, scroll }: PageContent, url: string): string {
  return `(async () => {
  ${returnElsewhere(url)}
  ${secretFieldHelpers}
  ${fieldHelpers}
  const { scroll, fields: saved } = ${embedded({ fields, scroll })};
  let left = saved;
  const fill = (field, { checked, selected, value }) => {
    if (selected !== undefined && field.localName === "select") {
      for (const [place, option] of [...field.options].entries()) option.selected = selected.includes(place);
    } else if (checked !== undefined && /^(?:checkbox|radio)$/.test(field.type)) field.checked = checked;
    else if (value !== undefined && field.localName !== "select") field.value = value;
    // Pages with their own model of the form read it then. No "change": some pages submit the form with it.
    field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  };
  const restore = () => {
    const found = new Map(keyedFields().map(({ field, key, place }) => [key + place, field]));
    left = left.filter((entry) => {
      const field = found.get(entry.key + entry.place);
      if (field === undefined || !isPersons(field)) return true;
      fill(field, entry);
      return false;
    });
    if (Math.abs(scrollX - scroll.x) >= 1 || Math.abs(scrollY - scroll.y) >= 1)
      scrollTo({ left: scroll.x, top: scroll.y, behavior: "instant" });
    return left.length === 0 && Math.abs(scrollX - scroll.x) < 1 && Math.abs(scrollY - scroll.y) < 1;
  };
  if (restore()) return;
  await new Promise((resolve) => {
    const observer = new MutationObserver(() => { if (restore()) end(); });
    const end = () => { observer.disconnect(); clearTimeout(timer); resolve(); };
    const timer = setTimeout(end, ${String(lateFieldsMs)});
    observer.observe(document, { subtree: true, childList: true });
  });
})()`;
}

/** Pages without an origin, such as `data:` pages, need the same address. */
function returnElsewhere(url: string): string {
  const { origin } = new URL(url);
  const [present, saved] = origin === "null" ? ["location.href", url] : ["location.origin", origin];
  return `if (${present} !== ${embedded(saved)}) return;`;
}

/** A value as an expression. */
function embedded(value: unknown): string {
  return `JSON.parse(${JSON.stringify(JSON.stringify(value))})`;
}
