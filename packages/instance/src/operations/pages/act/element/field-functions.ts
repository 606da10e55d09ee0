import { hitTest } from "../../node-input/hit-test.ts";
import { pageTasks } from "../../node-input/page-tasks.ts";
import { takingFocus } from "../../node-input/take-focus.ts";

/** The field of a label, or the only field of a component, if it is another element. */
export const pickFieldFunction = `function () {
  const texts = "input:not([type=hidden]):not([type=checkbox]):not([type=radio]), textarea, [contenteditable=''], [contenteditable=true]";
  if (this.localName === "label" && this.control) return this.control;
  if (this.matches(texts) || this.isContentEditable || this.localName === "select") return null;
  const inner = this.querySelectorAll(texts);
  return inner.length === 1 ? inner[0] : null;
}`;

/** The control of a label, if this is one. */
export const pickControlFunction = `function () {
  return this.localName === "label" ? this.control : null;
}`;

/** The file field of a label or of a component, if it is another element. */
export const pickFileFieldFunction = `function () {
  const isFile = (one) => one?.localName === "input" && one.type === "file";
  if (isFile(this)) return null;
  if (isFile(this.control)) return this.control;
  const inner = this.querySelectorAll("input[type=file]");
  return inner.length === 1 ? inner[0] : null;
}`;

export type PreparedField =
  | { readonly kind: "typed"; readonly isPassword?: boolean }
  | { readonly kind: "set" | "steps" | "keys" | "gone" | "inert" }
  | { readonly kind: "unfit"; readonly problem: string }
  | { readonly kind: "malformed"; readonly problem: string };

/** Sets the value of a field that a person fills with a picker; others are only checked. Argument: the value. */
export const prepareFillFunction = `async function (value) {${pageTasks}${takingFocus}
  const tag = this.localName;
  const type = tag === "input" ? this.type : "";
  if (tag === "select") return { kind: "unfit", problem: "is a list of options" };
  if (/^(checkbox|radio)$/.test(type)) return { kind: "unfit", problem: "is a " + type };
  if (type === "file") return { kind: "unfit", problem: "is a file field" };
  if (this.isContentEditable && this.getAttribute("role") === "spinbutton") return { kind: "keys" };
  const isStepped = /^(slider|separator|scrollbar|spinbutton)$/.test(this.getAttribute("role") ?? "") && this.hasAttribute("aria-valuenow");
  if (isStepped && tag !== "input") return { kind: "steps" };
  if (/^(button|submit|reset|image|hidden)$/.test(type) || (tag !== "input" && tag !== "textarea" && !this.isContentEditable))
    return { kind: "unfit", problem: "is not a field" };
  const formats = { date: "2026-01-31", time: "14:30", "datetime-local": "2026-01-31T14:30", month: "2026-01", week: "2026-W05", color: "#ff8800", range: "a number within its limits" };
  if (formats[type] !== undefined) {
    const wanted = type === "color" ? value.trim().toLowerCase() : value.trim();
    const focus = await takeFocus(this);
    if (focus !== "taken") return { kind: focus };
    const old = this.value;
    this.value = wanted;
    const isSame = type === "range" ? Number(this.value) === Number(wanted) && wanted !== "" : this.value === wanted;
    if (!isSame) {
      this.value = old;
      return { kind: "malformed", problem: "not a value of a " + type + " field: " + formats[type] };
    }
    this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    this.dispatchEvent(new Event("change", { bubbles: true }));
    return { kind: "set" };
  }
  if (type === "number" && value.trim() !== "" && !/^[-+]?(\\d+\\.?\\d*|\\.\\d+)(e[-+]?\\d+)?$/i.test(value.trim()))
    return { kind: "malformed", problem: "not a number, as the field requires" };
  return { kind: "typed", isPassword: type === "password" };
}`;

export const focusFunction = `function () {
  this.focus();
  const active = this.getRootNode().activeElement;
  return active === this || this.contains(active) || (this.shadowRoot?.activeElement ?? null) !== null;
}`;

/** Whether a part of a date field has the value. */
export const showsFunction = `async function (text) {
  for (let count = 0; count < 2; count++) await new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  const shown = [this.textContent, this.ariaValueText, this.ariaValueNow].map((one) => (one ?? "").trim().toLowerCase());
  return text === "" || shown.some((one) => one === text.trim().toLowerCase() || (one !== "" && Number(one) === Number(text)));
}`;

export type CheckState =
  | { readonly kind: "none"; readonly isNative?: undefined }
  | { readonly kind: "radio" | "box"; readonly checked: boolean | "mixed"; readonly isNative?: boolean };

/** By attributes; for other elements than native fields, assistive technology gets what counts. */
export const checkStateFunction = `function () {
  if (!this.isConnected) return undefined;
  if (this.localName === "input" && /^(checkbox|radio)$/.test(this.type))
    return { kind: this.type === "radio" ? "radio" : "box", checked: this.indeterminate ? "mixed" : this.checked, isNative: this.role === null };
  const role = this.getAttribute("role") ?? this.localName, stated = this.ariaChecked ?? this.ariaPressed ?? this.ariaSelected;
  if (!/^(checkbox|radio|switch|menuitemcheckbox|menuitemradio|treeitem|option)$/.test(role) && this.ariaPressed === null) return { kind: "none" };
  return { kind: /radio$/.test(role) ? "radio" : "box", checked: stated === "mixed" ? "mixed" : stated === "true" };
}`;

