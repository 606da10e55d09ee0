import { ServiceError } from "@shoal/router";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import pTimeout from "p-timeout";
import { unfitElement } from "../act-errors.ts";
import type { ActTools } from "../act-tools.ts";
import { ElementHandle } from "../../follow/element-handle.ts";
import { checkFiles, type FileSource, type GivenFiles, pathsNow, readFiles } from "./chosen-files.ts";
import { dropFiles, pasteFiles } from "./given-files.ts";
import { clickReady } from "./click.ts";
import { pickFileFieldFunction } from "../element/field-functions.ts";

/** Longest wait for the file dialog of a button, in milliseconds. */
const chooserMs = 2_000;

const fileFieldFunction = `function () {
  if (this.localName !== "input" || this.type !== "file") return null;
  return { multiple: this.multiple, folder: this.webkitdirectory, disabled: this.disabled };
}`;
const isEditableFunction = `function () {
  return this.isContentEditable || this.localName === "textarea" ||
    (this.localName === "input" && /^(text|search|url|email|tel)$/.test(this.type));
}`;

/** CDP cannot clear a field. */
const clearFunction = `function () {
  if (this.files.length === 0) return;
  this.value = "";
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
}`;

interface FileField {
  readonly multiple: boolean;
  readonly folder: boolean;
  readonly disabled: boolean;
}

/**
 * Chooses files of the session: in a file field, with a button that opens a file dialog, by a paste into a text field,
 * or by a drop on any other element.
 */
export async function upload(tools: ActTools, source: FileSource): Promise<ElementHandle> {
  const { act, actionable } = tools;
  const files = await readFiles(source, act.paths ?? []);
  const found = await actionable.finder.wait(act, "body");
  const field = (await found.related(pickFileFieldFunction)) ?? found;
  const fileField = await field.call<FileField | null>(fileFieldFunction);
  if (fileField === null || fileField === undefined) return uploadElsewhere(tools, field, { files, source });
  if (fileField.disabled)
    throw ServiceError.of(
      unfitElement(await tools.describe(field), "is disabled", "Complete the steps that enable it."),
    );
  await checkFiles(files, fileField, source);
  await setFiles(tools, field, { files, source });
  return field;
}

async function setFiles({ run }: ActTools, field: ElementHandle, given: GivenFiles): Promise<void> {
  const { backendNodeId, target } = field.address;
  const paths = await pathsNow(given);
  run.hasBegun = true;
  if (paths.length === 0) await field.call(clearFunction);
  else await run.ask(run.page.cdp.send("DOM.setFileInputFiles", { files: paths, backendNodeId }, target.sessionId));
}

async function uploadElsewhere(tools: ActTools, element: ElementHandle, given: GivenFiles): Promise<ElementHandle> {
  const { files, source } = given;
  const plain = { multiple: true, folder: false };
  if ((await element.call<boolean>(isEditableFunction)) === true) {
    await checkFiles(files, plain, source);
    if ((await pasteFiles(tools, element, given)) || (await dropFiles(tools, element, given))) return element;
    throw ServiceError.of(
      unfitElement(await tools.describe(element), "takes neither pasted nor dropped files", "Use a file field."),
    );
  }
  const opened = await openDialog(tools);
  if (opened !== undefined) {
    await checkFiles(files, opened.kind, source);
    await setFiles(tools, opened.field, given);
    return element;
  }
  await checkFiles(files, plain, source);
  if (await dropFiles(tools, element, given)) return element;
  throw ServiceError.of(
    unfitElement(
      await tools.describe(element),
      "is not a file field, opened no file dialog and takes no dropped files",
      "Use a file field.",
    ),
  );
}

interface OpenedDialog {
  readonly field: ElementHandle;
  readonly kind: Pick<FileField, "multiple" | "folder">;
}

/** Clicks the element. Returns the field of the file dialog that it opens. */
async function openDialog(tools: ActTools): Promise<OpenedDialog | undefined> {
  const { run } = tools;
  const { cdp, session } = run.page;
  const chooser = Promise.withResolvers<Protocol.Page.FileChooserOpenedEvent & { readonly sessionId: string }>();
  const stop = cdp.on("Page.fileChooserOpened", (event, sessionId) => {
    if (run.page.hasTarget(sessionId) && sessionId !== undefined) chooser.resolve({ ...event, sessionId });
  });
  const sessions = run.page.targets.map(({ sessionId }) => sessionId);
  const intercept = (enabled: boolean) =>
    Promise.all(
      sessions.map((sessionId) =>
        cdp.send("Page.setInterceptFileChooserDialog", { enabled }, sessionId).catch(() => undefined),
      ),
    );
  try {
    await run.ask(intercept(true));
    await clickReady(tools);
    const opened = await pTimeout(Promise.race([chooser.promise, session.end]), {
      milliseconds: chooserMs,
      message: false,
    });
    if (opened?.backendNodeId === undefined) return undefined;
    const { backendNodeId, frameId, sessionId } = opened;
    const target = run.page.targets.find((one) => one.sessionId === sessionId);
    if (target === undefined) return undefined;
    const field = await ElementHandle.at(run, { backendNodeId, frameId, loaderId: "", target });
    const kind = await field?.call<FileField | null>(fileFieldFunction);
    // A picker of the page's scripts has no field.
    return field === undefined || kind === null || kind === undefined ? undefined : { field, kind };
  } finally {
    stop();
    void intercept(false);
  }
}
