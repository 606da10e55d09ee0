import { pageTasks } from "./page-tasks.ts";
import { takingFocus } from "./take-focus.ts";

/**
 * `held`: the field has the value, perhaps in the page's format; `gone`: the page replaced the field; `inert`: it cannot
 * have the focus; `short`: it does not take the whole value.
 */
export type Written = "held" | "refused" | "gone" | "inert" | "short";

/** Parts of the function below, as text: a bundler may change functions. */
const observing = `
  const isField = this.localName === "input" || this.localName === "textarea";
  const frame = () => new Promise((done) => { requestAnimationFrame(() => done()); setTimeout(done, 100); });
  const begun = state.countStarted();
  /** A page decides about a value in its tasks; in a frame only if it has started something. */
  const decided = () => state.untilIdle(begun);
  const lines = (value) => value.replace(/\\r\\n?/g, "\\n");
  const squeezed = (value) => lines(value).replace(/[\\u200b\\ufeff]/g, "").replace(/\\u00a0/g, " ").replace(/[ \\t]*\\n\\s*/g, "\\n").trim();
  const characters = (value) => value.replace(/[^\\p{L}\\p{N}]/gu, "").toLowerCase();
  const wanted = lines(text);
  /** The part of the element that its ancestors do not clip. */
  const shownSize = () => {
    let { left, right, top, bottom } = this.getBoundingClientRect();
    for (let at = this.parentElement; at; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const box = at.getBoundingClientRect();
      [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return { width: right - left, height: bottom - top };
  };
  /** An editor with a model often takes keys and pastes in a tiny field that never contains the text. */
  const isProxy = () => {
    if (this.editContext) return true;
    if (this.localName !== "textarea") return false;
    const { width, height } = shownSize();
    return Math.min(width, height) <= 4 || (Number(getComputedStyle(this).opacity) < 0.05 && width < 60 && height < 60);
  };
`;

const sending = `
  const send = (event) => !this.dispatchEvent(event);
  const pressed = (key, keyCode, init = {}) => {
    const options = { key, code: key.length === 1 ? "Key" + key.toUpperCase() : key, keyCode, which: keyCode, bubbles: true, cancelable: true, composed: true, ...init };
    const isHandled = send(new KeyboardEvent("keydown", options));
    send(new KeyboardEvent("keyup", options));
    return isHandled;
  };
  const clipboard = (type, data) =>
    send(new ClipboardEvent(type, { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
  const paste = (value) => {
    const data = new DataTransfer();
    data.setData("text/plain", value);
    return clipboard("paste", data);
  };
  const announce = (inputType, data) =>
    send(new InputEvent("beforeinput", { inputType, data, bubbles: true, cancelable: true, composed: true }));
  const isFocused = () => {
    const active = this.getRootNode().activeElement;
    return active === this || (!isField && active !== null && this.contains(active));
  };
  const selectAll = () => {
    if (isField) return this.select();
    const range = document.createRange();
    range.selectNodeContents(this);
    const selection = this.getRootNode().getSelection?.() ?? getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };
  const fields = /^(input|textarea|select|iframe|frame|object|embed)$/;
  /** Whether an edit of this document's selection changes this node: a handler of the page may have moved the focus. */
  const isSelected = () => {
    if (isField || this.editContext) return isFocused();
    const root = this.getRootNode(), active = root.activeElement;
    if (active && active !== this && fields.test(active.localName)) return false;
    const { anchorNode, focusNode } = root.getSelection?.() ?? getSelection();
    return this.contains(anchorNode) && this.contains(focusNode);
  };
  const select = () => {
    if (!isSelected()) this.focus();
    selectAll();
    return isSelected();
  };
  /** Changes the text of this document's selection. The focus of other documents does not matter. */
  const edit = (value) =>
    isSelected() && (value === "" ? document.execCommand("delete") : document.execCommand("insertText", false, value));
`;

