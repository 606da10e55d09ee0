import { secretFieldHelpers } from "../../../../secrets/secret-field.ts";
import { pickFieldFunction } from "../element/field-functions.ts";
import type { FlowFallback, FlowPlace } from "@shoal/schemas";

/** What identifies an element apart from its role and name. */
export interface Fingerprint {
  readonly fallbacks: readonly FlowFallback[];
  readonly within?: FlowPlace | undefined;
  /** Whether it is a field for secrets. */
  readonly isSensitive: boolean;
}

/** Attributes for tests, the usual ones first. */
const testIds = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];

/** Helpers of the functions below: text, because a bundler may change functions. */
export const fingerprintHelpers = `
  const testIds = ${JSON.stringify(testIds)};
  const squeeze = (text) => (text ?? "").replace(/\\s+/g, " ").trim();
  const fold = (text) => squeeze(text).toLowerCase();
  const around = (element) => element.parentElement ?? element.getRootNode().host ?? null;
  const tagRoles = { TR: "row", LI: "listitem", FIELDSET: "group", FORM: "form", DIALOG: "dialog", NAV: "navigation",
    SECTION: "region", ARTICLE: "article", ASIDE: "complementary", HEADER: "banner", FOOTER: "contentinfo", MAIN: "main" };
  const placeRoles = new Set(Object.values(tagRoles).concat("alertdialog", "tabpanel", "treeitem", "gridcell"));
  const placeRoleOf = (element) => {
    const role = element.getAttribute("role") || tagRoles[element.tagName];
    return placeRoles.has(role) ? role : undefined;
  };
  const idsText = (element, attribute) => (element.getAttribute(attribute) ?? "").split(/\\s+/).filter(Boolean)
    .map((id) => element.getRootNode().getElementById?.(id)?.innerText ?? "").join(" ");
  const placeNameOf = (element) => squeeze(element.getAttribute("aria-label")) || squeeze(idsText(element, "aria-labelledby"))
    || squeeze(element.querySelector("legend, caption, h1, h2, h3, h4, h5, h6, [role=heading], th")?.innerText);
  const itemRoles = new Set(["row", "listitem", "treeitem", "gridcell"]);
  // Of several equal parts of a page, only a text that the others do not have names one; prices and dates change.
  const itemNameOf = (item, inside) => {
    const others = [...(item.parentElement?.children ?? [])].filter((one) => one !== item).map((one) => fold(one.innerText));
    const whole = squeeze(item.innerText), own = squeeze(inside.innerText);
    const text = own === "" ? whole : whole.split(own)[0];
    return [placeNameOf(item), text.split(/[0-9]/)[0], text.slice(0, 80), whole.slice(0, 80)].map(squeeze)
      .find((name) => name.length > 1 && !others.some((other) => other.includes(fold(name))));
  };
  const ownOf = (one) => fold(one.getAttribute("aria-label") || one.labels?.[0]?.innerText || one.innerText || one.value || one.placeholder);
  const classesOf = (element) => (element.getAttribute("class") ?? "").split(/\\s+/).filter(Boolean);
  const isAlike = (one, other) => one.localName === other.localName
    && (classesOf(one).length === 0 ? classesOf(other).length === 0 : classesOf(one).some((name) => other.classList.contains(name)));
  // A page without roles repeats parts too, such as cards. The closest one around an element that says more than the element.
  const partOf = (element) => {
    const own = ownOf(element);
    let part;
    for (let at = around(element); at && at.localName !== "body"; at = around(at)) {
      // A row or an item says more than a cell of it.
      if (itemRoles.has(placeRoleOf(at))) return undefined;
      if (part === undefined && fold(at.innerText) !== own
        && [...(at.parentElement?.children ?? [])].some((one) => one !== at && isAlike(at, one))) part = at;
    }
    return part;
  };
`;

/**
 * Returns a {@link Fingerprint}. Arguments: a limit of characters; whether the field of a label counts instead. Runs in an
 * isolated world before the input, in one call: the input may end the document.
 */
export const fingerprintFunction = `function (most, isFill) {${fingerprintHelpers}${secretFieldHelpers}
  noteSecrets();
  const pickField = ${pickFieldFunction};
  const element = (isFill ? pickField.call(this) : undefined) ?? this;
  const fallbacks = [];
  const add = (by, value) => {
    const text = squeeze(value);
    if (text !== "" && text.length <= most && fallbacks.length < 8) fallbacks.push({ by, value: text });
  };
  const quoted = (value) => '"' + CSS.escape(value) + '"';
  const tag = element.localName;
  for (const attribute of testIds)
    if (element.getAttribute(attribute)) { add("test_id", element.getAttribute(attribute)); break; }
  for (const label of element.labels ?? []) { add("label", label.innerText); break; }
  if (element.getAttribute("placeholder")) add("placeholder", element.getAttribute("placeholder"));
  const isField = /^(input|select|textarea)$/.test(tag);
  if (isField && element.getAttribute("name")) add("css", tag + "[name=" + quoted(element.getAttribute("name")) + "]");
  // Frameworks number generated ids.
  if (element.id && !/[0-9]{2}|:|^[0-9]/.test(element.id)) add("css", "#" + CSS.escape(element.id));
  if (tag === "input" && element.type === "password") add("css", 'input[type="password"]');
  const href = tag === "a" ? element.getAttribute("href") ?? "" : "";
  if (href !== "" && !/^(#|javascript:)/i.test(href)) add("css", "a[href=" + quoted(href) + "]");
  const hasTwin = element.matches("a, button, input, select, textarea, summary, [role]")
    && [...element.getRootNode().querySelectorAll(tag)].slice(0, 2000).some((one) => one !== element && ownOf(one) === ownOf(element));
  const part = hasTwin ? partOf(element) : undefined;
  let within;
  for (let at = around(element); at; at = around(at)) {
    const known = placeRoleOf(at);
    const isPart = at === part && (known === undefined || placeNameOf(at) === "");
    const role = isPart ? "generic" : known;
    if (role === undefined || role === "main") continue;
    const name = isPart || itemRoles.has(role) ? itemNameOf(at, element) : placeNameOf(at);
    if (name === undefined || name === "" || name.length > most) continue;
    within = { role, name };
    break;
  }
  return { fallbacks, within, isSensitive: isSecret(element) };
}`;

/**
 * Whether the element itself has the focus, and is for other things than secrets. Elements of other kinds may contain the
 * field that has it, in a closed shadow root.
 */
export const receivesKeysFunction = `function () {${secretFieldHelpers}
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  return active === this && this.matches("input, textarea, select, button, a") && !isSecret(this);
}`;
