import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";

/** Addresses of a browser that name no session: a connection creates it. `/json/*` describes them. */
const sockets = /^\/(?:cdp|chrome|chromium|devtools\/browser|browserless(?:\/(?:chromium|chrome)?)?|steel\/?)?$/;
/** Of Playwright's own protocol. Clients that ask for the address first add a slash. */
const playwrightSockets = /^\/(?:chromium\/playwright|playwright(?:\/[a-z]{1,20}(?:\/[\w.-]{1,40})?)?)\/?$/;
const documents = /^\/json(?:\/[\w/-]{0,200})?$/;
const playwrightDocuments =
  /^(?:\/browsers\/[^/]{1,200})?\/(?:playwright|chromium\/playwright)(?:\/[\w.-]{1,40}){0,2}\/json\/?$/;
/** Clients of paths that begin so send their key in the query of every request. */
const keyedByQuery = "/browserless/";
/** Paths of WebDriver: clients can write the key into the address, as Basic, or into its query. */
const ofWebDriver = /^(?:(?:\/wd\/hub)?\/(?:session|status)|\/browsers\/[^/]{1,255}\/wd)(?:\/|$)/;
const keyNames: ReadonlySet<string> = new Set(["token", "apiKey", "api_key", "key"]);

type Head = Pick<IncomingMessage, "headers" | "url">;

const problems = new WeakMap<Head, ServiceError>();

/** @param path - of the operation, with or without its query. */
export function isConnectAddress(path: string): boolean {
  const [name = ""] = path.split("?", 1);
  return sockets.test(name) || isPlaywrightAddress(name);
}

/** @param path - of the operation, without its query. */
export function isPlaywrightAddress(path: string): boolean {
  return playwrightSockets.test(path) && !playwrightDocuments.test(path);
}

/** Where clients ask for the path of the socket. @param path - of the operation, without its query. */
export function isPlaywrightDocument(path: string): boolean {
  return playwrightDocuments.test(path);
}

/**
 * Moves the key of a connection address, and the name of its project, into headers, so that logs, errors and other
 * servers never see it. Other addresses stay as they are.
 * @param path - of the operation.
 */
export function takeKey(request: Head, path: string): void {
  const [name = ""] = path.split("?", 1);
  const isKeyed =
    documents.test(name) || isPlaywrightDocument(name) || ofWebDriver.test(name) || name.startsWith(keyedByQuery);
  if (!isConnectAddress(name) && !isKeyed) return;
  const keys = new Set<string>();
  const { url = "/" } = request;
  const question = url.indexOf("?");
  if (question !== -1) {
    const kept = url
      .slice(question + 1)
      .split("&")
      .filter((part) => {
        const [[setting, value] = ["", ""]] = new URLSearchParams(part);
        if (keyNames.has(setting)) keys.add(value);
        else if (setting === "project" || setting === "projectId") request.headers["x-shoal-project"] = value;
        else return true;
        return false;
      });
    request.url = url.slice(0, question) + (kept.length === 0 ? "" : `?${kept.join("&")}`);
  }
  const { authorization, "x-api-key": other } = request.headers;
  if (typeof other === "string") keys.add(other);
  if (authorization !== undefined) keys.add(keyIn(authorization));
  keys.delete("");
  if (keys.size > 1) noteTwoKeys(request);
  const [key] = keys;
  if (key !== undefined && isHeaderText(key)) request.headers.authorization = `Bearer ${key}`;
}

/** For {@link refuseTwoKeys}: errors are answered later. */
export function noteTwoKeys(request: Head): void {
  problems.set(
    request,
    new ServiceError(400, "bad_request", "The request has two keys that differ.", {
      hint: "Send one key: ?token=KEY, or Authorization: Bearer KEY.",
    }),
  );
}

/** @throws {ServiceError} 400 if the request has two keys. */
export function refuseTwoKeys(request: Head): void {
  const problem = problems.get(request);
  if (problem !== undefined) throw problem;
}

/** Of Basic, the password; without one, the user name. */
function keyIn(authorization: string): string {
  const [, scheme = "", credentials = ""] = /^(\w+) (.*)$/s.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== "basic") return credentials.trim();
  const [user = "", ...password] = Buffer.from(credentials, "base64").toString().split(":");
  return password.join(":") === "" ? user : password.join(":");
}

const isHeaderText = (text: string): boolean => /^[\x21-\x7E]{1,4096}$/.test(text);