/** A field that contains its text. */
const fieldSteps = `
  const holds = () => {
    const limit = this.maxLength >= 0 ? this.maxLength : Infinity;
    const value = this.value;
    if (wanted === "" || value === "") return value === wanted;
    return value === wanted || value === wanted.replace(/\\n/g, "") || value === wanted.slice(0, limit) || characters(value) === characters(wanted);
  };
  /** As on-screen keyboards do for a text: pages may listen to keys alone. */
  const key = (type) =>
    send(new KeyboardEvent(type, { key: "Unidentified", keyCode: 229, which: 229, bubbles: true, cancelable: true, composed: true }));
  const typeWhole = () => {
    const before = this.value;
    key("keydown");
    insertWhole(before);
    if (this.isConnected) key("keyup");
  };
  const insertWhole = (before) => {
    selectAll();
    const isHandled = announce(wanted === "" ? "deleteContentBackward" : "insertText", wanted === "" ? null : wanted);
    if (isHandled || !this.isConnected) return;
    // A handler may have moved the focus.
    if (!select()) return;
    edit(wanted);
    if (this.value === before && this.value !== wanted && !isFocused()) document.execCommand("undo");
  };
  /** For masks and filters, which look at each character. */
  const typeCharacters = () => {
    if (!select()) return;
    edit("");
    for (const character of wanted) {
      if (!isFocused()) return;
      const keyCode = character.toUpperCase().charCodeAt(0);
      const options = { key: character, keyCode, which: keyCode, bubbles: true, cancelable: true, composed: true };
      const isHandled = send(new KeyboardEvent("keydown", options)) ||
        send(new KeyboardEvent("keypress", { ...options, charCode: character.charCodeAt(0) })) || announce("insertText", character);
      if (!isHandled && isFocused()) edit(character);
      send(new KeyboardEvent("keyup", options));
    }
  };
  const setDirectly = () => {
    this.value = this.maxLength >= 0 ? wanted.slice(0, this.maxLength) : wanted;
    send(new InputEvent("input", { inputType: "insertReplacementText", data: wanted, bubbles: true, composed: true }));
    send(new Event("change", { bubbles: true }));
  };
  const writeField = async () => {
    for (const write of [typeWhole, typeCharacters, setDirectly]) {
      const before = this.value;
      if (before === wanted && write !== typeWhole) return true;
      write();
      // Frameworks decide about the new value after the event.
      if (holds()) await decided();
      if (!this.isConnected) return true;
      if (holds()) return true;
      if (wanted !== "" && this.value === "" && showsElsewhere()) return true;
      // Another format is the page's decision.
      if (this.value !== before && this.value !== "") return true;
    }
    return false;
  };
  /** Fields that turn their text into something else, such as tags. */
  const showsElsewhere = () => {
    let at = this.parentElement;
    for (let level = 0; at && level < 5; level++, at = at.parentElement)
      if (characters(at.innerText ?? "").includes(characters(wanted)) && characters(wanted) !== "") return true;
    return false;
  };
`;

/** Fields of one character each, as for one-time codes. */
const codeSteps = `
  const codeFields = () => {
    const isCell = (one) => one.localName === "input" && one.maxLength === 1 && !one.disabled && !one.readOnly;
    if (!isField || !isCell(this) || [...wanted].length < 2) return undefined;
    for (let at = this.parentElement, level = 0; at && level < 6; at = at.parentElement, level++) {
      const cells = [...at.querySelectorAll("input")].filter(isCell);
      const rest = cells.slice(cells.indexOf(this));
      if (rest.length >= [...wanted].length) return rest.slice(0, [...wanted].length);
    }
    return undefined;
  };
  const writeCode = async (cells) => {
    const isComplete = () => cells.map((one) => one.value).join("") === wanted;
    paste(wanted);
    await frame();
    if (isComplete()) return true;
    for (const [place, character] of [...wanted].entries()) {
      const cell = cells[place];
      cell.focus();
      cell.select();
      if (cell.getRootNode().activeElement === cell) document.execCommand("insertText", false, character);
      if (cell.value === character) continue;
      cell.value = character;
      cell.dispatchEvent(new InputEvent("input", { inputType: "insertText", data: character, bubbles: true, composed: true }));
    }
    await frame();
    return isComplete();
  };
`;

