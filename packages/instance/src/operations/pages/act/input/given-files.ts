import { FrameShield } from "../../node-input/frame-shield.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import { type GivenFiles, pathsNow } from "./chosen-files.ts";

/** Longest wait for a page's answer to a drag, in milliseconds. */
const dragMs = 2_000;

/** A field outside of the document, which reads files of the browser's machine for the isolated world. */
const makeFieldFunction = `function () {
  const field = document.createElement("input");
  field.type = "file";
  field.multiple = true;
  globalThis.shoalFiles = field;
  return field;
}`;

/** Returns whether the page has taken the files. */
const pasteFunction = `function () {
  const { files } = globalThis.shoalFiles;
  globalThis.shoalFiles = undefined;
  const clipboardData = new DataTransfer();
  for (const file of files) clipboardData.items.add(file);
  this.focus();
  return !this.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }));
}`;

/** Notes the last drag over the document. Where the page does not accept it, a drop would open the file instead. */
const watchDragFunction = `function () {
  globalThis.shoalDrag = undefined;
  const note = (event) => { globalThis.shoalDrag = event; };
  addEventListener("dragover", note, { capture: true });
  setTimeout(() => removeEventListener("dragover", note, { capture: true }), 5000);
}`;
const isAcceptedFunction = `function () { return globalThis.shoalDrag?.defaultPrevented === true; }`;

/** Pastes files into an element. Returns false if the page does not take them. */
export async function pasteFiles({ run }: ActTools, element: ElementHandle, given: GivenFiles): Promise<boolean> {
  const field = await element.related(makeFieldFunction);
  if (field === undefined) return false;
  const { backendNodeId, target } = field.address;
  const paths = await pathsNow(given);
  run.hasBegun = true;
  await run.ask(run.page.cdp.send("DOM.setFileInputFiles", { files: paths, backendNodeId }, target.sessionId));
  return (await element.call<boolean>(pasteFunction)) === true;
}

/** Drops files on an element. Returns false if the page does not accept them there. */
export async function dropFiles(
  { actionable, run }: ActTools,
  element: ElementHandle,
  given: GivenFiles,
): Promise<boolean> {
  const { cdp, session } = run.page;
  const shield = await FrameShield.raise(run.page, element);
  try {
    const place = await actionable.examine(element, { hit: true });
    if (place.problem !== undefined) return false;
    await element.call(watchDragFunction);
    const data = { items: [], files: await pathsNow(given), dragOperationsMask: 1 };
    const { x, y } = place;
    run.hasBegun = true;
    const send = (type: "dragEnter" | "dragOver" | "drop" | "dragCancel") =>
      session.outcome(cdp.send("Input.dispatchDragEvent", { type, x, y, data }, session.sessionId), dragMs);
    for (const type of ["dragEnter", "dragOver", "dragOver"] as const) await send(type);
    const isAccepted = (await element.call<boolean>(isAcceptedFunction)) === true;
    try {
      // The page reads the files only after the drop.
      if (isAccepted) await pathsNow(given);
    } catch (error) {
      await send("dragCancel");
      throw error;
    }
    await send(isAccepted ? "drop" : "dragCancel");
    return isAccepted;
  } finally {
    void shield.lower();
  }
}
