import { fold } from "../../outline/find-element.ts";
import { type ElementHandle, handleOf, inWorld } from "../../follow/element-handle.ts";
import { framesOf } from "../../follow/frame-tree.ts";
import { type ActRun, Interrupted } from "../act-run.ts";
import { describe } from "./describe.ts";

/** Every element that an outline may show with the role. Other roles need the whole page. */
const selectors: Readonly<Record<string, string>> = {
  button: "button, summary, input:is([type=button], [type=submit], [type=reset], [type=image], [type=file])",
  checkbox: "input[type=checkbox]",
  link: "a, area",
  radio: "input[type=radio]",
  switch: "input[type=checkbox]",
  menuitem: "",
  tab: "",
  textbox: "input, textarea, [contenteditable]",
  combobox: "input, select, button",
};

/**
 * Returns the only element of the document that may have the role and whose name may contain the wished one, if a person
 * sees it and its name is one own text; nothing otherwise, and where names may come from something that no script
 * can read: an outline then decides what it is called. Comparisons ignore spaces and find at least what an outline
 * would. Arguments: a selector, the role, the name.
 */
const findFunction = `function (selector, role, wished) {
  const squeeze = (text) => String(text ?? "").toLowerCase().replace(/[\\p{Cf}\\s]/gu, "");
  const name = squeeze(wished);
  // Their roles, names and contents are known to the browser alone.
  const unknown = "iframe, frame, object, embed, fencedframe, audio, video, details:not(:has(> summary)), [aria-owns], [aria-placeholder], [aria-valuetext], [role*='doc-' i]"
    + (role === "button" ? ", input:is([type=date], [type=datetime-local], [type=month], [type=time], [type=week])" : "");
  const all = document.querySelectorAll("*");
  if (name === "" || all.length > 20000) return null;
  const controls = [];
  for (const element of all) {
    if (element.localName.includes("-") || element.shadowRoot || element.matches(unknown)) return null;
    if ((selector !== "" && element.matches(selector)) || element.role?.toLowerCase().includes(role)) controls.push(element);
  }
  const namesOf = (element) => new Set([element, ...(element.labels ?? []), ...(element.ariaLabelledByElements ?? [])]);
  const plainMarker = /^(none|disc|circle|square|decimal|disclosure-(open|closed))$/;
  /** Empty, or the signs of a font of icons. */
  const plainContent = /^(|none|normal|"[\\p{Co}\\s]*")$/u;
  /** Whether its style adds text. */
  const hasMore = (part) => {
    const { content, display, listStyleType } = getComputedStyle(part);
    return content !== "normal" || (display.includes("list-item") && !plainMarker.test(listStyleType))
      || ["::before", "::after"].some((pseudo) => !plainContent.test(getComputedStyle(part, pseudo).content));
  };
  const known = new Map();
  let looked = 0, isSure = true;
  const piecesOf = (source) => {
    if (known.has(source)) return known.get(source);
    const pieces = [];
    const walk = document.createTreeWalker(source, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let at = source; at && isSure; at = walk.nextNode()) {
      const isElement = at.nodeType === Node.ELEMENT_NODE;
      if (++looked > 10000 || (isElement && ((at !== source && at.hasAttribute("aria-labelledby")) || hasMore(at)))) isSure = false;
      const texts = isElement ? [at.ariaLabel, at.title, at.alt, at.placeholder, at.value, at.ariaValueNow, at.getAttribute("xlink:title")] : [at.data];
      pieces.push(...texts.map(squeeze).filter(Boolean));
    }
    known.set(source, pieces);
    return pieces;
  };
  /** The browser's text in its language, which no script can read. */
  const ownTexts = { submit: "submit", reset: "reset", image: "submit", file: "choosefiles choosefile nofilechosen" };
  const hasOwnText = (type) => type in ownTexts && (!navigator.language.startsWith("en") || ownTexts[type].includes(name));
  const isPossible = (element) => {
    if (element.localName === "input" && element.value === "" && hasOwnText(element.type)) return true;
    const pieces = [...namesOf(element)].flatMap(piecesOf), text = pieces.join("");
    if (pieces.length < 2 || text.includes(name)) return text.includes(name);
    // Text between the parts of the name may be hidden.
    let from = 0;
    return [...name].every((sign) => (from = text.indexOf(sign, from) + 1) > 0);
  };
  const possible = controls.filter(isPossible), [only] = possible;
  if (!isSure || possible.length !== 1 || only.closest("[aria-hidden], [inert]") || namesOf(only).size > 1) return null;
  const texts = [], walk = document.createTreeWalker(only, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (walk.currentNode.data.trim() !== "") texts.push(walk.currentNode);
  const isStated = Boolean(only.ariaLabel?.trim());
  if (!isStated && (texts.length !== 1 || texts[0].parentNode !== only)) return null;
  const isOpaque = (colour) => colour.startsWith("rgb(") || /^(color|lab|lch|oklab|oklch)\\([^/]*\\)$/.test(colour);
  const { color, fontSize, webkitTextFillColor: fill } = getComputedStyle(only);
  if (!isOpaque(color) || !isOpaque(fill) || parseFloat(fontSize) < 3) return null;
  for (let at = only; at; at = at.parentElement) {
    const style = getComputedStyle(at);
    const isPlain = style.opacity === "1" && style.visibility === "visible" && style.filter === "none" && style.maskImage === "none"
      && style.backfaceVisibility === "visible" && style.clip === "auto" && style.clipPath === "none" && !style.zIndex.startsWith("-")
      && style.mixBlendMode === "normal" && !style.backgroundClip.includes("text") && ![color, fill].includes(style.backgroundColor);
    if (!isPlain) return null;
  }
  const range = document.createRange();
  range.selectNodeContents(isStated ? only : texts[0]);
  const boxes = isStated ? [only.getBoundingClientRect()] : [...range.getClientRects()];
  const isSeen = ({ x, y, width, height }) => Math.min(width, height) > 3 && only.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  return boxes.length > 0 && boxes.length < 10 && boxes.every(isSeen) ? only : null;
}`;