/** Editors: the text goes to their model, as a paste, which they do not indent or complete. */
const editorSteps = `
  const shownText = () => {
    if (!isProxy()) return squeezed(this.innerText);
    let at = this.parentElement;
    while (at && at.parentElement && at.parentElement !== document.body && squeezed(at.innerText ?? "") === "") at = at.parentElement;
    return squeezed(at?.innerText ?? "");
  };
  const selectModel = async () => {
    if (!isProxy()) selectAll();
    else if (!pressed("a", 65, { ctrlKey: true })) this.select?.();
    // Editors learn of a selection by an event.
    await frame();
  };
  /** The page may have moved the focus meanwhile. No task of the page comes between this and the edit. */
  const keepSelection = () => {
    if (isSelected()) return;
    if (isProxy()) this.focus();
    else select();
  };
  /** The text that the editor would give to the clipboard, in the event or in its field; undefined if it has none. */
  const modelText = async () => {
    await selectModel();
    keepSelection();
    const data = new DataTransfer();
    // Without a listener, the text that is shown decides.
    const isModel = clipboard("copy", data) || isProxy();
    const copied = data.getData("text/plain");
    const ofField = isProxy() ? lines(this.value ?? "") : "";
    if (isProxy()) pressed("End", 35, { ctrlKey: true });
    else if (isSelected()) getSelection().collapseToEnd();
    return copied === "" ? (isModel && ofField.includes(wanted) ? wanted : undefined) : lines(copied);
  };
  const deleteAll = () => {
    if (pressed("Backspace", 8) || announce("deleteContentBackward", null)) return;
    edit("");
  };
  /** Line numbers and other marks may be between the lines. */
  const showsLines = (shown) => {
    let at = 0;
    for (const line of wanted.split("\\n").map(characters)) {
      const found = shown.indexOf(line, at);
      if (found === -1) return false;
      at = found + line.length;
    }
    return true;
  };
  const holdsModel = async () => {
    await frame();
    // The rendered text of a masked element is dots.
    if (getComputedStyle(this).webkitTextSecurity !== "none") return characters(this.textContent) === characters(wanted);
    const shown = shownText();
    if (!isProxy() && shown === squeezed(wanted)) return true;
    const copied = await modelText();
    if (copied !== undefined && isProxy()) return copied === wanted || copied === wanted + "\\n";
    if (copied !== undefined) return squeezed(copied) === squeezed(wanted);
    return isProxy() && (wanted === "" || showsLines(characters(shown)));
  };
  const insertLines = () => {
    if (isProxy()) return edit(wanted);
    for (const [place, line] of wanted.split("\\n").entries()) {
      if (place > 0 && isSelected()) document.execCommand("insertParagraph");
      if (line !== "") edit(line);
    }
  };
  const writeEditor = async () => {
    for (const write of [paste, insertLines]) {
      await selectModel();
      if (!this.isConnected) return undefined;
      keepSelection();
      if (wanted === "") deleteAll();
      else if (write === paste && !paste(wanted)) insertLines();
      else if (write === insertLines) insertLines();
      if (await holdsModel()) return true;
      if (!this.isConnected) return undefined;
    }
    return false;
  };
`;

/**
 * Replaces the text of a field or an editor, in an isolated world. The text goes to this node, or nowhere: nothing here
 * depends on which frame has the focus, as typed characters would. Arguments: the text, and whether it must fit as a
 * whole. Returns a {@link Written}.
 */
export const writeValueFunction = `async function (text, isWhole) {${pageTasks}${takingFocus}${observing}${sending}${fieldSteps}${codeSteps}${editorSteps}
  if (!isFocused()) {
    const focus = await takeFocus(this, true);
    // The focus may go to an editor around this part.
    if (focus === "gone" || (focus === "inert" && isField)) return focus;
    if (!isFocused()) this.focus();
  }
  // Timers that the focus started do not count.
  if (state.begun) state.begun.timers = state.countTimers();
  const cells = codeFields();
  if (isWhole && !cells && isField && this.maxLength >= 0 && wanted.length > this.maxLength) return "short";
  const isEditor = !isField || isProxy();
  try {
    const isHeld = cells ? await writeCode(cells) : isEditor ? await writeEditor() : await writeField();
    if (isHeld === undefined) return "gone";
    return isHeld ? "held" : "refused";
  } catch {
    // An editor may refuse a selection. Without an answer, the text would count as taken by a document that has gone.
    return "refused";
  }
}`;
