import { invalid, notAFile } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { stat } from "node:fs/promises";
import pTimeout from "p-timeout";
import { fileSystemError } from "../../../fs/errors.ts";
import { hostPath, normalisePath, type SessionRoot } from "../../../fs/paths.ts";
import { unfitElement } from "../act-errors.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../element/element-handle.ts";
import { pickFileFieldFunction } from "./field-functions.ts";

/** Longest wait for the file dialog of a button, in milliseconds. */
const chooserMs = 3_000;

const fileFieldFunction = `function () {
  if (this.localName !== "input" || this.type !== "file") return null;
  return { multiple: this.multiple || this.webkitdirectory, disabled: this.disabled };
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
  readonly disabled: boolean;
}

/** Chooses files of the session, in a file field or with a button that opens a file dialog. */
export async function upload(tools: ActTools, root: SessionRoot): Promise<ElementHandle> {
  const { act, actionable, run } = tools;
  const files = await readPaths(root, act.paths ?? []);
  const found = await actionable.finder.wait(act, "body");
  const field = (await found.related(pickFileFieldFunction)) ?? found;
  const fileField = await field.call<FileField | null>(fileFieldFunction);
  if (fileField === null || fileField === undefined) return uploadWithDialog(tools, files);
  if (fileField.disabled)
    throw ServiceError.of(
      unfitElement(await tools.describe(field), "is disabled", "Complete the steps that enable it."),
    );
  checkCount(files, fileField.multiple);
  run.hasBegun = true;
  const { backendNodeId, target } = field.address;
  if (files.length === 0) await field.call(clearFunction);
  else
    await run.ask(run.page.cdp.send("DOM.setFileInputFiles", { files: [...files], backendNodeId }, target.sessionId));
  return field;
}

/** @throws {ServiceError} 400, 403 or 404 for a path that is not a readable file of the session. */
async function readPaths(root: SessionRoot, paths: readonly string[]): Promise<readonly string[]> {
  const files: string[] = [];
  for (const [place, path] of paths.entries()) {
    const normal = normalisePath(path, `body.paths[${String(place)}]`);
    const file = await hostPath(root, normal, { follow: true, action: "upload" });
    const stats = await stat(file).catch((error: unknown) => {
      throw fileSystemError(error, "upload", normal);
    });
    if (!stats.isFile())
      throw ServiceError.of(notAFile("upload", normal, stats.isDirectory() ? "a directory" : "not a regular file"));
    files.push(file);
  }
  return files;
}

function checkCount(files: readonly string[], multiple: boolean): void {
  if (files.length > 1 && !multiple)
    throw ServiceError.of(invalid("body.paths", "the field takes one file", { limit: 1 }));
}

async function uploadWithDialog(tools: ActTools, files: readonly string[]): Promise<ElementHandle> {
  const { act, actionable, pointer, run } = tools;
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
    const button = await actionable.untilUsed(
      { target: act, field: "body", needs: { stable: true, enabled: true, hit: true } },
      async ({ point }) => {
        await pointer.move(point);
        await pointer.click(point);
        return true;
      },
    );
    const waitMs = Math.max(chooserMs, Math.min(run.leftMs, chooserMs));
    const opened = await pTimeout(Promise.race([chooser.promise, session.end]), {
      milliseconds: waitMs,
      message: false,
    });
    if (opened?.backendNodeId === undefined)
      throw ServiceError.of(
        unfitElement(
          await tools.describe(button),
          "is not a file field and opened no file dialog",
          "Use a file field.",
        ),
      );
    checkCount(files, opened.mode === "selectMultiple");
    const { backendNodeId, sessionId } = opened;
    await run.ask(cdp.send("DOM.setFileInputFiles", { files: [...files], backendNodeId }, sessionId));
    return button;
  } finally {
    stop();
    void intercept(false);
  }
}
