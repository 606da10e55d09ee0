import { fold } from "../../outline/find-element.ts";
import { type ElementHandle, handleOf, inWorld } from "../../follow/element-handle.ts";
import { framesOf } from "../../follow/frame-tree.ts";
import type { ActRun } from "../act-run.ts";
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
 * Returns the only element of the document that may have the role and whose name may contain the wished one; nothing if
 * there are several, or if its parts are not all shown: an outline then decides what it is called. The comparison
 * ignores spaces, so that it finds at least what an outline would. Arguments: a selector, the role, the name.
 */
const findFunction = `function (selector, role, wished) {
  const squeeze = (text) => (text ?? "").toLowerCase().replace(/[\\p{Cf}\\s]/gu, "");
  const name = squeeze(wished);
  const controls = [];
  let looked = 0;
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      // Frames have documents, and elements of a page's own kind may have roles and contents that only the browser knows.
      const isUnknown = element.matches("iframe, frame, object, embed, fencedframe, audio, video") || (element.localName.includes("-") && !element.shadowRoot);
      if (++looked > 20000 || isUnknown || (element.shadowRoot && !look(element.shadowRoot))) return false;
      if ((selector !== "" && element.matches(selector)) || element.role?.toLowerCase().includes(role)) controls.push(element);
    }
    return true;
  };
  if (name === "" || !look(document)) return null;
  const known = new Map();
  const textOf = (part) => {
    if (!part) return "";
    if (!known.has(part)) known.set(part, squeeze([part, ...part.querySelectorAll("*")].map((one) =>
      [one === part ? one.textContent : "", one.ariaLabel, one.title, one.alt, one.placeholder, one.localName === "input" ? one.value : "", textOf(one.shadowRoot)].join(" ")).join(" ")));
    return known.get(part);
  };
  const namesOf = (element) => [element, ...(element.labels ?? []), ...(element.ariaLabelledByElements ?? [])];
  /** The browser's text in its language, which no script can read. */
  const ownTexts = { submit: "submit", reset: "reset", image: "submit", file: "choosefiles choosefile nofilechosen" };
  const hasOwnText = (type) => type in ownTexts && (!navigator.language.startsWith("en") || ownTexts[type].includes(name));
  const isPossible = (element) => [...namesOf(element), element.getRootNode().host].some((one) => textOf(one).includes(name))
    || (element.localName === "input" && element.value === "" && hasOwnText(element.type));
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect(), { clip, clipPath } = getComputedStyle(element);
    return Math.min(width, height) > 3 && clip === "auto" && clipPath === "none" && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const [only, ...others] = controls.filter(isPossible);
  if (!only || others.length > 0 || only.closest("[aria-hidden], [inert]") || !isShown(only)) return null;
  const parts = namesOf(only).flatMap((one) => [one, ...one.querySelectorAll("*")]).filter((one) => one.textContent.trim() !== "" && !one.closest("select, textarea"));
  return parts.every((one) => isShown(one) && squeeze(one.innerText ?? one.textContent) === squeeze(one.textContent)) ? only : null;
}`;

/**
 * Finds the one element with this role and name without reading the page, if there can be no other. Returns nothing
 * where only an outline can tell.
 */
export async function findByRole(run: ActRun, role: string, name: string): Promise<ElementHandle | undefined> {
  const wanted = role.toLowerCase();
  const selector = selectors[wanted];
  const [frame, ...others] = (await framesOf(run)).values();
  if (selector === undefined || frame === undefined || others.length > 0) return undefined;
  const given = [selector, wanted, name].map((value) => ({ value }));
  const { cdp } = run.page;
  const { sessionId } = frame.target;
  const answer = await inWorld(run, frame, ({ objectId }) =>
    run.ask(
      cdp.send("Runtime.callFunctionOn", { functionDeclaration: findFunction, objectId, arguments: given }, sessionId),
    ),
  );
  const objectId = answer?.result.subtype === "node" ? answer.result.objectId : undefined;
  const found = objectId === undefined ? undefined : await handleOf(run, frame, objectId);
  const described = found && (await describe(found));
  return described?.role === wanted && fold(described.name).includes(fold(name)) ? found : undefined;
}
