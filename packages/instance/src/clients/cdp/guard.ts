import { messageOf } from "@shoal/primitives";
import { existsSync } from "node:fs";
import type { ClientDownloads } from "../../browser/downloads/client-downloads.ts";
import type { Verdict } from "./client-messages.ts";
import type { ClosingPages } from "./closing-pages.ts";
import { type OpenContextProxy, readContextProxy } from "../../egress/context-proxy.ts";
import { hostPath } from "../../system/host-path.ts";
import { missingFile, shownPath } from "../../system/missing-file.ts";

/** A {@link Verdict}, an answer instead of the browser's, an answer followed by a close, or one of these later. */
export type GuardVerdict =
  | Verdict
  | { readonly answer: string }
  | { readonly answerAndClose: string }
  /** The verdict needs an asynchronous step; other messages need not wait. */
  | { readonly later: Promise<{ readonly replace: string } | { readonly answer: string }> };

export type CdpGuard = (message: Buffer) => GuardVerdict;

const pageDownloads = "Page.setDownloadBehavior";
const downloadCommands = ["Browser.setDownloadBehavior", pageDownloads];
const loadExtension = "Extensions.loadUnpacked";
const dragFiles = "Input.dispatchDragEvent";
const setFiles = "DOM.setFileInputFiles";
/** Other commands with paths of files. */
const pathCommands = [setFiles, dragFiles, loadExtension];

const createContext = "Target.createBrowserContext";
const createTarget = "Target.createTarget";
const closeTarget = "Target.closeTarget";
const disposeContext = "Target.disposeBrowserContext";
/** Lets a page send every command, past this guard and the pause of a handoff. */
const exposeProtocol = "Target.exposeDevToolsProtocol";
/** JSON may escape any letter of a method: `Browser.clos\u0065`. */
const escape = Buffer.from("\\u00");
/** Chromium reads `\v` and raw control characters in JSON, which `JSON.parse` refuses. */
const leniency = /[^ -\xff]|\\v/;
const invalid = JSON.stringify({ error: { code: -32_700, message: "Invalid JSON." } });

const unguarded = {
  code: -32_000,
  message: `${exposeProtocol} is refused: the page could send commands that the session does not check. Connect to cdp_ws_url instead.`,
};

