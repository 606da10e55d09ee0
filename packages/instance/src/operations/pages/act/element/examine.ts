import { hitTest } from "../../node-input/hit-test.ts";
import { guardFunction } from "../../node-input/click-guard.ts";
import { shapes } from "./shapes.ts";

/** Helpers of the functions below: text, because a bundler may change functions. */
const helpers = `${hitTest}
  const preview = (element) => {
    const id = element.id ? "#" + element.id : "";
    const classes = [...element.classList].slice(0, 2).map((one) => "." + one).join("");
    return (element.localName + (id || classes)).slice(0, 80);
  };
${shapes}
  const isVisible = (element) => {
    const image = element.localName === "area" ? imageOf(element) : undefined;
    if (image) return isVisible(image);
    const style = getComputedStyle(element);
    const isBoxless = style.display === "contents" && style.visibility === "visible";
    if (!isBoxless && !element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false })) return false;
    return rectsOf(element).some(({ width, height }) => width > 0 && height > 0);
  };
  const isDisabled = (element) => {
    if (element.matches(":disabled")) return true;
    for (let at = element; at; at = around(at)) if (at.getAttribute?.("aria-disabled") === "true") return true;
    return false;
  };
  const isReadOnly = (element) => element.readOnly === true || element.getAttribute("aria-readonly") === "true";
  /** What a click on a list, or on an item with items inside, would choose instead. */
  const choices = [
    ["[role=listbox i], select", "[role=option i], option"],
    ["[role=tree i], [role=treeitem i]", "[role=treeitem i]"],
    ["[role=tablist i]", "[role=tab i]"],
    ["[role=radiogroup i]", "[role=radio i]"],
    ["[role=menu i], [role=menubar i], [role^=menuitem i]", "[role^=menuitem i]"],
  ];
  const choiceOf = (element, part) => {
    const items = choices.find(([list]) => element.matches(list))?.[1];
    for (let at = part; items && at && at !== element; at = around(at))
      if (at instanceof Element && at.matches(items)) return at;
    return undefined;
  };
  const choiceAt = (element, x, y) => {
    let part = document.elementFromPoint(x, y);
    for (let next; (next = part?.shadowRoot?.elementFromPoint(x, y)) && next !== part; ) part = next;
    return choiceOf(element, part);
  };
  const inner = "a[href], button, summary, input:is([type=button], [type=submit], [type=reset], [type=image], [type=checkbox], [type=radio])"
    + ", [role=button i], [role=link i], [role=checkbox i], [role=radio i], [role=switch i], [role^=menuitem i]";
  /** Whether a part belongs to another control inside the element. */
  const isDiverted = (element, part) => {
    const own = new Set([element, element.control, ...(element.labels ?? [])]);
    for (let at = part; at && !own.has(at); at = around(at))
      if (at instanceof Element && at.matches(inner) && !at.contains(element)) return true;
    return false;
  };
  const divertsAt = (element, x, y) => {
    let part = document.elementFromPoint(x, y);
    for (let next; (next = part?.shadowRoot?.elementFromPoint(x, y)) && next !== part; ) part = next;
    return isDiverted(element, part);
  };
  /** Whether a click on the element itself does something else than one on the controls inside, such as in a card or a label. */
  const isWhole = (element) => {
    if (!element.matches("label, a, button, summary, [role], [tabindex], [onclick]") && getComputedStyle(element).cursor !== "pointer") return false;
    const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let count = 0; count < 200 && walk.nextNode(); count++) {
      const { currentNode: node } = walk;
      const isContent = node instanceof Text ? node.data.trim() !== "" : /^(img|svg|canvas|video)$/.test(node.localName);
      if (isContent && !isDiverted(element, node)) return true;
    }
    return false;
  };
  /** Points of the texts that belong to an element itself. */
  const ownPoints = (element) => {
    const points = [], walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let count = 0; points.length < 5 && count < 1000 && walk.nextNode(); count++) {
      if (walk.currentNode.data.trim() === "" || choiceOf(element, walk.currentNode) || isDiverted(element, walk.currentNode)) continue;
      const range = document.createRange();
      range.selectNodeContents(walk.currentNode);
      for (const { x, y, width, height } of [...range.getClientRects()].slice(0, 3)) points.push([x + width / 2, y + height / 2]);
    }
    return points.filter(([x, y]) => x > 0 && y > 0 && x < innerWidth && y < innerHeight);
  };
`;

/** Whether the box of the element stays the same until the next frame. */
const still = `
  const isStill = async (element) => {
    const box = () => { const { x, y, width, height } = element.getBoundingClientRect(); return [x, y, width, height].join(); };
    const first = box();
    await new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
    return box() === first;
  };
`;
export const stillFunction = `function () {${still} return isStill(this); }`;

export type Obstacle = "removed" | "hidden" | "moving" | "disabled" | "readonly" | "outside" | "covered" | "inert";
/** `choice`: a click would choose an item inside. No wait changes that. */
export type Problem = Obstacle | "choice";

/** Answer of {@link examineFunction}: a point of the element in its frame's viewport, or an obstacle. */
export type Examined =
  { readonly problem: Problem } | { readonly problem?: undefined; readonly x: number; readonly y: number };

/**
 * Arguments: whether the element must be stable, enabled, editable, hit, and hit outside of the items inside that a
 * click would choose. Tests several points: a person clicks the part that is not covered, and not a link or a button in
 * a label or in another control if the control has another place.
 */