/**
 * What a person clicks for a control that the page hides or draws over: its label, or the part around it of about the
 * same size. A text field and a list have their own part before their label, which only sets the focus. For a part below
 * a transparent field of the same place and size, it is that field.
 */
export const standInFunction = `function () {${hitTest}
  const over = transparentOver(this);
  if (over) return over;
  const isToggle = (this.localName === "input" && /^(checkbox|radio|file)$/.test(this.type)) || /^(checkbox|radio|switch)$/.test(this.getAttribute("role") ?? "");
  const isField = /^(input|textarea|select)$/.test(this.localName) || /^(combobox|listbox|slider|spinbutton|textbox)$/.test(this.getAttribute("role") ?? "");
  if (!isToggle && !isField) return null;
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.getClientRects().length > 0;
  const label = [...(this.labels ?? [])].find(isShown) ?? null;
  if (isToggle && label) return label;
  const style = getComputedStyle(this), own = this.getBoundingClientRect();
  const isTiny = Math.min(own.width, own.height) < 6;
  const isUnseen = Number(style.opacity) < 0.05 || isTiny || style.clip.startsWith("rect") || style.clipPath.startsWith("inset");
  const isPassed = style.pointerEvents === "none";
  if (!isUnseen && !isPassed) return label;
  for (let at = this.parentElement, level = 0; at && level < 4; at = at.parentElement, level++) {
    const { width, height } = at.getBoundingClientRect();
    if (Math.min(width, height) < 6 || getComputedStyle(at).pointerEvents === "none") continue;
    const isAlike = isTiny || isPassed ? height <= 64 : width * height <= own.width * own.height * 2;
    if (isAlike && isShown(at)) return at;
    break;
  }
  return label;
  function transparentOver(element) {
    const box = element.getBoundingClientRect(), area = box.width * box.height;
    const cover = coverAt(element, box.left + box.width / 2, box.top + box.height / 2);
    if (!cover?.matches("input, select, textarea, button") || area === 0) return undefined;
    const { left, right, top, bottom, width, height } = cover.getBoundingClientRect();
    const shared = Math.max(0, Math.min(right, box.right) - Math.max(left, box.left)) * Math.max(0, Math.min(bottom, box.bottom) - Math.max(top, box.top));
    if (shared < area * 0.8 || width * height > area * 2) return undefined;
    const outer = new Set();
    for (let at = element, level = 0; at && level < 4; at = around(at), level++) outer.add(at);
    let opacity = 1;
    for (let at = cover, level = 0; at instanceof Element && level < 4; at = around(at), level++) {
      if (outer.has(at)) {
        const whole = at.getBoundingClientRect();
        return opacity < 0.05 && whole.width * whole.height <= area * 3 ? cover : undefined;
      }
      opacity *= Number(getComputedStyle(at).opacity);
    }
    return undefined;
  }
}`;

export interface Selected {
  readonly problem?: "unfit" | "single" | "missing" | "ambiguous" | "disabled" | "gone" | "inert";
  /** Place in the wished values. */
  readonly place?: number;
  readonly options?: readonly string[];
}

/** Argument: labels or values of the options. */
export const selectFunction = `async function (wanted) {${pageTasks}${takingFocus}
  if (this.localName !== "select") return { problem: "unfit" };
  // A page may fill or replace the list when it gets the focus.
  const focus = await takeFocus(this);
  if (focus !== "taken") return { problem: focus };
  if (!this.multiple && wanted.length > 1) return { problem: "single" };
  const squeeze = (text) => text.replace(/\\s+/g, " ").trim();
  const options = [...this.options];
  const chosen = [];
  for (const [place, wish] of wanted.entries()) {
    const byValue = options.filter((one) => one.value === wish);
    const byLabel = options.filter((one) => squeeze(one.label) === squeeze(wish));
    const byFold = options.filter((one) => squeeze(one.label).toLowerCase() === squeeze(wish).toLowerCase());
    const matching = [byValue, byLabel, byFold].find((some) => some.length > 0) ?? [];
    const usable = matching.filter((one) => !one.disabled && !one.closest("optgroup")?.disabled);
    const named = usable.length > 0 ? usable : matching;
    const [found] = named;
    if (new Set(named.map((one) => one.value)).size > 1)
      return { problem: "ambiguous", place, options: named.slice(0, 20).map((one) => {
        const group = one.closest("optgroup")?.label;
        return one.value.slice(0, 100) + (group ? " (" + squeeze(group).slice(0, 100) + ")" : "");
      }) };
    if (!found) return { problem: "missing", place, options: options.slice(0, 20).map((one) => squeeze(one.label).slice(0, 100)) };
    if (found.disabled || found.closest("optgroup")?.disabled) return { problem: "disabled", place };
    chosen.push(found);
  }
  if (this.multiple) for (const one of options) one.selected = chosen.includes(one);
  else this.selectedIndex = chosen[0].index;
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return {};
}`;
