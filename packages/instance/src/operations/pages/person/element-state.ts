import { secretFieldHelpers } from "../../../secrets/secret-field.ts";
import { maxRecordedText } from "../../../protocol/flow.ts";

/** What a person can do with an element. `other`: the field that has the focus may be inside, where no script can see it. */
export type ElementKind = "text" | "list" | "toggle" | "control" | "page" | "other";

export interface ElementState {
  readonly kind: ElementKind;
  /** Whether Enter adds a line. */
  readonly isMultiline: boolean;
  /** Whether arrow keys choose from a list next to the field. */
  readonly isChooser: boolean;
  /** Whether its value must not be remembered: then it is not read. */
  readonly isHidden: boolean;
  readonly isRadio: boolean;
  readonly checked: boolean;
  readonly value: string;
  /** Labels of the chosen options of a list. */
  readonly chosen: readonly string[];
}

/** Returns the {@link ElementState}. A code has often one field for each character. */
export const stateFunction = `function () {${secretFieldHelpers}
  noteSecrets();
  const tag = this.localName, type = tag === "input" ? this.type : "", role = this.getAttribute("role") ?? "";
  const isText = tag === "textarea" || this.isContentEditable || (tag === "input" && !/^(button|submit|reset|image|file|hidden|checkbox|radio)$/.test(type));
  const isToggle = /^(checkbox|radio)$/.test(type) || /^(checkbox|radio|switch)$/.test(role);
  const kind = tag === "select" ? "list" : isToggle ? "toggle" : isText ? "text" : this === document.body || this === document.documentElement ? "page"
    : /^(a|button|summary|input|area)$/.test(tag) ? "control" : "other";
  const isHidden = isText && (isSecret(this) || this.maxLength === 1);
  return {
    kind, isHidden,
    isMultiline: tag === "textarea" || this.isContentEditable,
    isChooser: role === "combobox" || ["list", "aria-autocomplete", "aria-haspopup"].some((name) => this.hasAttribute(name)),
    isRadio: type === "radio" || role === "radio",
    checked: /^(checkbox|radio)$/.test(type) ? this.checked : this.ariaChecked === "true",
    value: kind !== "text" || isHidden ? "" : (this.isContentEditable ? this.innerText : this.value).slice(0, ${String(maxRecordedText + 1)}),
    chosen: kind === "list" ? [...this.selectedOptions].slice(0, 21).map((one) => one.label.replace(/\\s+/g, " ").trim().slice(0, 1000)) : [],
  };
}`;