export const examineFunction = `async function (stable, enabled, editable, hit, own) {${helpers}${still}
  if (!this.isConnected) return { problem: "removed" };
  const element = this;
  if (!isVisible(element)) return { problem: "hidden" };
  if (stable) {
    const isMoving = !(await isStill(element));
    if (!element.isConnected) return { problem: "removed" };
    if (isMoving) return { problem: "moving" };
  }
  if (enabled && isDisabled(element)) return { problem: "disabled" };
  if (editable && isReadOnly(element)) return { problem: "readonly" };
  const view = { right: innerWidth, bottom: innerHeight };
  let problem = "outside", diverted;
  for (const rect of rectsOf(element)) {
    const left = Math.max(0, rect.left), right = Math.min(view.right, rect.right);
    const top = Math.max(0, rect.top), bottom = Math.min(view.bottom, rect.bottom);
    if (right - left < 1 || bottom - top < 1) continue;
    for (const [across, down] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75]]) {
      const x = left + (right - left) * across, y = top + (bottom - top) * down;
      const isCovered = hit && coverAt(element, x, y) !== undefined;
      const isChoice = !isCovered && own && choiceAt(element, x, y) !== undefined;
      if (!isCovered && !isChoice) {
        if (!hit || !divertsAt(element, x, y) || (diverted === undefined && !isWhole(element))) return { x, y };
        diverted ??= { x, y };
        continue;
      }
      if (problem !== "choice") problem = isCovered ? "covered" : "choice";
    }
  }
  if (diverted || (problem === "choice" && element.matches("[role=treeitem i], [role^=menuitem i]")))
    for (const [x, y] of ownPoints(element))
      if (coverAt(element, x, y) === undefined && !choiceAt(element, x, y) && !divertsAt(element, x, y)) return { x, y };
  return diverted ?? { problem };
}`;

/** The same; the click that follows goes to the element, or nowhere. */
export const examineGuardedFunction = `async function (...needs) {
  const seen = await (${examineFunction}).apply(this, needs);
  if (seen.problem === undefined) (${guardFunction}).call(this);
  return seen;
}`;

/** Returns the outermost element that covers the middle of this one. */
export const coverFunction = `function () {${helpers}
  const box = this.getBoundingClientRect();
  const middle = (start, end, limit) => (Math.max(0, start) + Math.min(limit, end)) / 2;
  const hit = coverAt(this, middle(box.left, box.right, innerWidth), middle(box.top, box.bottom, innerHeight));
  if (!hit) return null;
  const own = new Set();
  for (let at = this; at; at = around(at)) own.add(at);
  let cover = hit;
  for (let at = hit; at && !own.has(at); at = around(at)) if (at.nodeType === Node.ELEMENT_NODE) cover = at;
  return cover;
}`;

/** Returns the item that a click on the middle of the element would choose. */
export const choiceFunction = `function () {${helpers}
  const box = this.getBoundingClientRect();
  const middle = (start, end, limit) => (Math.max(0, start) + Math.min(limit, end)) / 2;
  return choiceAt(this, middle(box.left, box.right, innerWidth), middle(box.top, box.bottom, innerHeight)) ?? null;
}`;

/** \`div.cookie-banner\` */
export const previewFunction = `function () {${helpers} return preview(this); }`;

/**
 * Returns where a point of a frame is in the document of its element, which may be turned and scaled: the middle of a
 * box stays the middle of the rectangle around it.
 */
export const frameFunction = `function (x, y) {${hitTest}
  const box = this.getBoundingClientRect(), width = this.offsetWidth || 1, height = this.offsetHeight || 1;
  let turned = new DOMMatrix();
  for (let at = this; at; at = around(at)) {
    if (!(at instanceof Element)) continue;
    const { display, rotate, scale, transform } = getComputedStyle(at);
    // No transform applies to these; a frame and parts of a drawing are never inline boxes.
    if (display === "contents" || (display === "inline" && at !== this && !(at instanceof SVGElement))) continue;
    const own = [/^[-\\d.]+deg$/.test(rotate) ? "rotate(" + rotate + ")" : "", scale === "none" ? "" : "scale(" + scale.split(" ").slice(0, 2).join() + ")", transform === "none" ? "" : transform];
    turned = new DOMMatrix(own.filter(Boolean).join(" ")).multiply(turned);
  }
  // Also zoomed, which no matrix says.
  const { m11, m12, m21, m22 } = turned;
  const across = box.width / (Math.abs(m11) * width + Math.abs(m21) * height || 1);
  const down = box.height / (Math.abs(m12) * width + Math.abs(m22) * height || 1);
  const { paddingLeft, paddingTop } = getComputedStyle(this);
  const right = this.clientLeft + parseFloat(paddingLeft) + x - width / 2;
  const below = this.clientTop + parseFloat(paddingTop) + y - height / 2;
  return {
    x: box.left + box.width / 2 + (m11 * right + m21 * below) * across,
    y: box.top + box.height / 2 + (m12 * right + m22 * below) * down,
  };
}`;
export const frameHitFunction = `function (x, y) {${helpers}
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return "outside";
  return coverAt(this, x, y) === undefined ? "hit" : "covered";
}`;

export const stateFunction = `function () {${helpers}
  return { visible: this.isConnected && isVisible(this), disabled: isDisabled(this) };
}`;

export const scrollFunction = `function (block) {${shapes}
  const shown = (this.localName === "area" && imageOf(this)) || (rectsOf(this).length > 0 && !this.getClientRects().length && this.firstElementChild) || this;
  shown.scrollIntoView({ block, inline: block === "start" ? "start" : block === "end" ? "end" : "center", behavior: "instant" });
}`;