interface Command {
  readonly id?: unknown;
  readonly sessionId?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * A client must not end the browser for others, or download outside the session's files. API paths become host paths.
 * @param root - folder that API paths start from; `/` maps nothing.
 * @param openContextProxy - for browser contexts with a proxy: the browser reaches only the egress gateway.
 * @param closing - the pages that the client closes, and a note of contexts that end with it.
 */
export function createCdpGuard(
  root: string,
  downloads: ClientDownloads,
  openContextProxy?: OpenContextProxy,
  closing?: Pick<ClosingPages, "before" | "noteContext">,
): CdpGuard {
  const closings = [closeTarget, disposeContext];
  const ownMethods = ["Browser.close", createContext, createTarget, exposeProtocol];
  const methods = [...ownMethods, ...closings, ...downloadCommands, ...pathCommands];
  const signs = [...methods.map((method) => Buffer.from(method)), escape];
  return (message) => {
    // A byte search avoids parsing: almost no message is relevant.
    if (!signs.some((sign) => message.includes(sign)) && !leniency.test(message.toString("latin1"))) return "pass";
    const command = parseCommand(message);
    if (command === undefined) return { answer: invalid };
    if (typeof command.method !== "string" || !methods.includes(command.method)) return "pass";
    const text = textOf(command);
    if (text === undefined) return { answer: invalid };
    const verdict = verdictOf(command, text);
    // Written again, because Chromium might read a message differently, for example with two fields of a name.
    return verdict === "pass" && !message.equals(Buffer.from(text)) ? { replace: text } : verdict;
  };

  function verdictOf(command: Command, text: string): GuardVerdict {
    const { method = "" } = command;
    if (method === "Browser.close") return { answerAndClose: answer(command, { result: {} }) };
    if (method === exposeProtocol) return { answer: answer(command, { error: unguarded }) };
    if (downloadCommands.includes(method)) return changeDownloads(command, downloads);
    if (method === createTarget) return openPage(text, command, downloads);
    if (closings.includes(method)) return closePages(text, command, closing);
    if (method === createContext) closing?.noteContext();
    if (method === createContext && openContextProxy !== undefined) return throughGateway(command, openContextProxy);
    return pathCommands.includes(method) ? withPathsOfSession(command, root) : "pass";
  }
}

function throughGateway(command: Command, openContextProxy: OpenContextProxy): GuardVerdict {
  const { proxyServer, proxyBypassList, ...rest } = command.params ?? {};
  if (proxyServer === undefined && proxyBypassList === undefined) return "pass";
  const proxy = readContextProxy(proxyServer, proxyBypassList);
  if (proxy === undefined) return { replace: JSON.stringify({ ...command, params: rest }) };
  const refusal = (message: string) => ({ answer: answer(command, { error: { code: -32602, message } }) });
  if ("problem" in proxy) return refusal(proxy.problem);
  const opened = openContextProxy(proxy).then(
    (port) => {
      const params = { ...rest, proxyServer: `http://127.0.0.1:${String(port)}`, proxyBypassList: "<-loopback>" };
      return { replace: JSON.stringify({ ...command, params }) };
    },
    (error: unknown) => refusal(messageOf(error)),
  );
  return { later: opened };
}

/** Returns `undefined` for messages that Chromium could read differently. */
function parseCommand(message: Buffer): Command | undefined {
  try {
    const value: unknown = JSON.parse(message.toString());
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return undefined;
  }
}

/** Returns `undefined` if it is nested too deeply, which Chromium refuses too. */
function textOf(command: Command): string | undefined {
  try {
    return JSON.stringify(command);
  } catch {
    return undefined;
  }
}

function answer(
  command: Command,
  body: { readonly result: object } | { readonly error: { readonly code: number; readonly message: string } },
): string {
  return JSON.stringify({
    id: command.id,
    ...body,
    ...(command.sessionId !== undefined && { sessionId: command.sessionId }),
  });
}

function changeDownloads(command: Command, downloads: ClientDownloads): GuardVerdict {
  const { params = {} } = command;
  const changed = downloads.change(params, command.method === pageDownloads);
  if (typeof changed === "string") return { answer: answer(command, { error: { code: -32602, message: changed } }) };
  const { settled } = downloads;
  if (settled === undefined)
    return changed === params ? "pass" : { replace: JSON.stringify({ ...command, params: changed }) };
  return { later: settled.then(() => ({ replace: JSON.stringify({ ...command, params: changed }) })) };
}

/** The page may start a download before the instance has heard of its browser context. */
function openPage(text: string, { params }: Command, downloads: ClientDownloads): GuardVerdict {
  const contextId = params?.browserContextId;
  const prepared = typeof contextId === "string" && contextId !== "" ? downloads.prepare(contextId) : undefined;
  return prepared === undefined ? "pass" : { later: prepared.then(() => ({ replace: text })) };
}

function closePages(
  text: string,
  { method, params }: Command,
  closing: Pick<ClosingPages, "before"> | undefined,
): GuardVerdict {
  const id = params?.[method === closeTarget ? "targetId" : "browserContextId"];
  if (typeof id !== "string") return "pass";
  const ready = closing?.before(method === closeTarget ? { targetId: id } : { contextId: id });
  return ready === undefined ? "pass" : { later: ready.then(() => ({ replace: text })) };
}

/** Clients name files of the machine that they run on: Chromium would take an empty file, or never answer. */
function withPathsOfSession(command: Command, root: string): GuardVerdict {
  const { params } = command;
  const value = command.method === dragFiles ? filesOfDrag(params?.data) : params?.[pathParameter(command)];
  if (value === undefined) return "pass";
  const paths: readonly unknown[] = Array.isArray(value) ? value : [value];
  const mapped: string[] = [];
  for (const path of paths) {
    // Invalid type: the browser reports it.
    if (typeof path !== "string") return "pass";
    const host = hostPath(root, path);
    if (host === undefined || !existsSync(host)) return { answer: answer(command, missingPath(command, path)) };
    mapped.push(host);
  }
  if (root === "/") return "pass";
  const given = Array.isArray(value) ? mapped : mapped[0];
  const changed =
    command.method === dragFiles
      ? { ...params, data: { ...(params?.data as object), files: given } }
      : { ...params, [pathParameter(command)]: given };
  return { replace: JSON.stringify({ ...command, params: changed }) };
}

function pathParameter({ method }: Command): string {
  return method === loadExtension ? "path" : "files";
}

function filesOfDrag(data: unknown): unknown {
  return typeof data === "object" && data !== null && "files" in data ? data.files : undefined;
}

function missingPath(
  command: Command,
  path: string,
): { readonly error: { readonly code: number; readonly message: string } } {
  if (command.method !== loadExtension) return { error: { code: -32602, message: missingFile(path) } };
  const message = `path: ${shownPath(path)} does not exist in the session. Upload the folder there with fs.uploadZip, or load its archive with browsers.loadExtensions, which needs no path.`;
  return { error: { code: -32602, message } };
}
