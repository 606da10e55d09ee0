import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import type { Verdict } from "./client-messages.ts";

/** What the guard says of a message: {@link Verdict}, an answer in the browser's place, or an answer after which the client is let go. */
export type GuardVerdict = Verdict | { readonly answer: string } | { readonly answerAndClose: string };

/** Looks at every small message of a CDP client. */
export type CdpGuard = (message: Buffer) => GuardVerdict;

/** Commands that name files, and the parameter that does. */
const pathParameters: Readonly<Record<string, string>> = {
  "Browser.setDownloadBehavior": "downloadPath",
  "Page.setDownloadBehavior": "downloadPath",
  "DOM.setFileInputFiles": "files",
  "Extensions.loadUnpacked": "path",
};

interface Command {
  readonly id?: unknown;
  readonly sessionId?: unknown;
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * Keeps a client from ending the browser under everybody else, and, where the API's root is a directory, from naming files by their
 * real paths.
 *
 * @param root - what API paths start from; `/` changes none.
 */
export function createCdpGuard(root: string): CdpGuard {
  const mapped = root === "/" ? [] : Object.keys(pathParameters);
  const methods = ["Browser.close", ...mapped].map((method) => Buffer.from(method));
  return (message) => {
    // A search of bytes spares the parser: nearly no message is of interest.
    if (!methods.some((method) => message.includes(method))) return "pass";
    const command = parseCommand(message);
    if (command === undefined || typeof command.method !== "string") return "pass";
    if (command.method === "Browser.close") return { answerAndClose: answer(command, { result: {} }) };
    const parameter = root === "/" ? undefined : pathParameters[command.method];
    if (parameter === undefined) return "pass";
    return mapPaths(command, parameter, root);
  };
}

function parseCommand(message: Buffer): Command | undefined {
  try {
    const value: unknown = JSON.parse(message.toString());
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Not JSON: the browser's to complain about.
    return undefined;
  }
}

function answer(
  command: Command,
  body: { readonly result: object } | { readonly error: { readonly code: number; readonly message: string } },
): string {
  return JSON.stringify({ id: command.id, ...body, ...(command.sessionId !== undefined && { sessionId: command.sessionId }) });
}

function mapPaths(command: Command, parameter: string, root: string): GuardVerdict {
  const value = command.params?.[parameter];
  if (value === undefined) return "pass";
  const paths: readonly unknown[] = Array.isArray(value) ? value : [value];
  const mapped: string[] = [];
  for (const path of paths) {
    // Of another type: the browser says what it expects.
    if (typeof path !== "string") return "pass";
    const host = hostPath(root, path);
    if (host === undefined) {
      const message = `${parameter}: ${path} is not an absolute path within the session's files.`;
      return { answer: answer(command, { error: { code: -32602, message } }) };
    }
    mapped.push(host);
  }
  return { replace: JSON.stringify({ ...command, params: { ...command.params, [parameter]: Array.isArray(value) ? mapped : mapped[0] } }) };
}

/** Where an API path lies on this system; `undefined` when it is relative, or leaves the root by `..` or by a symbolic link. */
function hostPath(root: string, path: string): string | undefined {
  if (!path.startsWith("/") || path.includes("\0")) return undefined;
  const realRoot = realpathSync(root);
  const real = realPathOf(join(realRoot, path));
  return real === realRoot || real.startsWith(realRoot + sep) ? real : undefined;
}

/** Resolves links in the part of a path that exists. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
