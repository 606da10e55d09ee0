import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";

/** Addresses of a browser that name no session: a connection creates it. `/json/*` describes them. */
const sockets = /^\/(?:cdp|chrome|chromium|devtools\/browser)?$/;
const documents = /^\/json(?:\/[\w/-]{0,200})?$/;
const keyNames: ReadonlySet<string> = new Set(["token", "apiKey", "api_key", "key"]);

type Head = Pick<IncomingMessage, "headers" | "url">;

const problems = new WeakMap<Head, ServiceError>();

/** @param path - of the operation, with or without its query. */
export function isConnectAddress(path: string): boolean {
  return sockets.test(path.split("?", 1)[0] ?? "");
}

/**
 * Moves the key of a connection address, and the name of its project, into headers, so that logs, errors and other
 * servers never see it. Other addresses stay as they are.
 * @param path - of the operation.
 */
export function takeKey(request: Head, path: string): void {
  const [name = ""] = path.split("?", 1);
  if (!sockets.test(name) && !documents.test(name)) return;
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
        else if (setting === "project") request.headers["x-shoal-project"] = value;
        else return true;
        return false;
      });
    request.url = url.slice(0, question) + (kept.length === 0 ? "" : `?${kept.join("&")}`);
  }
  const { authorization, "x-api-key": other } = request.headers;
  if (typeof other === "string") keys.add(other);
  if (authorization !== undefined) keys.add(keyIn(authorization));
  keys.delete("");
  if (keys.size > 1)
    problems.set(
      request,
      new ServiceError(400, "bad_request", "The address and the headers have two keys that differ.", {
        hint: "Send one key: ?token=KEY, or Authorization: Bearer KEY.",
      }),
    );
  const [key] = keys;
  if (key !== undefined && isHeaderText(key)) request.headers.authorization = `Bearer ${key}`;
}

/** @throws {ServiceError} 400 if {@link takeKey} found two keys. */
export function refuseTwoKeys(request: Head): void {
  const problem = problems.get(request);
  if (problem !== undefined) throw problem;
}

/** Of Basic, the password; without one, the user name. */
function keyIn(authorization: string): string {
  const [, scheme = "", credentials = ""] = /^(\w+) +(.*)$/s.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== "basic") return credentials.trim();
  const [user = "", ...password] = Buffer.from(credentials, "base64").toString().split(":");
  return password.join(":") === "" ? user : password.join(":");
}

const isHeaderText = (text: string): boolean => /^[\x21-\x7E]{1,4096}$/.test(text);