/** The one text that names an element which {@link findFunction} returns. */
const textFunction = `function () { return this.ariaLabel?.trim() ? this.ariaLabel : this.textContent; }`;

/**
 * Finds the one element with this role and name without reading the page, if there can be no other. Returns nothing
 * where only an outline can tell, and if the page does not answer at once.
 */
export async function findByRole(run: ActRun, role: string, name: string): Promise<ElementHandle | undefined> {
  try {
    return await lookUp(run, role.toLowerCase(), name);
  } catch (error) {
    if (error instanceof Interrupted && error.kind === "silent") return undefined;
    throw error;
  }
}

async function lookUp(run: ActRun, role: string, name: string): Promise<ElementHandle | undefined> {
  const selector = selectors[role];
  const [frame, ...others] = (await framesOf(run)).values();
  if (selector === undefined || frame === undefined || others.length > 0) return undefined;
  const given = [selector, role, name].map((value) => ({ value }));
  const { cdp } = run.page;
  const { sessionId } = frame.target;
  const answer = await inWorld(run, frame, ({ objectId }) =>
    run.ask(
      cdp.send("Runtime.callFunctionOn", { functionDeclaration: findFunction, objectId, arguments: given }, sessionId),
    ),
  );
  const objectId = answer?.result.subtype === "node" ? answer.result.objectId : undefined;
  const found = objectId === undefined ? undefined : await handleOf(run, frame, objectId);
  if (found === undefined) return undefined;
  const [described, text] = await Promise.all([describe(found), found.call<string>(textFunction)]);
  const isOnly = described?.role === role && text !== undefined && fold(described.name) === fold(text);
  return isOnly && fold(text).includes(fold(name)) ? found : undefined;
}
